#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/tree.hpp>

#include <concepts>
#include <type_traits>

namespace nearfield
{
  namespace detail
  {
    /// Null sources: the targets are the sources too.
    template <class T, int Dim>
    NEARFIELD_API tree<Dim> build_tree(soa<T const, Dim> const& targets,
                                       soa<T const, Dim> const* sources,
                                       tree_options<Dim> const& options);

    extern template tree<2> build_tree(soa<float const, 2> const&, soa<float const, 2> const*,
                                       tree_options<2> const&);
    extern template tree<3> build_tree(soa<float const, 3> const&, soa<float const, 3> const*,
                                       tree_options<3> const&);
    extern template tree<2> build_tree(soa<double const, 2> const&, soa<double const, 2> const*,
                                       tree_options<2> const&);
    extern template tree<3> build_tree(soa<double const, 3> const&, soa<double const, 3> const*,
                                       tree_options<3> const&);

    template <class T>
    concept tree_real = std::same_as<T, float> || std::same_as<T, double>;
    template <int Dim>
    concept tree_dimension = Dim == 2 || Dim == 3;

    // remedy: two or three columns of float or double
    template <class T, int Dim>
    concept tree_coordinates = tree_real<std::remove_const_t<T>> && tree_dimension<Dim>;
  }

  /// The tree of one set of points, which are targets and sources at once. On each axis the box of
  /// a point at level L has the index
  ///
  ///     min(2^L - 1, floor((x - lower) / width * 2^L)),   computed in double;
  ///
  /// points with equal coordinates always share a leaf. Coordinates are float or
  /// double, in 2 or 3 columns:
  ///
  ///     auto const tree = nearfield::build_tree(nearfield::soa{x, y, z}, {.max_leaf_size = 64});
  ///
  /// A point outside a given root is an error; within 4 eps * half_width (eps that of T) it is put
  /// into the outermost box. Time O(N + leaves), scratch memory 32 bytes per point.
  ///
  /// Throws nearfield::error for a coordinate that is not finite, a point outside the root, a root
  /// whose centre or width is not finite or whose half width is not positive, a level outside
  /// 0 ... max_level<Dim>, max_leaf_size < 1, row-major order without a level, a null column,
  /// 2^32 - 1 points or more (of both sets together), and more than 2^32 - 1 ranges.
  template <class T, int Dim>
  requires detail::tree_coordinates<T, Dim>
  [[nodiscard]] tree<Dim> build_tree(soa<T, Dim> const& points,
                                     tree_options<Dim> const& options = {})
  {
    using real = std::remove_const_t<T>;
    return detail::build_tree<real, Dim>(soa<real const, Dim>(points), nullptr, options);
  }

  /// The tree of two sets of points: the targets and the sources of a leaf share its box. A box
  /// splits while it holds more than max_leaf_size targets or more than max_leaf_size sources.
  /// Errors are those of one set.
  template <class T, class U, int Dim>
  requires detail::tree_coordinates<T, Dim> &&
      std::same_as<std::remove_const_t<T>, std::remove_const_t<U>>
  [[nodiscard]] tree<Dim> build_tree(soa<T, Dim> const& targets, soa<U, Dim> const& sources,
                                     tree_options<Dim> const& options = {})
  {
    using real = std::remove_const_t<T>;
    soa<real const, Dim> const of_sources(sources);
    return detail::build_tree<real, Dim>(soa<real const, Dim>(targets), &of_sources, options);
  }
}
