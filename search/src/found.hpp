#pragma once

#include "operands.hpp"
#include "search_kernels.hpp"

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  inline constexpr int counts_only = -1;

  /// The number of sources of a step. For indices alone, a register holds those of two registers of 64-bit
  /// coordinates, which halves the number of compressions.
  template <class L, int Content>
  inline constexpr int step_registers = Content == 0 ? L::index_registers : 1;
  template <class L, int Content>
  inline constexpr int step_width = step_registers<L, Content> * L::width;

  /// Counts, or stores, what a block of B targets finds.
  template <class L, int Dim, int B, int Content>
  struct found;

  template <class L, int Dim, int B>
  struct found<L, Dim, B, counts_only>
  {
    index_type n[B] = {};
    typename L::sums sums[B];

    NEARFIELD_FN explicit found(search_scratch const&)
    {
      NEARFIELD_UNROLL
      for (int b = 0; b < B; ++b) sums[b] = L::no_sum();
    }
    NEARFIELD_FN index_type total(int b) const { return n[b] + L::total(sums[b]); }
  };

  template <class L, int Dim, int B>
  struct found<L, Dim, B, 0>
  {
    index_type* first;
    std::size_t stride;
    index_type* next[B]; // one register per row, where a start and a number would take two

    NEARFIELD_FN explicit found(search_scratch const& scratch)
        : first(scratch.j), stride(scratch.stride)
    {
      NEARFIELD_UNROLL
      for (int b = 0; b < B; ++b) next[b] = indices(b);
    }
    NEARFIELD_FN void add(int b, unsigned mask, typename L::indices ids)
    {
      L::compress(ids, mask, next[b]);
      next[b] += L::count(mask);
    }
    NEARFIELD_FN index_type* indices(int b) const
    {
      return first + static_cast<std::size_t>(b) * stride;
    }
    NEARFIELD_FN typename L::real* values(int, int) const { return nullptr; }
    NEARFIELD_FN index_type total(int b) const
    {
      return static_cast<index_type>(next[b] - indices(b));
    }
  };

  template <class L, int Dim, int B, int Content>
  struct found
  {
    using T = typename L::real;
    static constexpr int columns = Content == 1 ? 1 : 1 + Dim;

    std::size_t n[B] = {};
    index_type* j[B];
    T* value[B];
    std::size_t stride;

    NEARFIELD_FN explicit found(search_scratch const& scratch) : stride(scratch.stride)
    {
      NEARFIELD_UNROLL
      for (int b = 0; b < B; ++b)
      {
        j[b] = scratch.j + b * stride;
        value[b] = static_cast<T*>(scratch.values) + b * columns * stride;
      }
    }
    NEARFIELD_FN void add(int b, unsigned mask, index_type const* ids, typename L::reg r2,
                          typename L::reg const* d)
    {
      L::compress(ids, mask, j[b] + n[b]);
      L::compress(r2, mask, value[b] + n[b]);
      if constexpr (Content > 1)
      {
        NEARFIELD_UNROLL
        for (int a = 0; a < Dim; ++a) L::compress(d[a], mask, value[b] + (1 + a) * stride + n[b]);
      }
      n[b] += static_cast<unsigned>(L::count(mask));
    }
    NEARFIELD_FN index_type* indices(int b) const { return j[b]; }
    NEARFIELD_FN T* values(int b, int column) const { return value[b] + column * stride; }
    NEARFIELD_FN index_type total(int b) const { return static_cast<index_type>(n[b]); }
  };
}
