#pragma once

#include <gtest/gtest.h>

/// \file
/// The types of tests over points of each precision and dimension.

namespace nearfield::test
{
  template <class T, int Dim>
  struct point_kind
  {
    using real = T;
    static constexpr int dim = Dim;
  };
  using point_kinds = testing::Types<point_kind<double, 3>, point_kind<float, 3>,
                                     point_kind<double, 2>, point_kind<float, 2>>;
}
