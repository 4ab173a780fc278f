#pragma once

#include <nearfield/scalfmm/interactions.hpp>

#include "reference.hpp"

#include <cmath>

/// \file
/// What ScalFMM's matrix kernel is that no built-in interaction equals, as a plain formula.

namespace nearfield::test
{
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
