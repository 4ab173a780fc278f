#pragma once

#include "codelet.hpp"
#include "kernels/src/p2p/plan.hpp"

#include <nearfield/core/soa.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>

/// \file
/// Tasks that copy between the caller's arrays, in the caller's order, and the data of a step, in tree order.
/// They run on CPU workers, or on the GPU that has the arrays, and are not counted in statistics.

namespace nearfield::starpu::detail
{
  /// chunk(i, c) = from[c][order[i]], plus moves[i][c] of the first three columns if there are moves; or from[c][points->begin + i]
  template <class T>
  struct collect_argument : task_argument
  {
    strided<T const, run_time_columns> from;
    std::span<index_type const> order; ///< caller's indices of the points of the chunk
    std::optional<nearfield::detail::point_interval> points =
        std::nullopt; ///< in place of an order
    std::span<std::array<double, 3> const> moves = {};
  };

  /// Buffer: the chunk, which it writes. On the only GPU: from points, in columns that are in its memory.
  template <class T>
  NEARFIELD_API starpu_codelet& collect_codelet(backend where = backend::scalar);

  /// to[c][order[i]] = out(i, c) + the pieces of halos for point i; += with `accumulate`. Or, without halos,
  /// to[c][points->begin + i] = out(i, c).
  template <class T>
  struct deliver_argument : task_argument
  {
    strided<T, run_time_columns> to;
    std::span<index_type const> order; ///< caller's indices of the points of the group
    std::span<nearfield::detail::halo_piece const> pieces;
    bool accumulate = false;
    std::optional<nearfield::detail::point_interval> points =
        std::nullopt; ///< in place of an order
  };

  /// Buffers: out, then the halos that reach it.
  template <class T>
  NEARFIELD_API starpu_codelet& deliver_codelet();
}
