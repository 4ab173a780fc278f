#pragma once

#include "codelet.hpp"
#include "kernels/src/p2p/plan.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>

#include <starpu.h>

#include <cstddef>
#include <optional>
#include <vector>

/// \file
/// Tasks of a GPU that bring the caller's columns into the order of own points, and back. Columns are there in pieces of
/// equal size, in the caller's order, so that no CPU worker reads or writes them at places all over the memory.

namespace nearfield::starpu::detail
{
  /// Of tasks over pieces.
  struct pieces_argument : task_argument
  {
    int worker = -1; ///< the only one; -1: any
    std::size_t n_pieces = 0;
    int shift = 0; ///< a piece has 2^shift rows; the last one has what is left
  };

  struct caller_rows_argument : pieces_argument
  {
    bool to_caller = false; ///< or from it
    bool clears = true;     ///< the pieces, before it writes them
    int n_columns = 0;
    index_type const* list = nullptr; ///< in the memory of the GPU; null: a buffer has the list
    /// own points whose data the task reads or writes, and these data; none: there is no task
    std::vector<nearfield::detail::point_interval> points;
    std::vector<starpu_data_handle_t> data;

    void add(nearfield::detail::point_interval const& of, starpu_data_handle_t its_data)
    {
      if (of.size() == 0) return;
      points.push_back(of);
      data.push_back(its_data);
    }
  };

  /// Columns that the caller has pinned, which cross the bus from there, or to it.
  template <class T>
  struct pinned_columns_argument : pieces_argument
  {
    std::optional<strided<T const, run_time_columns>> from; ///< to the pieces, or
    std::optional<strided<T, run_time_columns>> to;         ///< from there
    std::size_t first_piece = 0;
  };

  /// Copies pieces from pinned columns, or to them. Buffers: the pieces, and what orders deliveries.
  template <class T>
  starpu_codelet& pinned_columns_codelet();

  /// Own point i belongs to row list[i] of the caller, or to another rank's if that is no_row. All data of a GPU in one
  /// task: each needs all pieces. Buffers: the data, the pieces and, maybe, the list.
  template <class T>
  starpu_codelet& caller_rows_codelet();
}
