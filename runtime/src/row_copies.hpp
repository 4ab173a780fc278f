#pragma once

#include "codelet.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/where.hpp>

#include <starpu.h>

#include <cstddef>
#include <span>

/// \file
/// Tasks that copy points between the data of a step: packs for other ranks, and what has arrived from them. They run
/// where P2P tasks do, on CPU workers or on the GPU, and are not counted in statistics.

namespace nearfield::starpu::detail
{
  /// Rows [begin, begin + n) of one side. Their places on the other side are list[begin] - base and so on; or those of the
  /// row_runs [first_run, first_run + n_runs) of the list, less base, where rows are gathered; or, without a list, 0, 1 ...
  struct row_copy
  {
    static constexpr std::size_t no_list = ~std::size_t(0);
    std::size_t source, list; ///< buffers of the task, after the target
    index_type begin, n, base;
    index_type first_run = 0, n_runs = 0;
  };

  enum class copy_kind
  {
    gather,  ///< rows of the target come from places of the source
    scatter, ///< rows of the source go to places of the target
    add      ///< the same, added
  };

  struct copy_argument : task_argument
  {
    copy_kind kind;
    int n_columns;
    std::span<row_copy const> copies;
  };

  /// Buffers: the target, which all copies together must fill unless they add or other tasks have
  /// written the other rows, and then what they name.
  template <class T>
  starpu_codelet& copy_codelet(backend where);

  struct upload_argument : task_argument
  {
    std::span<std::byte const> from;
  };

  /// Copies bytes that a GPU is to read, such as a list, on a CPU worker. Buffer: data as long or longer, which it writes.
  /// StarPU pins its memory; a copy to the GPU from where the bytes are would go through one thread of the driver.
  starpu_codelet& upload_codelet();
}
