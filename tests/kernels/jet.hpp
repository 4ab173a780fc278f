#pragma once

#include <array>
#include <cmath>
#include <numbers>

/// \file
/// Derivatives by the chain rule: a potential is written once, as a function of |r|, and its gradient and Hessian come
/// from it. What tests hold gradients, dipoles and Hessians against, so, shares no formula with the library.

namespace nearfield::test
{
  /// A number with its first and second derivatives with respect to Dim coordinates.
  template <int Dim>
  struct jet
  {
    long double value = 0;
    std::array<long double, Dim> gradient{};
    std::array<std::array<long double, Dim>, Dim> hessian{};

    friend jet operator+(jet a, jet const& b)
    {
      a.value += b.value;
      for (int i = 0; i < Dim; ++i)
      {
        a.gradient[i] += b.gradient[i];
        for (int j = 0; j < Dim; ++j) a.hessian[i][j] += b.hessian[i][j];
      }
      return a;
    }
    friend jet operator*(long double s, jet a)
    {
      a.value *= s;
      for (int i = 0; i < Dim; ++i)
      {
        a.gradient[i] *= s;
        for (int j = 0; j < Dim; ++j) a.hessian[i][j] *= s;
      }
      return a;
    }
    friend jet operator*(jet const& a, jet const& b)
    {
      jet c;
      c.value = a.value * b.value;
      for (int i = 0; i < Dim; ++i)
      {
        c.gradient[i] = a.gradient[i] * b.value + a.value * b.gradient[i];
        for (int j = 0; j < Dim; ++j)
          c.hessian[i][j] = a.hessian[i][j] * b.value + a.gradient[i] * b.gradient[j] +
                            a.gradient[j] * b.gradient[i] + a.value * b.hessian[i][j];
      }
      return c;
    }
  };

  /// f(a), of which f', f'' are given.
  template <int Dim>
  jet<Dim> compose(jet<Dim> const& a, long double f, long double f1, long double f2)
  {
    jet<Dim> c;
    c.value = f;
    for (int i = 0; i < Dim; ++i)
    {
      c.gradient[i] = f1 * a.gradient[i];
      for (int j = 0; j < Dim; ++j)
        c.hessian[i][j] = f1 * a.hessian[i][j] + f2 * a.gradient[i] * a.gradient[j];
    }
    return c;
  }

  /// |r|, of coordinates r.
  template <int Dim>
  jet<Dim> length(std::array<long double, Dim> const& r)
  {
    jet<Dim> r2;
    for (int i = 0; i < Dim; ++i)
    {
      jet<Dim> x;
      x.value = r[i];
      x.gradient[i] = 1;
      r2 = r2 + x * x;
    }
    long double const root = std::sqrt(r2.value);
    return compose(r2, root, 1 / (2 * root), -1 / (4 * root * r2.value));
  }

  template <int Dim>
  jet<Dim> inverse(jet<Dim> const& a)
  {
    long double const f = 1 / a.value;
    return compose(a, f, -f * f, 2 * f * f * f);
  }
  template <int Dim>
  jet<Dim> log(jet<Dim> const& a)
  {
    return compose(a, std::log(a.value), 1 / a.value, -1 / (a.value * a.value));
  }
  template <int Dim>
  jet<Dim> exp(jet<Dim> const& a)
  {
    long double const f = std::exp(a.value);
    return compose(a, f, f, f);
  }
  template <int Dim>
  jet<Dim> sin(jet<Dim> const& a)
  {
    return compose(a, std::sin(a.value), std::cos(a.value), -std::sin(a.value));
  }
  template <int Dim>
  jet<Dim> cos(jet<Dim> const& a)
  {
    return compose(a, std::cos(a.value), -std::sin(a.value), -std::cos(a.value));
  }
  template <int Dim>
  jet<Dim> erfc(jet<Dim> const& a)
  {
    long double const slope =
        -2 / std::sqrt(std::numbers::pi_v<long double>) * std::exp(-a.value * a.value);
    return compose(a, std::erfc(a.value), slope, -2 * a.value * slope);
  }
}
