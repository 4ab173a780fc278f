#pragma once

#include "division.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/starpu/near_field.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

/// \file
/// What a step needs of a tree, in two or three dimensions: of one process, whose points are the caller's, or of a rank.

namespace nearfield::starpu::detail
{
  /// Points of a set that one rank has and another computes.
  struct shared_rows
  {
    std::span<index_type const> sent;     ///< of this rank's caller
    std::span<index_type const> received; ///< own points, of the other's caller
  };

  /// The points of one set.
  template <class T>
  struct points_view
  {
    /// One process: for each own point its index in the caller's columns.
    std::span<index_type const> order;
    // Ranks: the ways of all points of this rank's caller, sent[sent_offsets[r]] ... to rank r, and of own points. Those
    // that stay on the rank may be unknown before complete().
    std::span<std::size_t const> sent_offsets, received_offsets;
    std::span<index_type const> sent, received;
    std::function<void()> complete;
    /// One process: what brings each own point into the box; empty if all are in it.
    std::span<std::array<double, 3> const> moves = {};

    [[nodiscard]] shared_rows with_rank(std::size_t r) const
    {
      return {sent.subspan(sent_offsets[r], sent_offsets[r + 1] - sent_offsets[r]),
              received.subspan(received_offsets[r], received_offsets[r + 1] - received_offsets[r])};
    }
  };

  /// Leaves of another rank that touch own ones.
  struct layer_view
  {
    int rank;
    index_type first_leaf, last_leaf; ///< [first_leaf, last_leaf) of the known ones
    std::span<index_type const>
        sent; ///< own leaves that it knows, ascending, from the first own one
  };

  template <class T>
  struct step_tree
  {
    bool is_local =
        false; ///< of one process: the caller's columns have the own points and no others
    bool has_one_set = true;
    int rank = 0;              ///< of this process
    boxes sources;             ///< of known leaves, if there are layers
    index_type first_leaf = 0; ///< own ones among them
    std::vector<layer_view> layers;
    /// own points, coordinates and parameters: in the caller's order with one process, in the tree's with ranks, on the host or on a GPU
    std::function<column_list<T const>(bool of_targets, bool on_gpu)> positions;
    std::shared_ptr<void const> memory; ///< of some of these columns
    /// ranks: for each own target, its index in the columns of this rank's caller, or no_row; in the memory of a GPU
    index_type const* caller_rows = nullptr;
    points_view<T> targets, source_points; ///< the same, if there is one set
    bool ranges_may_coincide = false;      ///< points have moved since the leaves were made
    /// one process: the shifts in the list of a group of leaves, which may change when points move
    std::function<std::vector<std::array<double, 3>>(pair_form, index_type first, index_type last)>
        shifts;
    std::function<division(backend wanted)> divide;
    /// one process: pairs that do not meet, by position; null: all do
    std::shared_ptr<nearfield::detail::excluded_rows const> excluded;
  };
}
