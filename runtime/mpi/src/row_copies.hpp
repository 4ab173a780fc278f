#pragma once

#include "codelet.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>

#include <starpu.h>

#include <cstddef>
#include <span>

/// \file
/// Tasks that copy points between the data of a step: packs for other ranks, and what has arrived from them. They run
/// on CPU workers and are not counted in statistics.

namespace nearfield::starpu_mpi::detail
{
  /// n points of a source. Row i goes from row (from ? from[i] : i) + from_offset to row (to ? to[i] : i) + to_offset,
  /// modulo 2^32: an offset may be minus the first one of a list.
  struct row_copy
  {
    std::size_t source; ///< of the task
    index_type n;
    index_type const* from;
    index_type from_offset;
    index_type const* to;
    index_type to_offset;
  };

  struct copy_argument : starpu::detail::task_argument
  {
    int n_columns;
    std::span<row_copy const> copies;
    bool adds; ///< to what the target holds
  };

  /// Buffers: the target, which all copies together must fill unless they add, and the sources.
  template <class T>
  starpu_codelet& copy_codelet();
}
