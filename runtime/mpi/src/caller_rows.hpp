#pragma once

#include "codelet.hpp"

#include <nearfield/core/boxes.hpp>

#include <starpu.h>

#include <cstddef>

/// \file
/// Tasks of a GPU that bring the caller's columns into the order of own points, and back. Columns are there in pieces of
/// equal size, in the caller's order, so that no CPU worker reads or writes them at places all over the memory.

namespace nearfield::starpu_mpi::detail
{
  struct caller_rows_argument : starpu::detail::task_argument
  {
    bool to_caller = false; ///< or from it
    bool clears = false;    ///< to_caller: sets the pieces to 0 before
    bool has_places = false;
    std::size_t n_pieces = 0;
    int n_columns = 0, shift = 0; ///< a piece has 2^shift rows; the last one has what is left
    index_type n = 0;             ///< rows; 0: there is no task
    index_type base = 0;          ///< the place where the data of the group begin
    index_type first_place = 0;   ///< without places: of the first row; the others follow it
  };

  /// Row p of the data of a group belongs to row list[i] of the caller, where p is places[i] - base.
  /// Buffers: the data, the list, the places if there are some, and the pieces.
  template <class T>
  starpu_codelet& caller_rows_codelet();
}
