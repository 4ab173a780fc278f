#pragma once

#include "codelet.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>

#include <starpu.h>

#include <cstddef>
#include <optional>

/// \file
/// Tasks of a GPU that bring the caller's columns into the order of own points, and back. Columns are there in pieces of
/// equal size, in the caller's order, so that no CPU worker reads or writes them at places all over the memory.

namespace nearfield::starpu::detail
{
  struct caller_rows_argument : task_argument
  {
    bool to_caller = false; ///< or from it
    bool clears = false;    ///< to_caller: sets the pieces to 0 before
    std::size_t n_pieces = 0;
    int n_columns = 0, shift = 0;     ///< a piece has 2^shift rows; the last one has what is left
    index_type const* list = nullptr; ///< in the memory of the GPU; null: a buffer has the list
    index_type first = 0;             ///< of the list in the buffer
    index_type n = 0;                 ///< rows; 0: there is no task
  };

  /// Columns that the caller has pinned, which cross the bus from there, or to it.
  template <class T>
  struct pinned_columns_argument : task_argument
  {
    std::optional<strided<T const, run_time_columns>> from; ///< to the pieces, or
    std::optional<strided<T, run_time_columns>> to;         ///< from there
    std::size_t n_pieces = 0;
    int shift = 0; ///< as of caller_rows_argument
  };

  /// Copies all pieces between them and pinned columns. Buffers: the pieces, and what orders deliveries.
  template <class T>
  starpu_codelet& pinned_columns_codelet();

  /// Row i of the data of a group, or of a chunk of sources, belongs to row list[i] of the caller, or to another rank's if that is no_row.
  /// Buffers: the data, the pieces and, maybe, what has the list.
  template <class T>
  starpu_codelet& caller_rows_codelet();
}
