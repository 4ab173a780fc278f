#pragma once

#include "codelet.hpp"
#include "plan.hpp"

#include <span>

/// \file
/// Between the caller's arrays, in the caller's order, and the data of a step, in tree order: tasks of CPU
/// workers, which the statistics leave out.

namespace nearfield::starpu::detail
{
  /// chunk(i, c) = from[c][order[i]]
  template <class T>
  struct collect_argument : task_argument
  {
    std::span<T const* const> from;
    std::span<index_type const> order; ///< of the points of the chunk
  };

  /// Buffer: the chunk, written.
  template <class T>
  starpu_codelet& collect_codelet();

  /// to[c][order[i]] = out(i, c) and what other groups have computed for it, or += .
  template <class T>
  struct deliver_argument : task_argument
  {
    std::span<T* const> to;
    std::span<index_type const> order; ///< of the points of the group
    std::span<nearfield::detail::halo_piece const> pieces;
    bool accumulate = false;
  };

  /// Buffers: out, and the halos that reach it.
  template <class T>
  starpu_codelet& deliver_codelet();
}
