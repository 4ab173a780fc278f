#pragma once

#include "task_list.hpp"

#include <nearfield/core/config.hpp>
#include <nearfield/p2p/job.hpp>

namespace nearfield::detail
{
  /// The columns that the list of a group refers to, as pointers. Inputs and outputs are those of all right-hand sides.
  template <class T>
  struct group_columns
  {
    int n_x, n_in, n_out;
    T const* const* x;        ///< n_x columns for each buffer of the list
    T const* const* q;        ///< n_in columns for each buffer of sources
    T* const* out;            ///< n_out columns of the points of the group
    T* const* halo = nullptr; ///< in the mutual form n_out columns of its halo
    p2p_strides strides = {}; ///< of out and halo the same
  };

  /// The pairs that a group leaves out.
  struct group_exclusions
  {
    excluded_rows const* rows = nullptr;   ///< by position; null or empty: none
    index_type const* positions = nullptr; ///< of the first point of each buffer of the list
  };

  /// Adds the sums of a group to its outputs and, in the mutual form, to its halo. `common` has what does not depend on
  /// the group.
  template <class T>
  NEARFIELD_API void run_group(p2p_function<T> kernel, void const* k, p2p_job<T> const& common,
                               task_head const& head, task_list_view const& list,
                               group_columns<T> const& of, group_exclusions const& excluded = {});
}
