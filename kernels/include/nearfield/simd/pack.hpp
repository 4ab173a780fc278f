#pragma once

#include <nearfield/core/math.hpp>
#include <nearfield/simd/functions.hpp>
#include <nearfield/simd/registers.hpp>

#include <xsimd/xsimd.hpp>

#include <cstddef>
#include <type_traits>

namespace nearfield
{
  /// M registers of one instruction set used as one value. Every operation is done on all of them before the
  /// next one starts, so their dependency chains interleave.
  template <class T, class Arch, int M>
  struct pack
  {
    using batch = xsimd::batch<T, Arch>; ///< one register
    /// the number of lanes of one register
    static constexpr int lanes = static_cast<int>(batch::size);

    batch part[M]; ///< the registers

    pack() = default;

    /// Sets all lanes to one value; a number converts, so that it may stand beside packs.
    template <class Real>
      requires std::is_arithmetic_v<Real>
    NEARFIELD_FN pack(Real value) // NOLINT
    {
      batch const all(static_cast<T>(value));
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m) part[m] = all;
    }

    friend NEARFIELD_FN pack operator+(pack const& a, pack const& b)
    {
      pack c;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m) c.part[m] = a.part[m] + b.part[m];
      return c;
    }
    friend NEARFIELD_FN pack operator-(pack const& a, pack const& b)
    {
      pack c;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m) c.part[m] = a.part[m] - b.part[m];
      return c;
    }
    friend NEARFIELD_FN pack operator*(pack const& a, pack const& b)
    {
      pack c;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m) c.part[m] = a.part[m] * b.part[m];
      return c;
    }
    friend NEARFIELD_FN pack operator/(pack const& a, pack const& b)
    {
      pack c;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m) c.part[m] = a.part[m] / b.part[m];
      return c;
    }
    friend NEARFIELD_FN pack operator-(pack const& a)
    {
      pack c;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m)
        // the compiler's own negation folds into fnma and fms, unlike xsimd's exclusive or
        c.part[m] = batch(-static_cast<typename batch::register_type>(a.part[m]));
      return c;
    }
  };

  namespace detail
  {
    template <class Arch>
    inline constexpr bool is_avx512 = std::is_base_of_v<xsimd::avx512f, Arch>;

    /// Whether a register of doubles has a seed of its own; elsewhere pairs of registers
    /// are seeded through floats.
    template <class Arch>
    inline constexpr bool seeds_doubles = is_avx512<Arch> || std::is_base_of_v<xsimd::neon64, Arch>;
  }

  /// \cond As math<T>, for every lane.
  template <class T, class Arch, int M>
  struct math<pack<T, Arch, M>>
  {
    using real = T;
    using V = pack<T, Arch, M>;
    using batch = typename V::batch;

    static constexpr int width = M * V::lanes;

    static NEARFIELD_FN V load(T const* p)
    {
      V v;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m) v.part[m] = batch::load_unaligned(p + m * V::lanes);
      return v;
    }
    static NEARFIELD_FN void store(T* p, V const& v)
    {
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m) v.part[m].store_unaligned(p + m * V::lanes);
    }
    /// Lanes [0, n) from p, the others from rest; reads nothing past p + n.
    static NEARFIELD_FN V load_first(T const* p, int n, V const& rest)
      requires requires(typename batch::register_type r) { detail::load_first(p, n, r); }
    {
      using reg = typename batch::register_type;
      V v;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m)
        v.part[m] = batch(
            detail::load_first(p + m * V::lanes, n - m * V::lanes, static_cast<reg>(rest.part[m])));
      return v;
    }

    // As groups of four lanes, simd/registers.hpp.
    static constexpr int groups = width / 4;
    static NEARFIELD_FN V repeat_four(T const* p, int n, T rest)
      requires requires(typename batch::register_type r) { detail::repeat_four(p, n, rest, r); }
    {
      V v;
      typename batch::register_type part;
      detail::repeat_four(p, n, rest, part);
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m) v.part[m] = batch(part);
      return v;
    }
    static NEARFIELD_FN V spread(T const* p, unsigned const* at)
    {
      V v;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m)
      {
        typename batch::register_type part;
        detail::spread(p, at + m * (V::lanes / 4), part);
        v.part[m] = batch(part);
      }
      return v;
    }
    static NEARFIELD_FN void add_in_groups(V const& v, T* to)
    {
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m)
        detail::add_in_groups(static_cast<typename batch::register_type>(v.part[m]),
                              to + m * (V::lanes / 4));
    }
    static NEARFIELD_FN void add_groups(V const& v, T* to)
    {
      batch total = v.part[0];
      NEARFIELD_UNROLL
      for (int m = 1; m < M; ++m) total = total + v.part[m];
      detail::add_groups(static_cast<typename batch::register_type>(total), to);
    }

    /// Whether there is transpose_four(), simd/registers.hpp.
    static constexpr bool transposes =
        requires(T const* from, T* const* to) { detail::transpose_four(from, 1, to, 0); };
    static NEARFIELD_FN void transpose_four(T const* from, std::ptrdiff_t stride, T* const* to,
                                            unsigned j)
    {
      detail::transpose_four(from, stride, to, j);
    }

    static NEARFIELD_FN T sum(V const& v)
    {
      batch total = v.part[0];
      NEARFIELD_UNROLL
      for (int m = 1; m < M; ++m) total = total + v.part[m];
#if XSIMD_VERSION_MAJOR >= 9
      return xsimd::reduce_add(total);
#else
      return xsimd::hadd(total);
#endif
    }

    /// to[i] = sum(v[i]) for N values, a register of them at a time: a third of the instructions of sum()
    template <int N>
    static NEARFIELD_FN void sums(T* to, V const* v)
    {
      using reg = typename batch::register_type;
      NEARFIELD_UNROLL
      for (int i = 0; i < N; i += V::lanes)
      {
        batch rows[V::lanes];
        reg registers[V::lanes];
        NEARFIELD_UNROLL
        for (int row = 0; row < V::lanes; ++row)
        {
          rows[row] = i + row < N ? v[i + row].part[0] : batch(T(0));
          NEARFIELD_UNROLL
          for (int m = 1; m < M; ++m)
            if (i + row < N) rows[row] = rows[row] + v[i + row].part[m];
          registers[row] = static_cast<reg>(rows[row]);
        }
        T all[V::lanes];
        if constexpr (requires { detail::sums_of_rows(registers); })
          batch(detail::sums_of_rows(registers)).store_unaligned(all);
        else
          xsimd::haddp(rows).store_unaligned(all);
        NEARFIELD_UNROLL
        for (int row = 0; row < V::lanes; ++row)
          if (i + row < N) to[i + row] = all[row];
      }
    }

    static NEARFIELD_FN V sqrt(V const& x)
    {
      return each(x, [](batch const& part) __attribute__((always_inline))
                  { return xsimd::sqrt(part); });
    }
    static NEARFIELD_FN V exp(V const& x) { return detail::pack_exp(x, V(0)); }
    static NEARFIELD_FN V log(V const& x)
    {
      return each(x, [](batch const& part) __attribute__((always_inline))
                  { return xsimd::log(part); });
    }
    static NEARFIELD_FN V sin(V const& x)
    {
      return each(x, [](batch const& part) __attribute__((always_inline))
                  { return xsimd::sin(part); });
    }
    static NEARFIELD_FN V cos(V const& x)
    {
      return each(x, [](batch const& part) __attribute__((always_inline))
                  { return xsimd::cos(part); });
    }
    static NEARFIELD_FN void sin_cos(V const& x, V& sine, V& cosine)
    {
      detail::pack_sin_cos(x, sine, cosine);
    }
    static NEARFIELD_FN V erf(V const& x) { return detail::pack_erf(x); }
    static NEARFIELD_FN V erfc(V const& x) { return detail::pack_erfc(x); }
    static NEARFIELD_FN V keep_nonzero(V const& x, V const& y)
    {
      using reg = typename batch::register_type;
      V kept;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m)
        kept.part[m] =
            batch(detail::keep_nonzero(static_cast<reg>(x.part[m]), static_cast<reg>(y.part[m])));
      return kept;
    }

    static NEARFIELD_FN V keep_less(V const& a, V const& b, V const& y)
    {
      return select_less(a, b, y, V(0));
    }
    static NEARFIELD_FN V select_less(V const& a, V const& b, V const& y, V const& z)
    {
      V selected;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m)
        selected.part[m] = xsimd::select(a.part[m] < b.part[m], y.part[m], z.part[m]);
      return selected;
    }

    static NEARFIELD_FN bool any_less(V const& a, V const& b)
    {
      auto is_less = a.part[0] < b.part[0];
      NEARFIELD_UNROLL
      for (int m = 1; m < M; ++m) is_less = is_less | (a.part[m] < b.part[m]);
      return xsimd::any(is_less);
    }

    static NEARFIELD_FN V lookup(T const* table, int n, V const& i)
    {
      using reg = typename batch::register_type;
      V found;
      if constexpr (requires(reg r) { detail::lookup(table, r); })
      {
        batch const zero(T(0)), last(static_cast<T>(n - 1));
        NEARFIELD_UNROLL
        for (int m = 0; m < M; ++m) // of NaN and a number, the x86 maximum is the second operand
          found.part[m] = batch(detail::lookup(
              table, static_cast<reg>(xsimd::min(xsimd::max(i.part[m], zero), last))));
        return found;
      }
      else
      {
        T lanes[width];
        store(lanes, i);
        NEARFIELD_UNROLL
        for (int lane = 0; lane < width; ++lane)
          lanes[lane] = math<T>::lookup(table, n, lanes[lane]);
        return load(lanes);
      }
    }

    /// Whether roots start from a seed: the register type has one.
    static constexpr bool seeded = requires(typename batch::register_type r) {
      detail::rsqrt_seed(r);
    } || (std::is_same_v<T, double> && M % 2 == 0 && requires(typename batch::register_type r) {
                                     detail::rsqrt_seed_pair(r, r);
                                   });

    static constexpr double root_scale = !seeded                       ? 1
                                         : std::is_same_v<T, float>    ? 2
                                         : detail::seeds_doubles<Arch> ? 3.2
                                                                       : 8. / 3;

    static NEARFIELD_FN V scaled_rsqrt(V const& x)
    {
      if constexpr (!seeded)
        return V(1) / sqrt(x);
      else if constexpr (std::is_same_v<T, float>)
        return newton(x, seed(x), V(3)); // 2 / sqrt
      else if constexpr (detail::seeds_doubles<Arch>)
        return fourth_order(x, seed(x)); // 16/5 / sqrt
      else
      {
        V y = x;
        NEARFIELD_UNROLL
        for (int m = 0; m < M; m += 2) seed_pair(y.part[m], y.part[m + 1]);
        return third_order(x, y); // 8/3 / sqrt
      }
    }

    static NEARFIELD_FN V rsqrt(V const& x)
    {
      if constexpr (seeded)
        return V(1 / root_scale) * scaled_rsqrt(x);
      else
        return V(1) / sqrt(x);
    }

  private:
    /// f of each register.
    template <class F>
    static NEARFIELD_FN V each(V const& x, F f)
    {
      V y;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m) y.part[m] = f(x.part[m]);
      return y;
    }

    /// y (c - x y^2), with x y formed before the second y: y^2 alone would leave the normal range at the ends.
    static NEARFIELD_FN V newton(V const& x, V const& y, V const& c)
    {
      V result;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m)
        result.part[m] = y.part[m] * xsimd::fnma(x.part[m] * y.part[m], y.part[m], c.part[m]);
      return result;
    }

    /// y (35 - 35 h + 21 h^2 - 5 h^3) / 5 with h = x y^2, the step that raises the error of the seed to the fourth power: 35/128
    /// (2^-13)^4 at most. As a depressed cubic it takes one operation less than two Newton steps.
    static NEARFIELD_FN V fourth_order(V const& x, V const& y)
    {
      batch const shift(1.4), slope(1.12), rest(2.688);
      V result;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m)
      {
        batch const g = xsimd::fms(x.part[m] * y.part[m], y.part[m], shift);
        result.part[m] = y.part[m] * xsimd::fnma(g, xsimd::fma(g, g, slope), rest);
      }
      return result;
    }

    /// y (3 h^2 - 10 h + 15) / 3 with h = x y^2, the step that cubes the error of the seed, as a
    /// completed square. It takes one operation more than newton, which would leave an error of 2e-13
    /// from a seed good to 2^-21.
    static NEARFIELD_FN V third_order(V const& x, V const& y)
    {
      batch const shift(T(5) / T(3)), rest(T(20) / T(9));
      V result;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m)
      {
        batch const g = xsimd::fms(x.part[m] * y.part[m], y.part[m], shift);
        result.part[m] = y.part[m] * xsimd::fma(g, g, rest);
      }
      return result;
    }

    static NEARFIELD_FN V seed(V const& x)
    {
      V y;
      NEARFIELD_UNROLL
      for (int m = 0; m < M; ++m)
        y.part[m] =
            batch(detail::rsqrt_seed(static_cast<typename batch::register_type>(x.part[m])));
      return y;
    }

    static NEARFIELD_FN void seed_pair(batch& a, batch& b)
    {
      auto first = static_cast<typename batch::register_type>(a);
      auto second = static_cast<typename batch::register_type>(b);
      detail::rsqrt_seed_pair(first, second);
      a = batch(first);
      b = batch(second);
    }
  };
  /// \endcond
}

