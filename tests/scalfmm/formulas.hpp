#pragma once

#include <nearfield/scalfmm/interactions.hpp>

#include "reference.hpp"

#include <cmath>

/// \file
/// What ScalFMM's matrix kernels are that no built-in interaction equals, as plain formulas.

namespace nearfield::test
{
  template <int Dim>
  struct formula<scalfmm3::one_over_r2<Dim>>
  {
    static bool singular(scalfmm3::one_over_r2<Dim>) { return true; }
    static long_matrix<1, 1> at(scalfmm3::one_over_r2<Dim>, long_vector<Dim> const& r)
    {
      return {{{1 / (norm(r) * norm(r))}}};
    }
  };

  template <int Dim>
  struct formula<scalfmm3::grad_one_over_r2<Dim>>
  {
    static bool singular(scalfmm3::grad_one_over_r2<Dim>) { return true; }
    static long_matrix<Dim, 1> at(scalfmm3::grad_one_over_r2<Dim>, long_vector<Dim> const& r)
    {
      long_matrix<Dim, 1> result;
      for (int d = 0; d < Dim; ++d) result[d][0] = -2 * r[d] / std::pow(norm(r), 4);
      return result;
    }
  };

  template <>
  struct formula<scalfmm3::val_grad_ln_2d>
  {
    static bool singular(scalfmm3::val_grad_ln_2d) { return true; }
    static long_matrix<3, 1> at(scalfmm3::val_grad_ln_2d, long_vector<2> const& r)
    {
      return {{{std::log(norm(r))}, {r[0] / norm(r)}, {r[1] / norm(r)}}};
    }
  };
}
