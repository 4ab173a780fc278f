#pragma once

#include <nearfield/tree/build_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace nearfield::test
{
  inline void expect_same_list(interaction_list const& a, interaction_list const& b)
  {
    EXPECT_TRUE(std::ranges::equal(a.own, b.own));
    EXPECT_TRUE(std::ranges::equal(a.offsets, b.offsets));
    EXPECT_TRUE(std::ranges::equal(a.ranges, b.ranges));
    EXPECT_TRUE(std::ranges::equal(a.shifts, b.shifts));
  }

  /// Leaves, orders and lists are equal to the bit.
  template <int Dim>
  void expect_same_tree(tree<Dim> const& a, tree<Dim> const& b)
  {
    EXPECT_EQ(a.root(), b.root());
    EXPECT_EQ(a.period(), b.period());
    for (int d = 0; d < Dim; ++d) EXPECT_TRUE(std::ranges::equal(a.pieces(d), b.pieces(d)));
    EXPECT_EQ(a.order(), b.order());
    EXPECT_EQ(a.depth(), b.depth());
    ASSERT_EQ(a.has_one_set(), b.has_one_set());
    ASSERT_EQ(a.size(), b.size());
    for (index_type leaf = 0; leaf < a.size(); ++leaf) ASSERT_EQ(a.cell(leaf), b.cell(leaf));
    EXPECT_TRUE(std::ranges::equal(a.target_order(), b.target_order()));
    EXPECT_TRUE(std::ranges::equal(a.source_order(), b.source_order()));
    EXPECT_TRUE(std::ranges::equal(a.targets().offsets, b.targets().offsets));
    EXPECT_TRUE(std::ranges::equal(a.sources().offsets, b.sources().offsets));
    expect_same_list(a.interactions(), b.interactions());
    if (a.has_one_set()) expect_same_list(a.half_interactions(), b.half_interactions());
    EXPECT_TRUE(std::ranges::equal(a.target_moves(), b.target_moves()));
    EXPECT_TRUE(std::ranges::equal(a.source_moves(), b.source_moves()));
    EXPECT_EQ(a.interaction_count(), b.interaction_count());
  }
}
