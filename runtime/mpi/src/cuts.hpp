#pragma once

#include "ranks.hpp"

#include "tree/src/sort.hpp"

#include <nearfield/core/where.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

/// \file
/// Where the Z curve is cut into one range for each rank. Cuts are the first key of every range and the end of the
/// last, size() + 1 keys, the same on all ranks. All functions but places_of() are collective, and take the keys of the
/// points that this rank has.

namespace nearfield::starpu_mpi::detail
{
  using namespace nearfield::detail;

  /// The ascending keys of one set of points, or those of targets and those of sources.
  using key_sets = std::vector<key_span>;

  /// Ranges with about equal numbers of points, from a sample of their keys. Points with equal keys stay together.
  std::vector<std::uint64_t> cut_by_points(ranks const& all, key_sets const& sets,
                                           std::uint64_t end);

  /// The ranges that the ranks have already: a rank without points has none. Throws nearfield::error, on all ranks,
  /// unless the points of each rank come after those of the ranks before it.
  std::vector<std::uint64_t> cuts_there_are(ranks const& all, key_sets const& sets,
                                            std::uint64_t end);

  /// The number of points of this rank with a smaller key, for each of these.
  using key_places = std::function<std::vector<std::size_t>(key_span)>;

  /// Moves cuts down to where a leaf of the adaptive tree begins.
  template <int Dim>
  void move_to_leaves(ranks const& all, std::span<key_places const> sets, int key_level,
                      std::uint64_t max_leaf_size, std::span<std::uint64_t> cuts);

  /// Ranges of whole leaves with about equal weight. Leaves are those of this rank, ascending with the ranks.
  std::vector<std::uint64_t> cut_by_weight(ranks const& all,
                                           std::span<std::uint64_t const> leaf_keys,
                                           std::span<std::uint64_t const> weights,
                                           std::uint64_t end);

  /// What a unit of work takes on this rank, where the mean of all ranks is 1.
  struct price
  {
    double last = 1; ///< as it was measured last
    double used = 1; ///< the one of the last two that is nearer to 1: one time may be chance

    /// By the seconds of this rank, and the work that it did in them: keeps what it was for no work. 1 if a rank that
    /// worked gives no seconds.
    void update(ranks const& all, double seconds, std::uint64_t work);
  };

  /// Those of cut_by_weight(), if the greatest load of a rank is more than 1 + imbalance times the mean, and the heaviest
  /// range is lighter with them. Leaves are those between the cuts of this rank; weigh(), which is collective, is called
  /// on all ranks or on none.
  std::optional<std::vector<std::uint64_t>>
  better_cuts(ranks const& all, double load, std::span<std::uint64_t const> leaf_keys,
              std::function<std::span<std::uint64_t const>()> const& weigh, double imbalance,
              std::uint64_t end);

  /// Where the range of each rank begins among ascending keys, and their number.
  std::vector<std::size_t> places_of(std::span<std::uint64_t const> cuts,
                                     std::span<std::uint64_t const> keys);

  /// By set, the keys of all ranks in the range of this one, ascending.
  std::vector<page_vector<std::uint64_t>> keys_here(ranks const& all, executor& on,
                                                    key_sets const& sets,
                                                    std::span<std::uint64_t const> cuts);
}
