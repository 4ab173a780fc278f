#pragma once

#include "points.hpp"

#include <nearfield/tree/build_tree.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

namespace nearfield::test
{
  inline int rank_of_world()
  {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  inline int size_of_world()
  {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
  }

  /// Who has the points before they are distributed.
  enum class owners
  {
    even,     ///< equal numbers, rank after rank
    first,    ///< all on rank 0
    last,     ///< all on the last rank
    odd_only, ///< none on ranks 0, 2, 4 ...
    random    ///< any numbers
  };
  inline constexpr owners all_owners[] = {owners::even, owners::first, owners::last,
                                          owners::odd_only, owners::random};

  /// Where the points of each rank begin, and their number.
  inline std::vector<std::size_t> first_points(owners who, std::size_t n, std::uint64_t seed)
  {
    auto const n_ranks = static_cast<std::size_t>(size_of_world());
    std::vector<std::size_t> weights(n_ranks, 1);
    random_numbers random(seed);
    for (std::size_t r = 0; r < n_ranks; ++r)
    {
      if (who == owners::first) weights[r] = r == 0;
      if (who == owners::last) weights[r] = r + 1 == n_ranks;
      if (who == owners::odd_only) weights[r] = n_ranks == 1 || r % 2 == 1;
      if (who == owners::random) weights[r] = random.below(5);
    }
    std::size_t const all = std::accumulate(weights.begin(), weights.end(), std::size_t(0));
    if (all == 0) weights.back() = 1;
    std::vector<std::size_t> first{0};
    std::size_t sum = 0;
    for (std::size_t const weight : weights)
    {
      sum += weight;
      first.push_back(n * sum / std::max<std::size_t>(1, all));
    }
    first.back() = n;
    return first;
  }

  /// The values [begin, end) of each column.
  template <class T, int N>
  soa<T const, N> slice(points<T, N> const& all, std::size_t begin, std::size_t end)
  {
    std::array<T const*, N> columns;
    for (int c = 0; c < N; ++c) columns[c] = all.columns[c].data() + begin;
    return {columns, end - begin};
  }

  /// This rank's points before they are distributed.
  template <class T, int N>
  soa<T const, N> points_here(points<T, N> const& all, owners who, std::uint64_t seed)
  {
    auto const first = first_points(who, all.size(), seed);
    auto const rank = static_cast<std::size_t>(rank_of_world());
    return slice(all, first[rank], first[rank + 1]);
  }
}
