#pragma once

#include <nearfield/runtime/plan.hpp>
#include <nearfield/starpu/codelet.hpp>
#include <nearfield/starpu/handles.hpp>

#include <algorithm>
#include <span>
#include <vector>

/// \file
/// Between the caller's arrays, in the caller's order, and the data of a step, in tree order.

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// chunk(i, c) = from[c][order[begin + i]]
  template <class T>
  struct collect_operation
  {
    using real = T;
    static constexpr char const* name = "collect";
    static constexpr char const* range_name = "upload";

    struct argument
    {
      std::span<T const* const> from;
      std::span<index_type const> order; ///< of the points of the chunk
      monitor* watch = nullptr;
    };

    static void run(argument const& argument, void** buffers)
    {
      columns<T> const chunk(buffers[0], static_cast<int>(argument.from.size()));
      for (std::size_t c = 0; c < argument.from.size(); ++c)
      {
        T const* const from = argument.from[c];
        T* const to = chunk[static_cast<int>(c)];
        for (index_type i = 0; i < chunk.n; ++i) to[i] = from[argument.order[i]];
      }
    }
  };

  /// to[c][order[i]] = out(i, c) and what other groups have computed for it, or += .
  template <class T>
  struct deliver_operation
  {
    using real = T;
    static constexpr char const* name = "deliver";
    static constexpr char const* range_name = "download";

    struct argument
    {
      std::span<T* const> to;
      std::span<index_type const> order; ///< of the points of the group
      std::span<nearfield::detail::halo_piece const> pieces;
      bool accumulate = false;
      monitor* watch = nullptr;
    };

    static void run(argument const& argument, void** buffers)
    {
      int const n_columns = static_cast<int>(argument.to.size());
      columns<T const> const out(buffers[0], n_columns);
      std::vector<T> sums(out.n);
      for (int c = 0; c < n_columns; ++c)
      {
        std::copy_n(out[c], out.n, sums.begin());
        for (auto const& piece : argument.pieces)
        {
          T const* const halo = columns<T const>(buffers[1 + piece.halo], n_columns)[c];
          for (index_type i = 0; i < piece.size; ++i)
            sums[piece.begin + i] += halo[piece.halo_begin + i];
        }
        T* const to = argument.to[static_cast<std::size_t>(c)];
        if (argument.accumulate)
          for (index_type i = 0; i < out.n; ++i) to[argument.order[i]] += sums[i];
        else
          for (index_type i = 0; i < out.n; ++i) to[argument.order[i]] = sums[i];
      }
    }
  };
}
