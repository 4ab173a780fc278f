#pragma once

#include "leaves.hpp"

#include <nearfield/core/boxes.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace nearfield::detail
{
  /// For every leaf the other leaves whose closed boxes share a point with its own, ascending.
  struct adjacency
  {
    std::vector<std::size_t> offsets{0};
    std::vector<index_type> leaves;

    [[nodiscard]] std::span<index_type const> of(index_type b) const
    {
      return std::span(leaves).subspan(offsets[b], offsets[b + 1] - offsets[b]);
    }
  };

  /// For leaves of one level with row-major keys.
  template <int Dim>
  adjacency row_major_adjacency(leaf_set<Dim> const& leaves, int level);

  /// For leaves of any levels with Morton keys of `key_level`.
  template <int Dim>
  adjacency morton_adjacency(leaf_set<Dim> const& leaves, int key_level);
}
