#pragma once

#include "p2p/p2p_cases.hpp"
#include "points.hpp"

#include <nearfield/tree/permutation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

/// \file
/// Building blocks for tests of whole steps: a case of an interaction and a precision, and points in tree
/// order.

namespace nearfield::test
{
  template <class Case>
  class step_test : public ::testing::Test
  {
  protected:
    using interaction_type = typename Case::interaction;
    using real = typename Case::real;
    static constexpr int dim = interaction_type::dim;
    static constexpr int n_in = interaction_type::n_in, n_out = interaction_type::n_out;
    interaction_type const k = example<interaction_type>();
  };

  /// Points close together, whose interactions vary widely in size.
  template <class T, int Dim>
  struct set_of_points
  {
    points<T, Dim> all;

    set_of_points(cloud shape, std::size_t n, std::uint64_t seed = 1)
        : all(make_points<T, Dim>(shape, n, seed))
    {
      for (auto& column : all.columns)
        for (T& x : column) x /= 8;
    }

    /// n other points, half of which coincide with points of this set.
    [[nodiscard]] set_of_points sources(cloud shape, std::size_t n) const
    {
      set_of_points result(shape, n, 2);
      for (int d = 0; d < Dim; ++d)
        std::copy_n(all.columns[d].begin(), std::min(all.size(), n / 2),
                    result.all.columns[d].begin());
      return result;
    }

    [[nodiscard]] guarded<T, Dim> in_order(std::span<index_type const> order) const
    {
      return guarded<T, Dim>::copy_of(gather(order, all.view()).columns, order.size());
    }
  };
}
