#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include "collective.hpp"
#include "cuts.hpp"
#include "layer.hpp"

#include "images.hpp"
#include "keys.hpp"
#include "leaves.hpp"
#include "parallel.hpp"
#include "root.hpp"
#include "sort.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace nearfield::starpu_mpi
{
  namespace
  {
    using namespace nearfield::detail;
    using detail::by_rank;
    using detail::ranks;

    /// What is known of a tree before its points move.
    template <int Dim>
    struct shape
    {
      key_layout layout;
      index_type max_leaf_size; ///< 0: uniform
      cube<Dim> root;

      /// of the keys
      [[nodiscard]] std::uint64_t end() const { return std::uint64_t(1) << (Dim * layout.level); }
    };

    /// A point on its way.
    template <class T, int Dim>
    struct traveller
    {
      std::array<T, Dim> x;
      index_type index; ///< in the caller's columns
    };

    template <class T, int Dim>
    shape<Dim> agree_on_shape(ranks const& all, executor& on, strided<T const, Dim> const& points,
                              tree_options<Dim> const& options)
    {
      shape<Dim> made{};
      named_positions<T, Dim> const named{points, "points"};
      point_bounds<T, Dim> bounds;
      all.attempt(
          [&]
          {
            tree_options<Dim> along_the_curve = options;
            if (options.level && options.order == leaf_order::row_major)
              throw error("distributed_tree: order is row_major; ranks have ranges of the Z curve: "
                          "leave it out");
            along_the_curve.order = leaf_order::morton;
            made.layout = layout_of<T>(along_the_curve);
            if (any_period(options.period))
              throw error(
                  "distributed_tree: an axis has a period, but trees over ranks have open axes "
                  "only; leave it out, or use build_tree() on one rank");
            if (!options.level && options.max_leaf_size == automatic)
              throw error(
                  "distributed_tree: max_leaf_size is automatic, but no rank has all points; "
                  "give one size, such as choose_leaf_size() chooses for a part of them");
            made.max_leaf_size = options.level ? 0 : static_cast<index_type>(options.max_leaf_size);
            bounds = valid_bounds(on, named, {});
          });
      all.least(bounds.lower);
      all.greatest(bounds.upper);
      all.attempt([&] { made.root = choose_root(options, named, bounds, {{}, "points"}, bounds); });
      return made;
    }

    template <class T, int Dim>
    void sort_points(executor& on, strided<T const, Dim> const& points, shape<Dim> const& of,
                     page_vector<std::uint64_t>& keys, std::span<index_type> order)
    {
      auto const axes = key_axes(of.root, {});
      keys.resize(points.size());
      for_each_part(on, cut(on, points.size()),
                    [&](int, std::size_t begin, std::size_t end)
                    { write_keys(points, begin, end, axes, of.layout, keys.data()); });
      sort_scratch scratch;
      sort_keys(on, keys, order, scratch);
    }

    /// The leaves of a rank, whose keys these are.
    template <int Dim>
    leaf_set<Dim> leaves_of(executor& on, std::span<std::uint64_t const> keys, shape<Dim> const& of,
                            curve_range const& owned)
    {
      if (of.max_leaf_size > 0)
        return adaptive_leaves<Dim>(on, keys, {}, of.layout.level, of.max_leaf_size, owned);
      occupied_cells cells;
      for (std::size_t i = 0; i < keys.size(); ++i)
        if (i == 0 || keys[i] != keys[i - 1])
        {
          cells.keys.push_back(keys[i]);
          cells.offsets.push_back(static_cast<index_type>(i));
        }
      cells.offsets.push_back(static_cast<index_type>(keys.size()));
      return uniform_leaves<Dim>(on, std::move(cells), nullptr, of.layout);
    }

    curve_range range_of(ranks const& all, std::span<std::uint64_t const> cuts)
    {
      auto const r = static_cast<std::size_t>(all.rank());
      return {cuts[r], cuts[r + 1]};
    }

    /// Cuts with about equal interactions, which the leaves over other cuts tell.
    template <int Dim>
    std::vector<std::uint64_t>
    cut_by_interactions(ranks const& all, executor& on, std::span<std::uint64_t const> keys,
                        shape<Dim> const& of, std::span<std::uint64_t const> cuts)
    {
      by_rank<std::uint64_t> arrived =
          all.exchange<std::uint64_t>(keys, detail::places_of(cuts, keys));
      std::ranges::sort(arrived.values);
      leaf_set<Dim> leaves;
      all.attempt([&] { leaves = leaves_of<Dim>(on, arrived.values, of, range_of(all, cuts)); });
      arrived = {};
      auto const known =
          detail::learn_layer<Dim>(all, on, std::move(leaves), cuts, of.layout.level);
      std::vector<std::uint64_t> leaf_keys, weights;
      interaction_list const lists = known.lists.full.view();
      for (index_type b = known.first; b < known.last; ++b)
      {
        std::uint64_t const count =
            known.leaves.target_offsets[b + 1] - known.leaves.target_offsets[b];
        leaf_keys.push_back(known.leaves.keys[b]);
        // each point with itself too: one that meets no other costs something
        weights.push_back(count * lists.source_count(b - known.first));
      }
      return detail::cut_by_weight(all, leaf_keys, weights, of.end());
    }

    template <int Dim>
    std::vector<std::uint64_t> choose_cuts(ranks const& all, executor& on,
                                           std::span<std::uint64_t const> keys,
                                           shape<Dim> const& of, cut_choice choice)
    {
      std::uint64_t const end = of.end();
      std::vector<std::uint64_t> cuts = choice == cut_choice::of_the_caller
                                            ? detail::cuts_there_are(all, keys, end)
                                            : detail::cut_by_points(all, keys, end);
      if (of.max_leaf_size > 0)
        detail::move_to_leaves<Dim>(all, keys, of.layout.level, of.max_leaf_size, cuts);
      if (choice != cut_choice::equal_interactions) return cuts;
      return cut_by_interactions(all, on, keys, of, cuts);
    }

    template <class T, int Dim>
    by_rank<traveller<T, Dim>> send_points(ranks const& all, strided<T const, Dim> const& points,
                                           std::span<index_type const> order,
                                           std::span<std::size_t const> places)
    {
      std::vector<traveller<T, Dim>> leaving(order.size());
      for (std::size_t p = 0; p < order.size(); ++p)
      {
        for (int d = 0; d < Dim; ++d) leaving[p].x[d] = points[d][order[p]];
        leaving[p].index = order[p];
      }
      return all.exchange<traveller<T, Dim>>(leaving, places);
    }
  }

  template <class T, int Dim>
  distributed_tree<T, Dim>::distributed_tree(MPI_Comm communicator,
                                             strided<T const, Dim> const& points,
                                             tree_options<Dim> const& options,
                                             distribution_options const& distribution)
  {
    this_thread here;
    executor& on = distribution.threads ? *distribution.threads : here;
    ranks const all(communicator);
    shape<Dim> const of = agree_on_shape(all, on, points, options);
    parts_.communicator = communicator;
    parts_.root = of.root;

    page_vector<std::uint64_t> keys;
    auto& way = parts_.way;
    way.sent.resize(points.size());
    all.attempt([&] { sort_points(on, points, of, keys, way.sent); });
    parts_.cuts = choose_cuts<Dim>(all, on, keys, of, distribution.cuts);
    way.sent_offsets = detail::places_of(parts_.cuts, keys);
    by_rank<traveller<T, Dim>> arrived = send_points(all, points, way.sent, way.sent_offsets);

    // Points arrive by rank and index, which is by number, if they have equal keys: the sort keeps that order.
    std::vector<index_type> order(arrived.values.size());
    std::array<std::vector<T>, Dim> columns;
    std::array<T const*, Dim> pointers;
    for (int d = 0; d < Dim; ++d)
    {
      columns[d].resize(order.size());
      parts_.positions[d].resize(order.size());
      for (std::size_t i = 0; i < order.size(); ++i) columns[d][i] = arrived.values[i].x[d];
      pointers[d] = columns[d].data();
    }
    leaf_set<Dim> own;
    all.attempt(
        [&]
        {
          sort_points<T, Dim>(on, soa<T const, Dim>(pointers, order.size()), of, keys, order);
          own = leaves_of<Dim>(on, keys, of, range_of(all, parts_.cuts));
        });

    std::uint64_t const n = points.size();
    by_rank<std::uint64_t> const counts = all.gather_all(std::span(&n, 1));
    std::vector<std::uint64_t> first(counts.values.size());
    std::exclusive_scan(counts.values.begin(), counts.values.end(), first.begin(),
                        distribution.first_number);
    parts_.numbers.resize(order.size());
    way.received.resize(order.size());
    way.received_offsets = arrived.offsets;
    std::vector<std::uint64_t> numbers;
    for (int r = 0; r < all.size(); ++r)
      for (auto const& point : arrived.of(r))
        numbers.push_back(first[static_cast<std::size_t>(r)] + point.index);
    for (std::size_t p = 0; p < order.size(); ++p)
    {
      way.received[order[p]] = static_cast<index_type>(p);
      parts_.numbers[p] = numbers[order[p]];
      for (int d = 0; d < Dim; ++d) parts_.positions[d][p] = columns[d][order[p]];
    }

    auto known = detail::learn_layer<Dim>(all, on, std::move(own), parts_.cuts, of.layout.level);
    parts_.first_leaf = known.first;
    parts_.last_leaf = known.last;
    parts_.cells = std::move(known.leaves.cells);
    parts_.offsets = std::move(known.leaves.target_offsets);
    parts_.layers = std::move(known.layers);
    parts_.lists = std::move(known.lists.full);
    parts_.interaction_count = known.lists.pairs;
    parts_.total_points = all.sum_of(n);
    parts_.total_leaves = all.sum_of(size());
  }

  template <class T, int Dim>
  soa<T const, Dim> distributed_tree<T, Dim>::positions() const
  {
    std::array<T const*, Dim> columns;
    for (int d = 0; d < Dim; ++d) columns[d] = parts_.positions[d].data();
    return {columns, parts_.numbers.size()};
  }

  template class distributed_tree<float, 2>;
  template class distributed_tree<float, 3>;
  template class distributed_tree<double, 2>;
  template class distributed_tree<double, 3>;
}
