#pragma once

#include "points.hpp"

#include <nearfield/tree/build_tree.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace nearfield::test
{
  /// A box in integer units of the deepest level. The functions below find interaction lists by brute force,
  /// from the geometry of all pairs of leaves, without keys or searches.
  template <int Dim>
  struct lattice_box
  {
    std::array<std::int64_t, Dim> lower, upper;
  };

  /// The corners of leaf b in units of boxes of the deepest level.
  template <int Dim>
  lattice_box<Dim> corners(tree<Dim> const& tree, index_type b)
  {
    cube<Dim> const& root = tree.root();
    cube<Dim> const leaf = tree.leaf(b);
    double const scale = std::ldexp(1., max_level<Dim>) / root.width();
    lattice_box<Dim> result;
    for (int d = 0; d < Dim; ++d)
    {
      result.lower[d] = std::llround((leaf.lower(d) - root.lower(d)) * scale);
      result.upper[d] = std::llround((leaf.upper(d) - root.lower(d)) * scale);
    }
    return result;
  }

  template <int Dim>
  std::vector<lattice_box<Dim>> all_corners(tree<Dim> const& tree)
  {
    std::vector<lattice_box<Dim>> result;
    for (index_type b = 0; b < tree.size(); ++b) result.push_back(corners(tree, b));
    return result;
  }

  /// Whether the closed boxes share a point.
  template <int Dim>
  bool touch(lattice_box<Dim> const& a, lattice_box<Dim> const& b)
  {
    for (int d = 0; d < Dim; ++d)
      if (a.lower[d] > b.upper[d] || b.lower[d] > a.upper[d]) return false;
    return true;
  }

  /// The box of point i at a level, by the documented formula.
  template <class T, int Dim>
  std::array<std::uint32_t, Dim> box_index(points<T, Dim> const& points, std::size_t i,
                                           cube<Dim> const& root, int level)
  {
    double const n = std::ldexp(1., level);
    std::array<std::uint32_t, Dim> index;
    for (int d = 0; d < Dim; ++d)
    {
      double const x = static_cast<double>(points.columns[d][i]);
      double const place = std::floor((x - root.lower(d)) / root.width() * n);
      index[d] = static_cast<std::uint32_t>(std::clamp(place, 0., n - 1));
    }
    return index;
  }

  /// The positions that ranges cover, one by one and in order.
  inline std::vector<index_type> expand(std::span<interaction_list::range const> ranges)
  {
    std::vector<index_type> result;
    for (interaction_list::range const& range : ranges)
      for (index_type j = range.begin; j < range.end; ++j) result.push_back(j);
    return result;
  }

  /// The positions of the points of those leaves c that `wanted(c)` selects.
  template <class Wanted>
  std::vector<index_type> positions_of(boxes const& boxes, Wanted&& wanted)
  {
    std::vector<index_type> result;
    for (index_type c = 0; c < boxes.size(); ++c)
      if (wanted(c))
        for (index_type j = boxes.begin(c); j < boxes.end(c); ++j) result.push_back(j);
    return result;
  }

  /// Whether cell a precedes cell b, both of the same tree.
  template <int Dim>
  bool precedes(leaf_cell<Dim> const& a, leaf_cell<Dim> const& b, leaf_order order)
  {
    if (order == leaf_order::row_major) return a.index < b.index;
    for (int depth = 0; depth < std::min(a.level, b.level); ++depth)
      for (int d = 0; d < Dim; ++d)
      {
        std::uint32_t const bit_a = a.index[d] >> (a.level - depth - 1) & 1;
        std::uint32_t const bit_b = b.index[d] >> (b.level - depth - 1) & 1;
        if (bit_a != bit_b) return bit_a < bit_b;
      }
    return false;
  }
}
