#pragma once

#include "points.hpp"
#include "reference.hpp"
#include "tree/same_tree.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

/// \file
/// Trees on a GPU, and steps over them, beside those of the CPU.

namespace nearfield::test
{
  template <int Dim>
  void expect_equal(cuda_tree<Dim> const& on_device, tree<Dim> const& expected)
  {
    ASSERT_EQ(on_device.size(), expected.size());
    expect_same_tree(on_device.on_host(), expected);
    EXPECT_EQ(on_device.interaction_count(), expected.interaction_count());
    EXPECT_EQ(on_device.largest_leaf(), expected.largest_leaf());
  }

  /// Columns of n values, from -1 to 1.
  template <class T, int N>
  column_set<T, N> random_columns(std::size_t n)
  {
    random_numbers random(5);
    column_set<T, N> result;
    for (auto& column : result.columns)
      for (std::size_t i = 0; i < n; ++i) column.push_back(static_cast<T>(random.uniform(-1, 1)));
    return result;
  }

  /// Runs a step into columns that start with 2, on the device and on the host. Coordinates that are long beside distances
  /// take some tolerances.
  template <class T, int NOut, class OnDevice, class OnHost>
  void expect_equal_outputs(std::size_t n, OnDevice&& on_device, OnHost&& on_host,
                            double tolerances = 1)
  {
    column_set<T, NOut> expected, found;
    for (auto& column : expected.columns) column.assign(n, T(2));
    found = expected;
    device_columns<T, NOut> out(std::as_const(expected).view());
    on_device(out.view());
    on_host(expected.view());
    out.copy_to(found.view());
    T scale = 0;
    for (auto const& column : expected.columns)
      for (T const value : column) scale = std::max(scale, std::abs(value));
    for (int o = 0; o < NOut; ++o)
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_NEAR(found.columns[o][i], expected.columns[o][i], tolerances * scale * tolerance<T>)
            << "output " << o << " of point " << i;
  }
}
