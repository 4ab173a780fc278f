#pragma once

#include "one_runtime.hpp"
#include "points.hpp"
#include "reference.hpp"
#include "tree/tree_reference.hpp"

#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace nearfield::test
{
  inline constexpr pair_form pair_forms[] = {pair_form::one_sided, pair_form::mutual};

  /// The leaf of each point, in the caller's order.
  inline std::vector<index_type> leaf_of_points(boxes const& points,
                                                std::span<index_type const> order)
  {
    std::vector<index_type> leaf(order.size());
    for (index_type b = 0; b < points.size(); ++b)
      for (index_type i = points.begin(b); i < points.end(b); ++i) leaf[order[i]] = b;
    return leaf;
  }

  /// Which leaves touch, from the geometry of their boxes.
  template <int Dim>
  std::vector<std::vector<bool>> touching(tree<Dim> const& tree)
  {
    auto const corners = all_corners(tree);
    std::vector<std::vector<bool>> result(corners.size(), std::vector<bool>(corners.size()));
    for (std::size_t a = 0; a < corners.size(); ++a)
      for (std::size_t b = 0; b < corners.size(); ++b) result[a][b] = touch(corners[a], corners[b]);
    return result;
  }

  /// The near field by brute force: all targets and sources whose leaves touch.
  template <class K, class T>
  auto reference_near_field(K const& k, tree<K::dim> const& tree,
                            points<T, nearfield::detail::point_columns<K>> const& targets,
                            points<T, nearfield::detail::point_columns<K>> const& sources,
                            soa<T const, K::n_in> const& q)
  {
    auto const target_leaf = leaf_of_points(tree.targets(), tree.target_order());
    auto const source_leaf = leaf_of_points(tree.sources(), tree.source_order());
    auto const touch = touching(tree);
    bool const one_set = tree.has_one_set();
    return reference(k, targets.view(), sources.view(), q, [&](std::size_t i, std::size_t j)
                     { return touch[target_leaf[i]][source_leaf[j]] && !(one_set && i == j); });
  }

  template <class T, int N>
  points<T, N> make_columns(std::size_t n, T value)
  {
    points<T, N> result;
    for (auto& column : result.columns) column.assign(n, value);
    return result;
  }

  /// A cloud, and parameters in [0.5, 1.5) for the interaction.
  template <class K, class T>
  points<T, nearfield::detail::point_columns<K>> make_points_of(cloud shape, std::size_t n)
  {
    auto const x = make_points<T, K::dim>(shape, n);
    points<T, nearfield::detail::point_columns<K>> all;
    for (int c = 0; c < nearfield::detail::point_columns<K>; ++c)
      if (c < K::dim)
        all.columns[c] = x.columns[c];
      else
      {
        all.columns[c] = make_values<T>(n, 50 + static_cast<std::uint64_t>(c));
        for (T& value : all.columns[c]) value = 1 + value / 2;
      }
    return all;
  }

  template <class K, class T, int N>
  soa<T const, K::dim> coordinates_of(points<T, N> const& all)
  {
    std::array<T const*, K::dim> columns;
    for (int d = 0; d < K::dim; ++d) columns[d] = all.columns[d].data();
    return {columns, all.size()};
  }

  template <class T, int N>
  points<T, N> make_inputs(std::size_t n, std::uint64_t seed = 2)
  {
    points<T, N> result;
    for (auto& column : result.columns) column = make_values<T>(n, seed++);
    return result;
  }

  template <class T, int N>
  soa<T, N> writable(points<T, N>& values)
  {
    std::array<T*, N> columns;
    for (int c = 0; c < N; ++c) columns[c] = values.columns[c].data();
    return {columns, values.size()};
  }
}
