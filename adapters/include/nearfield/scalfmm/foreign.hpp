#pragma once

#include <nearfield/core/math.hpp>

#include <type_traits>

namespace nearfield::scalfmm3::detail
{
  /// A SIMD batch of another library as a value type of interactions. Its functions (sqrt, exp, log,
  /// select) are found by argument-dependent lookup, so no header of that library is needed here.
  template <class Batch>
  struct foreign
  {
    Batch value;

    foreign() = default;
    NEARFIELD_FN explicit foreign(Batch const& v) : value(v) {}
    template <class Real>
    requires std::is_arithmetic_v<Real> NEARFIELD_FN explicit foreign(Real v)
        : value(static_cast<typename Batch::value_type>(v))
    {}
    NEARFIELD_FN explicit operator Batch() const { return value; }

    friend NEARFIELD_FN foreign operator+(foreign const& a, foreign const& b)
    {
      return foreign(Batch(a.value + b.value));
    }
    friend NEARFIELD_FN foreign operator-(foreign const& a, foreign const& b)
    {
      return foreign(Batch(a.value - b.value));
    }
    friend NEARFIELD_FN foreign operator*(foreign const& a, foreign const& b)
    {
      return foreign(Batch(a.value * b.value));
    }
    friend NEARFIELD_FN foreign operator/(foreign const& a, foreign const& b)
    {
      return foreign(Batch(a.value / b.value));
    }
    friend NEARFIELD_FN foreign operator-(foreign const& a) { return foreign(Batch(-a.value)); }
  };

  // outside math<>, whose members of the same names would hide the batch's functions
  template <class Batch>
  NEARFIELD_FN Batch sqrt_of(Batch const& b)
  {
    return sqrt(b);
  }
  template <class Batch>
  NEARFIELD_FN Batch exp_of(Batch const& b)
  {
    return exp(b);
  }
  template <class Batch>
  NEARFIELD_FN Batch log_of(Batch const& b)
  {
    return log(b);
  }
  template <class Mask, class Batch>
  NEARFIELD_FN Batch keep(Mask const& mask, Batch const& b)
  {
    return select(mask, b, Batch(typename Batch::value_type(0)));
  }

  /// The value type that an interaction computes with for coordinates of type V.
  template <class V>
  using value_type_of = std::conditional_t<std::is_floating_point_v<V>, V, foreign<V>>;
}

namespace nearfield
{
  template <class Batch>
  struct math<scalfmm3::detail::foreign<Batch>>
  {
    using V = scalfmm3::detail::foreign<Batch>;
    using real = typename Batch::value_type;

    static NEARFIELD_FN V rsqrt(V const& x) { return V(1) / sqrt(x); }
    static NEARFIELD_FN V sqrt(V const& x) { return V(scalfmm3::detail::sqrt_of(x.value)); }
    static NEARFIELD_FN V exp(V const& x) { return V(scalfmm3::detail::exp_of(x.value)); }
    static NEARFIELD_FN V log(V const& x) { return V(scalfmm3::detail::log_of(x.value)); }
    static NEARFIELD_FN V keep_nonzero(V const& x, V const& y)
    {
      return V(scalfmm3::detail::keep(x.value != Batch(real(0)), y.value));
    }
    static NEARFIELD_FN V keep_less(V const& a, V const& b, V const& y)
    {
      return V(scalfmm3::detail::keep(a.value < b.value, y.value));
    }
  };
}
