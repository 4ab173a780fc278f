#pragma once

#include <nearfield/p2p/simd.hpp>
#include <nearfield/scalfmm/matrix_kernel.hpp>

#include "p2p/own_formulas.hpp"
#include "p2p/p2p_cases.hpp"
#include "scalfmm/formulas.hpp"
#include "scalfmm/group.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <type_traits>

/// \file
/// A P2P through ScalFMM's interface, beside the sums over a group's leaves that touch.

namespace nearfield::test
{
  using scalfmm3::matrix_kernel;

  template <class K, class T, int RightHandSides = 1>
  struct scalfmm_case
  {
    using interaction = K;
    using real = T;
    static constexpr int right_hand_sides = RightHandSides;
  };

  template <class K>
  K parameters()
  {
    if constexpr (std::is_same_v<K, softened>)
      return {.eps2 = 1e-3};
    else
      return example<K>();
  }

  template <class Case>
  struct scalfmm_p2p : testing::Test
  {
    using K = typename Case::interaction;
    using T = typename Case::real;
    static constexpr int rhs = Case::right_hand_sides;
    static constexpr int dim = K::dim;
    using kernel = matrix_kernel<K, rhs>;
    // a particle may have more outputs than the interaction
    using group_type = group<T, K::dim, int{kernel::km}, int{kernel::kn} + 1>;

    K const k = parameters<K>();
    kernel const mk{k};
    // 1/8 of the unit box, so that no logarithm of a distance is close to zero
    static constexpr double width = 0.125;

    template <class Meets>
    void expect_leaf(group_type const& g, int l, bool inner, Meets&& meets, bool mutual = false)
    {
      for (int r = 0; r < rhs; ++r)
      {
        auto const sums = expected(k, g, l, r, inner, mutual, meets);
        auto const got = g.template outputs<K::n_out>(l, r * K::n_out);
        EXPECT_LE(error_of(got, sums), tolerance<T>) << "leaf " << l << ", right-hand side " << r;
      }
      auto const untouched = g.template outputs<1>(l, int{kernel::kn});
      for (std::size_t i = 0; i < untouched.size(); ++i) EXPECT_EQ(untouched[0][i], g.initial);
    }

    static bool nothing(int, std::array<double, K::dim>&) { return false; }

    void expect_whole_pass(std::array<bool, dim> const& periodic)
    {
      for (bool const mutual : {true, false})
      {
        SCOPED_TRACE(testing::Message() << periodic[0] << periodic[1] << " mutual " << mutual);
        group_type g(width);
        g.make_lists(periodic, mutual);
        scalfmm::operators::near_field_operator<kernel> const near_field(mk, mutual);
        scalfmm::algorithms::direct(g.leaves, near_field, periodic, width);
        for (int l = 0; l < static_cast<int>(g.leaves.size()); ++l)
          expect_leaf(
              g, l, true, [&](int b, auto& shift) { return g.touch(l, b, periodic, shift); },
              mutual);
        EXPECT_TRUE(g.is_intact());
      }
    }
  };
}
