#pragma once

#include "point_kinds.hpp"

#include <nearfield/core/cell.hpp>

#include <array>
#include <cstddef>
#include <numeric>

/// \file
/// What tests of cells are over.

namespace nearfield::test
{
  using cell_kinds = point_kinds;

  template <std::size_t Dim>
  double dot(std::array<double, Dim> const& a, std::array<double, Dim> const& b)
  {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.);
  }

  inline cell<3> cell_of(std::array<std::array<double, 3>, 3> const& vectors)
  {
    return {vectors, {true, true, true}};
  }
}
