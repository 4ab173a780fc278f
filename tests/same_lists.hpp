#pragma once

#include <nearfield/search/rows.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

/// \file
/// Lists of a GPU that equal those of the CPU to the bit.

namespace nearfield::test
{
  template <class V>
  testing::AssertionResult same_bits(page_array<V> const& gpu, page_array<V> const& cpu)
  {
    if (gpu.size() != cpu.size())
      return testing::AssertionFailure() << gpu.size() << " values, on the CPU " << cpu.size();
    for (std::size_t k = 0; k < cpu.size(); ++k)
      if (std::memcmp(gpu.data() + k, cpu.data() + k, sizeof(V)) != 0)
        return testing::AssertionFailure() << "value " << k << " of " << cpu.size() << " is "
                                           << +gpu.data()[k] << ", on the CPU " << +cpu.data()[k];
    return testing::AssertionSuccess();
  }

  template <class T, int Dim>
  void expect_same_geometry(detail::pair_geometry<T, Dim> const& gpu,
                            detail::pair_geometry<T, Dim> const& cpu)
  {
    EXPECT_TRUE(same_bits(gpu.r2, cpu.r2)) << "r2";
    for (int a = 0; a < Dim; ++a)
    {
      EXPECT_TRUE(same_bits(gpu.displacements[a], cpu.displacements[a])) << "axis " << a;
      EXPECT_TRUE(same_bits(gpu.images[a], cpu.images[a])) << "images, axis " << a;
    }
    EXPECT_TRUE(same_bits(gpu.packed_images, cpu.packed_images)) << "packed images";
  }
  template <class T, int Dim>
  void expect_same(coo<T, Dim> const& gpu, coo<T, Dim> const& cpu)
  {
    EXPECT_TRUE(same_bits(gpu.i, cpu.i)) << "i";
    EXPECT_TRUE(same_bits(gpu.j, cpu.j)) << "j";
    expect_same_geometry<T, Dim>(gpu, cpu);
  }
  template <class T, int Dim>
  void expect_same(csr<T, Dim> const& gpu, csr<T, Dim> const& cpu)
  {
    EXPECT_TRUE(same_bits(gpu.offsets, cpu.offsets)) << "offsets";
    EXPECT_TRUE(same_bits(gpu.columns, cpu.columns)) << "columns";
    expect_same_geometry<T, Dim>(gpu, cpu);
  }
}
