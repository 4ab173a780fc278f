#pragma once

#include "leaves.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// \file
/// A part of a tree of one set of points, whose other parts are in other processes: the lists of its leaves on a GPU.

namespace nearfield::detail
{
  /// The leaves of others that touch a part. All known leaves, these and the part's own, have numbers in the order of
  /// their keys.
  template <int Dim>
  struct part_leaves
  {
    leaf_set<Dim> const& others; ///< without the part's own
    /// A chunk is the leaves of one process. The number of the first leaf of each chunk, and of all leaves.
    std::span<index_type const> chunks;
    std::size_t own; ///< the chunk of the part

    [[nodiscard]] index_type first() const { return chunks[own]; }
    [[nodiscard]] index_type last() const { return chunks[own + 1]; }
  };

  /// A leaf of a part that may touch leaves of other parts.
  template <int Dim>
  struct border_leaf
  {
    leaf_cell<Dim> cell;
    std::uint64_t key;       ///< as leaf_set::keys
    index_type leaf, points; ///< its number among those of the part
  };

  /// The most chunks: met_leaves::chunks has a bit for each.
  inline constexpr std::size_t most_chunks_of_a_part = 64;

  /// What the leaves of a part meet. If the part is the only chunk, the two columns about others are empty.
  struct met_leaves
  {
    /// for each own leaf at the border, as gpu_points::find_border() tells: bit c if it meets leaves of chunk c, another one
    page_vector<std::uint64_t> chunks;
    page_vector<std::uint8_t> is_met; ///< for each leaf of others: 1 if an own one meets it
    std::uint64_t pairs = 0;          ///< of two different points
  };

  /// Leaves of the part with what they meet of its own points, or of others, in device memory. Of ranges, set 0 is the
  /// part's own points, and set 1 is those of the leaves of other chunks that it meets, in their order. Ranges count from
  /// the first point of their set. A leaf that has nothing to do here has no ranges, and no points of its own.
  template <int Dim>
  struct part_list
  {
    static constexpr int dim = Dim;
    double pairs = 0; ///< ordered pairs of points
    device_leaves leaves;
    device_array<source_range> own, ranges;
    device_array<index_type> offsets;

    [[nodiscard]] device_leaves on_device() const { return leaves; }
  };

  /// The pairs of points that a part computes, each list in a launch of its own.
  ///
  /// * mutual: `inner` is the half list of the part's own leaves, `border` what they meet of other chunks
  /// * one_sided: `border` has the leaves that meet some of other chunks with all that they meet, in its order, and
  ///   `inner` all other leaves
  template <int Dim>
  struct part_lists
  {
    std::shared_ptr<CUstream_st> stream; ///< in which the lists free their memory
    part_list<Dim> inner, border;
  };
}
