#pragma once

#include "codelet.hpp"
#include "columns.hpp"
#include "plan.hpp"

#include <nearfield/core/soa.hpp>
#include <nearfield/tree/permutation.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// \file
/// Tasks that copy between the caller's arrays, in the caller's order, and the data of a step, in tree order.
/// They run on CPU workers and are not counted in statistics.

namespace nearfield::starpu::detail
{
  /// to(begin + i, c) = from[c][order[i]]
  template <class T>
  void gather_columns(strided<T const, run_time_columns> const& from,
                      std::span<index_type const> order, columns<T> const& to, index_type begin)
  {
    for (int c = 0; c < from.columns().width(); ++c)
    {
      auto const column = from[c];
      T* const out = to[c] + begin;
      for (std::size_t i = 0; i < order.size(); ++i) out[i] = column[order[i]];
    }
  }

  /// chunk(i, c) = from[c][order[i]], or from[c][points->begin + i]
  template <class T>
  struct collect_argument : task_argument
  {
    strided<T const, run_time_columns> from;
    std::span<index_type const> order; ///< caller's indices of the points of the chunk
    std::optional<nearfield::detail::point_interval> points =
        std::nullopt; ///< in place of an order
  };

  /// Buffer: the chunk, which it writes.
  template <class T>
  NEARFIELD_API starpu_codelet& collect_codelet();

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

  /// Does so on the calling thread; halos(h) are the columns of halo h.
  template <class T, class Halos>
  void deliver_group(deliver_argument<T> const& what, columns<T const> const& out,
                     Halos const& halos)
  {
    std::vector<T> with_halos;
    for (int c = 0; c < what.to.columns().width(); ++c)
    {
      T const* sums = out[c];
      if (!what.pieces.empty())
      {
        with_halos.assign(sums, sums + out.n);
        sums = with_halos.data();
      }
      for (auto const& piece : what.pieces)
      {
        // pointers: an index of 32 bits may wrap, which keeps the compiler from vectorising
        T* const sum = with_halos.data() + piece.begin;
        T const* const halo = columns<T const>(halos(piece.halo))[c] + piece.halo_begin;
        for (index_type i = 0; i < piece.size; ++i) sum[i] += halo[i];
      }
      auto const add = [](T& to, T sum)
      {
        to += sum;
      };
      if (what.accumulate)
        nearfield::detail::put_in_order(what.order, sums, what.to[c], add);
      else
        nearfield::detail::put_in_order(what.order, sums, what.to[c], nearfield::detail::assign{});
    }
  }

  /// Buffers: out, then the halos that reach it.
  template <class T>
  NEARFIELD_API starpu_codelet& deliver_codelet();
}
