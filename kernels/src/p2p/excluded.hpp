#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/p2p/job.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

/// \file
/// Sums without excluded pairs, by lists that do not have them: the kernels are those of all sums.

namespace nearfield::detail
{
  /// The caller's excluded pairs by position: row p is that of the target at p, and its sources are positions, ascending.
  /// Without orders of leaves, indices are positions. Throws as excluded_rows_of().
  NEARFIELD_API excluded_rows excluded_in(leaf_groups_view const& leaves, std::size_t n_targets,
                                          std::size_t n_sources,
                                          std::span<std::uint64_t const> offsets,
                                          std::span<index_type const> excluded, executor& on);

  /// The pairs that a job leaves out.
  struct excluded_pairs
  {
    excluded_rows const* rows = nullptr;   ///< by position; null or empty: none
    index_type first_target = 0;           ///< the position of target 0
    std::span<index_type const> sets = {}; ///< the position of source 0 of each set; none: it is 0
  };

  /// kernel(k, job) without the excluded pairs.
  template <class T>
  void run_kernel(p2p_function<T> kernel, void const* k, p2p_job<T> const& job, bool is_mutual,
                  excluded_pairs const& excluded);
}
