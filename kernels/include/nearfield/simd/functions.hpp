#pragma once

#include <nearfield/core/math.hpp>

#include <xsimd/xsimd.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

/// \file
/// Functions of packs, without branches: coefficients by tools/fit_functions.py. xsimd's exp divides; its erf and erfc
/// take branches and lose digits, 18,000 units of the last place of erfc near 6 in double.

namespace nearfield::detail
{
  template <class V>
  inline constexpr bool is_of_floats = std::is_same_v<real_of<V>, float>;

  template <class V>
  inline constexpr int fraction_bits = is_of_floats<V> ? 23 : 52;
  template <class V>
  inline constexpr int sign_bit = is_of_floats<V> ? 31 : 63;

  /// Adding it rounds to a whole number, which the last bits of the sum then hold.
  template <class V>
  inline constexpr double rounding = is_of_floats<V> ? 0x1.8p23 : 0x1.8p52;

  /// The bits of a register as whole numbers.
  template <class Whole, int Bytes>
  struct register_of
  {
    typedef Whole type __attribute__((vector_size(Bytes))); // NOLINT
  };

  /// f(bits of x, bits of k) of each register.
  template <class V, class F>
  NEARFIELD_FN V of_bits(V const& x, V const& k, F const& f)
  {
    using batch = typename V::batch;
    using reg = typename batch::register_type;
    using whole = std::conditional_t<is_of_floats<V>, std::uint32_t, std::uint64_t>;
    using bits = typename register_of<whole, sizeof(reg)>::type;
    V y;
    NEARFIELD_UNROLL
    for (int m = 0; m < math<V>::width / V::lanes; ++m)
      y.part[m] =
          batch(__builtin_bit_cast(reg, f(__builtin_bit_cast(bits, static_cast<reg>(x.part[m])),
                                          __builtin_bit_cast(bits, static_cast<reg>(k.part[m])))));
    return y;
  }

  /// 2^n x, and (-1)^n x, where k = n + rounding
  template <class V>
  NEARFIELD_FN V times_power_of_two(V const& x, V const& k)
  {
    return of_bits(x, k, [](auto const& bits, auto const& n) __attribute__((always_inline))
                   { return bits + (n << fraction_bits<V>); });
  }
  template <class V>
  NEARFIELD_FN V times_parity(V const& x, V const& k)
  {
    return of_bits(x, k, [](auto const& bits, auto const& n) __attribute__((always_inline))
                   { return bits ^ (n << sign_bit<V>); });
  }

  /// min(|x|, most), or NaN
  template <class V>
  NEARFIELD_FN V size_up_to(double most, V const& x)
  {
    typename V::batch const end(static_cast<real_of<V>>(most));
    V size;
    NEARFIELD_UNROLL
    for (int m = 0; m < math<V>::width / V::lanes; ++m)
      size.part[m] = xsimd::min(end, xsimd::abs(x.part[m]));
    return size;
  }

  /// e^(x + tail), where |tail| is small: 2^n e^r with |r| <= ln(2) / 2. 0 if the result is no normal number.
  template <class V>
  NEARFIELD_FN V pack_exp(V const& x, V const& tail)
  {
    using limits = std::numeric_limits<real_of<V>>;
    constexpr bool is_float = is_of_floats<V>;
    V const k = x * V(1.44269504088896340736) + V(rounding<V>);
    V const n = k - V(rounding<V>);
    V const high = x - n * V(is_float ? 0.693359375 : 0x1.62e42feep-1);
    V const r = high - n * V(is_float ? -2.12194440054690583e-4 : 0x1.a39ef35793c76p-33) + tail;
    V const y = r * r;
    V p;
    if constexpr (is_float)
      p = polynomial(r, 0.5, 0.1666657703, 0.04166655466, 0.008363173075, 0.001392617612);
    else
      p = polynomial(r, 0.500000000000000102, 0.166666666666666675, 0.0416666666666241619,
                     0.00833333333333006445, 0.00138888889171967191, 0.000198412698630405453,
                     0.0000248015213223686933, 2.75572684803100255e-6, 2.76200758799833666e-7,
                     2.51003758325612337e-8);
    p = V(1) + (r + y * p);
    V const least(is_float ? -87.33654 : -708.396418532264),
        most(is_float ? 88.72283 : 709.78271289338397);
    V const scaled = select_less(x, least, V(0), times_power_of_two(p, k));
    return select_less(most, x, V(limits::infinity()), scaled);
  }

  template <class V>
  NEARFIELD_FN void pack_sin_cos(V const& x, V& sine, V& cosine)
  {
    constexpr bool is_float = is_of_floats<V>;
    // of half the angle, so that no quadrant chooses between sine and cosine; pi / 2 in three parts, the first of
    // few bits
    V const k = x * V(0.318309886183790671538) + V(rounding<V>);
    V const n = k - V(rounding<V>);
    V h = V(0.5) * x - n * V(is_float ? 1.5703125 : 0x1.921fb544p0);
    h = h - n * V(is_float ? 4.837512969970703125e-4 : 0x1.0b4611a6p-34);
    h = h - n * V(is_float ? 7.54978995489e-8 : 0x1.3198a2e037073p-69);
    V const u = h * h;
    V s, c;
    if constexpr (is_float)
    {
      s = polynomial(u, -0.1666666466, 0.008332748154, -0.000195878657);
      c = polynomial(u, 0.04166666466, -0.001388830292, 2.454791685e-5);
    }
    else
    {
      s = polynomial(u, -0.166666666666666646, 0.00833333333333094729, -0.000198412698367567725,
                     2.75573161016178744e-6, -2.50511316502351815e-8, 1.59181152632659752e-10);
      c = polynomial(u, 0.0416666666666666654, -0.00138888888888873965, 0.0000248015872987645608,
                     -2.7557317271145146e-7, 2.08761461465586116e-9, -1.13826236474746046e-11);
    }
    s = h + (h * u) * s;
    c = V(1) + u * (u * c - V(0.5));
    sine = times_parity((s + s) * c, k);
    cosine = times_parity(V(1) - (s + s) * s, k);
  }

  template <class V>
  NEARFIELD_FN V pack_erfc(V const& x)
  {
    constexpr bool is_float = is_of_floats<V>;
    V const a = size_up_to(28, x);
    // high has half the digits of a, so that its square is exact
    V const grid(is_float ? 0x1.8p16 : 0x1.8p31), high = (a + grid) - grid;
    V const y = pack_exp(-(high * high), (high - a) * (high + a)) * erfcx(a);
    return select_less(x, V(0), V(2) - y, y);
  }

  template <class V>
  NEARFIELD_FN V pack_erf(V const& x)
  {
    V const a = size_up_to(28, x), y = a * a;
    V near;
    if constexpr (is_of_floats<V>)
      near =
          polynomial(y, 1.128379158, -0.3761251514, 0.1128102638, -0.02664851414, 0.004514467622);
    else
      near = polynomial(y, 1.12837916709551246, -0.376126389031788193, 0.112837916705893301,
                        -0.0268661705406056428, 0.00522397612743484939, -0.000854820620984845891,
                        0.000120495921658184984, -0.0000147657236359573345, 1.40245454893039573e-6);
    V const far = V(1) - pack_exp(-y, V(0)) * erfcx(a);
    return select_less(a, V(0.6), x * near, select_less(x, V(0), -far, far));
  }
}
