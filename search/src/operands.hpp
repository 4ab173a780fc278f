#pragma once

#include "registers.hpp"
#include "search_kernels.hpp"

#include <nearfield/core/soa.hpp>

#include <type_traits>

/// \file
/// The operands of the loop over pairs. It is written once, for L = lanes<T, Arch>.

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// A register of coordinates. `indices` are those of `index_registers` of them, whose masks join() combines: a
  /// register that can be compressed holds the indices of two of doubles.
  template <class T, class Arch>
  struct lanes
  {
    using real = T;
    using reg = xsimd::batch<T, Arch>;
    using raw = typename reg::register_type;
    using raw_bool = typename xsimd::batch_bool<T, Arch>::register_type;
    using index_reg = xsimd::batch<index_type, Arch>;
    using sums = typename index_reg::register_type;
    static constexpr int width = static_cast<int>(reg::size);
    static constexpr bool has_compress = sizeof(reg) > 16;
    static constexpr int index_registers = has_compress && sizeof(T) == 8 ? 2 : 1;
    using indices = std::conditional_t<has_compress, index_reg, index_type const*>;

    static NEARFIELD_FN reg load(T const* p) { return reg::load_unaligned(p); }
    static NEARFIELD_FN unsigned less(reg a, reg b) { return bits_of(raw_bool(a < b)); }
    static NEARFIELD_FN int count(unsigned mask)
    {
      if constexpr (has_compress)
        return __builtin_popcount(mask);
      else if constexpr (width == 4)
        return 0x4332322132212110 >> (4 * mask) & 7; // SSE2 has no instruction for it
      else
        return static_cast<int>((mask + 1) >> 1);
    }
    static NEARFIELD_FN sums no_sum() { return index_reg(index_type(0)); }
    static NEARFIELD_FN sums add_less(sums sum, reg a, reg b)
    {
      return add_true(sum, raw_bool(a < b));
    }
    static NEARFIELD_FN index_type total(sums sum) { return sum_words(sum); }
    static NEARFIELD_FN unsigned join(unsigned low, unsigned high)
    {
#if defined(__AVX512F__)
      if constexpr (width == 8)
        return _mm512_kunpackb(static_cast<__mmask16>(high), static_cast<__mmask16>(low));
      else
#endif
        return low | high << width;
    }
    static NEARFIELD_FN indices load_indices(index_type const* p)
    {
      if constexpr (has_compress)
        return index_reg::load_unaligned(p);
      else
        return p;
    }
    static NEARFIELD_FN void compress(index_reg from, unsigned mask, index_type* to)
    {
      compress_register(sums(from), mask, to);
    }
    static NEARFIELD_FN void compress(index_type const* from, unsigned mask, index_type* to)
    {
      compress_indices<width>(from, mask, to);
    }
    static NEARFIELD_FN void compress(reg from, unsigned mask, T* to)
    {
      if constexpr (has_compress)
        compress_register(raw(from), mask, to);
      else
      {
        T lane[width];
        from.store_unaligned(lane);
        store_each<width>(lane, mask, to);
      }
    }
  };

  /// One value: the scalar back-end.
  template <class T>
  struct lanes<T, void>
  {
    using real = T;
    using reg = T;
    using sums = index_type;
    using indices = index_type const*;
    static constexpr int width = 1;
    static constexpr int index_registers = 1;

    static NEARFIELD_FN reg load(T const* p) { return *p; }
    static NEARFIELD_FN unsigned less(reg a, reg b) { return a < b; }
    static NEARFIELD_FN int count(unsigned mask) { return static_cast<int>(mask); }
    static NEARFIELD_FN sums no_sum() { return 0; }
    static NEARFIELD_FN sums add_less(sums sum, reg a, reg b) { return sum + (a < b); }
    static NEARFIELD_FN index_type total(sums sum) { return sum; }
    static NEARFIELD_FN indices load_indices(index_type const* p) { return p; }
    static NEARFIELD_FN void compress(index_type const* from, unsigned, index_type* to)
    {
      *to = *from;
    }
    static NEARFIELD_FN void compress(reg from, unsigned, T* to) { *to = from; }
  };

  /// Another image of the sources than the one that was given.
  template <class L, int Dim>
  struct image
  {
    typename L::reg shift[Dim];
    bool is_positive; ///< a half list keeps this image of a point of its own, not the opposite one
  };

  template <class L, int Dim, int B>
  struct target_registers
  {
    typename L::reg x[B][Dim];

    NEARFIELD_FN target_registers(soa<typename L::real const, Dim> const& points, index_type first)
    {
      NEARFIELD_UNROLL
      for (int b = 0; b < B; ++b)
      {
        NEARFIELD_UNROLL
        for (int a = 0; a < Dim; ++a) x[b][a] = typename L::reg(points[a][first + b]);
      }
    }
  };

  /// The square of the cutoff for the lanes of a step that hold a source, and -1, which no r^2 is below, for
  /// the `absent` ones after them. A step is one register or two.
  template <class L>
  class cutoff_window
  {
  public:
    explicit cutoff_window(typename L::real squared)
    {
      for (int l = 0; l < 2 * widest; ++l) values_[l] = l < widest ? squared : typename L::real(-1);
    }
    /// for a step of this width with all lanes; with absent lanes, start as many places later
    template <int Width>
    [[nodiscard]] typename L::real const* lanes() const
    {
      return values_ + (widest - Width);
    }

  private:
    static constexpr int widest = L::index_registers * L::width;
    typename L::real values_[2 * widest];
  };

  /// The input of a sweep.
  template <class L, int Dim>
  struct source_columns
  {
    typename L::real const* x[Dim];
    index_type const* ids;
    typename L::real const* cutoff_squared; // from a cutoff_window
    search_step const* steps;
  };
}