/// \cond Not the library's to declare, but what an interaction calls that was written for double.
namespace std
{
  template <class T, class Arch, int M>
  NEARFIELD_FN auto sqrt(nearfield::pack<T, Arch, M> const& x)
  {
    return nearfield::sqrt(x);
  }
  template <class T, class Arch, int M>
  NEARFIELD_FN auto exp(nearfield::pack<T, Arch, M> const& x)
  {
    return nearfield::exp(x);
  }
  template <class T, class Arch, int M>
  NEARFIELD_FN auto log(nearfield::pack<T, Arch, M> const& x)
  {
    return nearfield::log(x);
  }
  template <class T, class Arch, int M>
  NEARFIELD_FN auto sin(nearfield::pack<T, Arch, M> const& x)
  {
    return nearfield::sin(x);
  }
  template <class T, class Arch, int M>
  NEARFIELD_FN auto cos(nearfield::pack<T, Arch, M> const& x)
  {
    return nearfield::cos(x);
  }
  template <class T, class Arch, int M>
  NEARFIELD_FN auto erf(nearfield::pack<T, Arch, M> const& x)
  {
    return nearfield::erf(x);
  }
  template <class T, class Arch, int M>
  NEARFIELD_FN auto erfc(nearfield::pack<T, Arch, M> const& x)
  {
    return nearfield::erfc(x);
  }
}
/// \endcond
