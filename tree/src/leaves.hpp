#pragma once

#include "keys.hpp"

#include <nearfield/tree/build_tree.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace nearfield::detail
{
  /// The leaves in ascending order of their keys.
  template <int Dim>
  struct leaf_set
  {
    std::vector<leaf_cell<Dim>> cells;
    /// the smallest key of each, in the layout of the points
    std::vector<std::uint64_t> keys;
    std::vector<index_type> target_offsets{0}, source_offsets{0};

    [[nodiscard]] index_type size() const { return static_cast<index_type>(cells.size()); }
    void add(leaf_cell<Dim> const& cell, std::uint64_t key, index_type target_end,
             index_type source_end)
    {
      cells.push_back(cell);
      keys.push_back(key);
      target_offsets.push_back(target_end);
      source_offsets.push_back(source_end);
    }
  };

  using sorted_points = std::span<keyed_point const>;

  /// One leaf for every key that occurs.
  template <int Dim>
  leaf_set<Dim> uniform_leaves(sorted_points targets, sorted_points sources,
                               key_layout const& layout);

  /// The largest boxes that hold at most max_leaf_size targets and sources, down to the level of the
  /// (Morton) keys.
  template <int Dim>
  leaf_set<Dim> adaptive_leaves(sorted_points targets, sorted_points sources, int key_level,
                                index_type max_leaf_size);
}
