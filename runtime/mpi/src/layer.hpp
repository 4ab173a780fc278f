#pragma once

#include "ranks.hpp"

#include "tree/src/interaction_lists.hpp"
#include "tree/src/leaves.hpp"
#include "tree/src/part_lists.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace nearfield::starpu_mpi::detail
{
  /// The leaves of this rank and those of others that touch them, in the order of their keys: the ones of each rank
  /// follow one another.
  template <int Dim>
  struct known_leaves
  {
    nearfield::detail::leaf_set<Dim> leaves; ///< of one set of points, both offsets are the same
    bool has_one_set = true;
    index_type first = 0, last = 0; ///< those of this rank are [first, last)
    std::vector<rank_layer> layers; ///< one for each rank that has some, ascending
    /// what leaves of this rank meet, if its GPU has their lists
    std::optional<nearfield::detail::met_leaves> met;
    /// otherwise a row for each leaf of this rank; ranges are sources of all known leaves
    nearfield::detail::list_pair lists;

    /// Of the leaves of this rank.
    [[nodiscard]] std::span<std::uint64_t const> own_keys() const
    {
      return std::span(leaves.keys).subspan(first, last - first);
    }
    /// The pairs with targets of this rank.
    [[nodiscard]] std::uint64_t pairs() const { return met ? met->pairs : lists.pairs; }
  };

  /// The GPU that made the leaves of a rank.
  template <int Dim>
  struct gpu_of_leaves
  {
    index_type leaves, points;                                     ///< how many
    nearfield::detail::curve_range extent;                         ///< where the leaves are
    std::function<void(nearfield::detail::leaf_set<Dim>&)> append; ///< its leaves, to others
    // what the GPU finds, if it has the memory:
    /// leaves at the border of a rank, from the ranges of all, as ranges_around() gives them
    std::function<
        std::optional<nearfield::detail::page_vector<nearfield::detail::border_leaf<Dim>>>(
            std::span<nearfield::detail::curve_range const>, std::size_t rank)>
        find_border;
    /// what leaves meet
    std::function<std::optional<nearfield::detail::met_leaves>(
        nearfield::detail::part_leaves<Dim> const& known)>
        meet;
  };

  /// The lists of the leaves of this rank.
  template <int Dim>
  nearfield::detail::list_pair
  lists_of(executor& on, known_leaves<Dim> const& known, int key_level,
           std::type_identity_t<std::array<double, Dim>> const& period);

  /// Exchanges keys and counts of leaves at the borders of ranks, and makes the lists. If a GPU has the leaves, `own` is
  /// empty, and lists are made there if it can. Collective.
  template <int Dim>
  known_leaves<Dim> learn_layer(ranks const& all, executor& on,
                                nearfield::detail::leaf_set<Dim>&& own, bool has_one_set,
                                int key_level,
                                std::type_identity_t<std::array<double, Dim>> const& period,
                                gpu_of_leaves<Dim> const* gpu = nullptr);
}
