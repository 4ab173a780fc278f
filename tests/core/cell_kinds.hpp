#pragma once

#include <nearfield/core/cell.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <numeric>

/// \file
/// What tests of cells are over.

namespace nearfield::test
{
  template <class T, int D>
  struct kind
  {
    using real = T;
    static constexpr int dim = D;
  };
  using cell_kinds =
      ::testing::Types<kind<double, 3>, kind<float, 3>, kind<double, 2>, kind<float, 2>>;

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
