#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/p2p/job.hpp>

#include <span>

/// \file
/// Sums without excluded pairs, by lists that do not have them: the kernels are those of all sums.

namespace nearfield::detail
{
  /// The rows by position: row p is that of target_order[p], and its sources are positions, ascending. Without orders,
  /// indices are positions.
  excluded_rows in_order(excluded_rows const& rows, std::span<index_type const> target_order,
                         std::span<index_type const> source_order, executor& on);

  /// The pairs that a job leaves out.
  struct excluded_pairs
  {
    excluded_rows const* rows = nullptr;   ///< by position; null or empty: none
    index_type first_target = 0;           ///< the position of target 0
    std::span<source_set const> sets = {}; ///< `begin` is the position of source 0; none: it is 0
  };

  /// kernel(k, job) without the excluded pairs.
  template <class T>
  void run_kernel(p2p_function<T> kernel, void const* k, p2p_job<T> const& job, bool is_mutual,
                  excluded_pairs const& excluded);
}
