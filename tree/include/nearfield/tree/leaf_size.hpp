#pragma once

#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <functional>
#include <vector>

/// \file
/// The size of leaves by their cost: large leaves make the near field dear, small ones the far field.
///
///     auto const cost = nearfield::pair_cost_of<float>(nearfield::simd, nearfield::one_over_r<>{});
///     nearfield::leaf_costs const costs{.near_field = cost, .seconds_per_leaf = 3e-6};
///     auto const tree = nearfield::build_tree(x, {.max_leaf_size = nearfield::automatic, .costs = &costs});

namespace nearfield
{
  /// What leaves cost, in seconds of one worker (a core, a GPU).
  struct leaf_costs
  {
    /// The near field of a leaf of so many targets that meets so many sources, its own among them: a pair_cost
    /// (<nearfield/p2p/pair_cost.hpp>). None: each source costs as much as 7 pairs, about what it does on a core.
    std::function<double(double targets, double sources)> near_field = {};
    /// The far field of every leaf.
    double seconds_per_leaf = 0;
    /// What the far field of a leaf costs besides, by its level and its points (targets and sources).
    std::function<double(int level, index_type points)> far_field = {};

    /// Whether a far field is given.
    [[nodiscard]] bool has_far_field() const { return seconds_per_leaf != 0 || far_field; }

    /// The leaf size of least cost, and what led to it.
    struct choice
    {
      /// A size that was tried.
      struct candidate
      {
        int max_leaf_size = 0; ///< as tree_options::max_leaf_size
        double leaves = 0;     ///< their number
        /// directed ones of the near field, those of a point with itself among them
        double pairs = 0;
        double near_seconds = 0; ///< of the near field, on one worker
        double far_seconds = 0;  ///< of the far field

        [[nodiscard]] double seconds() const { return near_seconds + far_seconds; } ///< of both
        [[nodiscard]] double rate() const { return pairs / near_seconds; } ///< pairs per second
      };

      int max_leaf_size = 64;       ///< the one to take
      std::vector<candidate> tried; ///< in ascending order of sizes
    };
  };

  namespace detail
  {
    /// The choice among sizes whose costs try_size(size) gives, for n_points points.
    NEARFIELD_API leaf_costs::choice
    choose_leaf_size(leaf_costs const& costs, std::size_t n_points,
                     std::function<leaf_costs::choice::candidate(int)> const& try_size);
    /// What the leaves of a tree cost.
    template <int Dim>
    NEARFIELD_API leaf_costs::choice::candidate cost_of_leaves(leaf_costs const& costs,
                                                               tree<Dim> const& leaves);
    template <class T, int Dim>
    NEARFIELD_API leaf_costs::choice
    choose_leaf_size(executor* on, strided<T const, Dim> const& targets,
                     strided<T const, Dim> const* sources, tree_options<Dim> const& options);
    /// Builds trees on the device and reads them.
    template <class T, int Dim>
    leaf_costs::choice choose_leaf_size(cuda_backend where, device_positions<T, Dim> const& points,
                                        tree_options<Dim> options)
    {
      leaf_costs const costs = options.costs ? *options.costs : leaf_costs();
      options.level.reset();
      options.order.reset();
      return choose_leaf_size(costs, points.targets.size() + points.sources.size(),
                              [&](int size)
                              {
                                options.max_leaf_size = size;
                                return cost_of_leaves(
                                    costs, cuda_tree<Dim>(where, points, options).on_host());
                              });
    }
  }

  /// The max_leaf_size of least cost for an adaptive tree of these points.
  ///
  /// It tries 4, 6, 8, 11, 16 ... (powers of sqrt(2)) around the best one. The keys of the points are sorted once, and
  /// the lists of some 16000 leaves stand for all, so that a size costs less than a tree. With a far field the choice is
  /// the size of least total. Without one there is no such balance, since smaller leaves always mean fewer pairs: the
  /// choice is then the smallest size at which pairs are computed at 0.8 of the best rate of sizes up to 1024.
  /// `options.costs`, max_leaf_size, level and order are not looked at. `simd.with(threads)` chooses the same size.
  ///
  /// Throws what build_tree() throws, and nearfield::error for a cost that is negative or not finite, and for a far
  /// field without the near field's cost.
  template <detail::cpu_place Where, detail::tree_coordinates X>
  [[nodiscard]] leaf_costs::choice choose_leaf_size(Where const& where, X const& points,
                                                    leaf_costs const& costs,
                                                    tree_options<X::n_columns> options = {})
  {
    options.costs = &costs;
    return detail::choose_leaf_size<detail::value_of<X>, X::n_columns>(
        detail::threads_of(where), detail::positions_of(points), nullptr, options);
  }

  /// The same for a tree of two sets of points.
  template <detail::cpu_place Where, detail::tree_coordinates X, detail::tree_coordinates Y>
    requires std::same_as<detail::value_of<X>, detail::value_of<Y>> &&
             (X::n_columns == Y::n_columns)
  [[nodiscard]] leaf_costs::choice
      choose_leaf_size(Where const& where, X const& targets, Y const& sources,
                       leaf_costs const& costs, tree_options<X::n_columns> options = {})
  {
    options.costs = &costs;
    auto const of_sources = detail::positions_of(sources);
    return detail::choose_leaf_size<detail::value_of<X>, X::n_columns>(
        detail::threads_of(where), detail::positions_of(targets), &of_sources, options);
  }

  /// The same for points in device memory: builds a tree of each size there, and reads it.
  template <detail::tree_coordinates X>
  [[nodiscard]] leaf_costs::choice choose_leaf_size(cuda_backend where, X const& points,
                                                    leaf_costs const& costs,
                                                    tree_options<X::n_columns> options = {})
  {
    options.costs = &costs;
    return detail::choose_leaf_size(
        where, detail::device_positions<detail::value_of<X>, X::n_columns>{points, {}, true},
        options);
  }

  /// The same for two sets.
  template <detail::tree_coordinates X, detail::tree_coordinates Y>
    requires std::same_as<detail::value_of<X>, detail::value_of<Y>> &&
             (X::n_columns == Y::n_columns)
  [[nodiscard]] leaf_costs::choice
      choose_leaf_size(cuda_backend where, X const& targets, Y const& sources,
                       leaf_costs const& costs, tree_options<X::n_columns> options = {})
  {
    options.costs = &costs;
    return detail::choose_leaf_size(
        where, detail::device_positions<detail::value_of<X>, X::n_columns>{targets, sources, false},
        options);
  }
}
