#pragma once

#include "collective.hpp"

#include "interaction_lists.hpp"
#include "leaves.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/executor.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <array>
#include <cstdint>
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
    /// a row for each leaf of this rank; ranges are sources of all known leaves
    nearfield::detail::list_pair lists;
  };

  /// Exchanges keys and counts of leaves at the borders of ranges, and makes the lists. Collective.
  template <int Dim>
  known_leaves<Dim> learn_layer(ranks const& all, executor& on,
                                nearfield::detail::leaf_set<Dim> const& own, bool has_one_set,
                                std::span<std::uint64_t const> cuts, int key_level,
                                std::type_identity_t<std::array<double, Dim>> const& period);
}
