#include <nearfield/tree/build_tree.hpp>

#include "tree_cases.hpp"
#include "tree_reference.hpp"

#include <nearfield/core/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using ::testing::HasSubstr;
    using ::testing::ThrowsMessage;

    /// Ranges ascend, none is empty, and two next to each other would have been one.
    void expect_merged(std::span<interaction_list::range const> ranges)
    {
      for (std::size_t r = 0; r < ranges.size(); ++r)
      {
        EXPECT_LT(ranges[r].begin, ranges[r].end);
        EXPECT_EQ(ranges[r].set, 0);
        EXPECT_EQ(ranges[r].shift, 0);
        if (r > 0)
        {
          EXPECT_LT(ranges[r - 1].end, ranges[r].begin);
        }
      }
    }

    template <int Dim>
    void expect_full_list(tree<Dim> const& tree)
    {
      boxes const targets = tree.targets(), sources = tree.sources();
      interaction_list const list = tree.interactions();
      std::vector<lattice_box<Dim>> const box = all_corners(tree);
      ASSERT_EQ(list.own.size(), tree.size());
      ASSERT_EQ(list.offsets.size(), tree.size() + std::size_t(1));
      ASSERT_EQ(list.offsets.back(), list.ranges.size());
      std::uint64_t pairs = 0;
      for (index_type b = 0; b < tree.size(); ++b)
      {
        ASSERT_EQ(list.own[b], (interaction_list::range{sources.begin(b), sources.end(b)}));
        expect_merged(list.neighbours(b));
        std::vector<index_type> const expected =
            positions_of(sources, [&](index_type c)
                         { return targets.count(b) > 0 && c != b && touch(box[b], box[c]); });
        ASSERT_EQ(expand(list.neighbours(b)), expected) << "leaf " << b;
        std::uint64_t const met = expected.size() + sources.count(b);
        pairs += targets.count(b) * (tree.has_one_set() ? met - 1 : met);
      }
      EXPECT_EQ(tree.interaction_count(), pairs);
    }

    template <int Dim>
    void expect_half_list(tree<Dim> const& tree)
    {
      boxes const points = tree.targets();
      interaction_list const list = tree.half_interactions();
      std::vector<lattice_box<Dim>> const box = all_corners(tree);
      ASSERT_EQ(list.own.size(), tree.size());
      ASSERT_EQ(list.offsets.size(), tree.size() + std::size_t(1));
      for (index_type b = 0; b < tree.size(); ++b)
      {
        ASSERT_EQ(list.own[b], (interaction_list::range{points.begin(b), points.end(b)}));
        expect_merged(list.neighbours(b));
        for (interaction_list::range const& range : list.neighbours(b))
          EXPECT_GE(range.begin, points.end(b));
        ASSERT_EQ(
            expand(list.neighbours(b)),
            positions_of(points, [&](index_type c) { return c > b && touch(box[b], box[c]); }))
            << "leaf " << b;
      }
    }
  }

  template <class Coordinates>
  struct interactions : ::testing::Test
  {};
  TYPED_TEST_SUITE(interactions, all_coordinates, coordinate_names);

  TYPED_TEST(interactions, of_one_set_are_those_of_touching_boxes)
  {
    for (auto const& c : tree_cases<TypeParam::dim>())
    {
      SCOPED_TRACE(c.name());
      auto const points = make_points<typename TypeParam::real, TypeParam::dim>(c.shape, c.n);
      auto const tree = build_tree(points.view(), c.options);
      expect_full_list(tree);
      expect_half_list(tree);
      if (this->HasFatalFailure()) return;
    }
  }

  TYPED_TEST(interactions, of_two_sets_are_those_of_touching_boxes)
  {
    using real = typename TypeParam::real;
    for (auto const& c : tree_cases<TypeParam::dim>())
      for (cloud const other : {cloud::uniform, cloud::planar})
      {
        SCOPED_TRACE(c.name() + ", sources " + name_of(other));
        auto const targets = make_points<real, TypeParam::dim>(c.shape, c.n);
        auto const sources = make_points<real, TypeParam::dim>(other, 200, 3);
        expect_full_list(build_tree(targets.view(), sources.view(), c.options));
        expect_full_list(build_tree(sources.view(), targets.view(), c.options));
        if (this->HasFatalFailure()) return;
      }
  }

  TYPED_TEST(interactions, reach_leaves_of_very_different_sizes)
  {
    // One corner is crowded, so that leaves of level 0 < l < 12 meet at edges and corners.
    using real = typename TypeParam::real;
    random_numbers random(7);
    points<real, TypeParam::dim> points;
    for (int i = 0; i < 600; ++i)
    {
      std::array<double, TypeParam::dim> x = uniform_point<TypeParam::dim>(random);
      double const scale = std::ldexp(1., -i / 50);
      for (double& coordinate : x) coordinate = 0.5 - scale * (coordinate - 0.3);
      points.push_back(x);
    }
    auto const tree = build_tree(points.view(), {.max_leaf_size = 3});
    ASSERT_GE(tree.depth(), 10);
    expect_full_list(tree);
    expect_half_list(tree);
  }

  TYPED_TEST(interactions, cross_boxes_with_single_children)
  {
    using real = typename TypeParam::real;
    auto const pairs = close_pairs<real, TypeParam::dim>(400);
    auto const sources = make_points<real, TypeParam::dim>(cloud::plummer, 200, 3);
    auto const tree = build_tree(pairs.view(), {.max_leaf_size = 1});
    ASSERT_GE(tree.depth(), 15);
    expect_full_list(tree);
    expect_half_list(tree);
    expect_full_list(build_tree(pairs.view(), sources.view(), {.max_leaf_size = 1}));
    expect_full_list(build_tree(sources.view(), pairs.view(), {.max_leaf_size = 1}));
  }

  TYPED_TEST(interactions, of_points_on_planes_between_boxes)
  {
    auto const points = on_planes<typename TypeParam::real, TypeParam::dim>(600);
    for (tree_options<TypeParam::dim> const& options :
         {tree_options<TypeParam::dim>{.max_leaf_size = 3},
          tree_options<TypeParam::dim>{.level = 4}})
    {
      auto const tree = build_tree(points.view(), options);
      expect_full_list(tree);
      expect_half_list(tree);
    }
  }

  TEST(interactions_of_two_equal_sets, are_those_of_one_set_and_the_own_pairs)
  {
    auto const points = make_points<double, 3>(cloud::plummer, 1000);
    auto const one = build_tree(points.view(), {.max_leaf_size = 20});
    auto const two = build_tree(points.view(), points.view(), {.max_leaf_size = 20});
    ASSERT_EQ(one.size(), two.size());
    EXPECT_TRUE(std::ranges::equal(one.interactions().ranges, two.interactions().ranges));
    EXPECT_TRUE(std::ranges::equal(one.target_order(), two.source_order()));
    EXPECT_EQ(two.interaction_count(), one.interaction_count() + points.size());
  }

  TEST(merged_ranges, of_a_full_lattice_are_its_rows)
  {
    // Two points in each of 4^3 boxes.
    points<double, 3> points;
    for (int i = 0; i < 128; ++i)
      points.push_back({(i / 2 % 4 + 0.5) / 4, (i / 8 % 4 + 0.5) / 4, (i / 32 + 0.5) / 4});
    cube<3> const unit{{0.5, 0.5, 0.5}, 0.5};

    auto const fine = build_tree(points.view(), {.level = 2, .root = unit});
    ASSERT_EQ(fine.size(), 64);
    index_type const inner = 16 + 4 + 1;
    ASSERT_EQ(fine.cell(inner), (leaf_cell<3>{{1, 1, 1}, 2}));
    EXPECT_EQ(fine.interactions().neighbours(inner).size(), 10) << "nine rows, one cut in two";
    EXPECT_EQ(fine.half_interactions().neighbours(inner).size(), 5);

    auto const coarse = build_tree(points.view(), {.level = 1, .root = unit});
    interaction_list const list = coarse.interactions();
    ASSERT_EQ(coarse.size(), 8);
    EXPECT_EQ(list.neighbours(0).size(), 1);
    EXPECT_EQ(list.neighbours(3).size(), 2) << "all that lies before and all that lies after";
    EXPECT_EQ(list.neighbours(7).size(), 1);
  }

  TEST(half_interactions, need_one_set)
  {
    auto const points = make_points<double, 2>(cloud::uniform, 10);
    auto const tree = build_tree(points.view(), points.view());
    EXPECT_FALSE(tree.has_one_set());
    EXPECT_THAT([&] { (void)tree.half_interactions(); },
                ThrowsMessage<error>(HasSubstr("two sets")));
  }

  TEST(largest_leaf, counts_targets_and_sources_apart)
  {
    auto const few = make_points<double, 2>(cloud::all_equal, 3);
    auto const many = make_points<double, 2>(cloud::all_equal, 7);
    EXPECT_EQ(build_tree(few.view(), many.view()).largest_leaf(), 7);
    EXPECT_EQ(build_tree(many.view(), few.view()).largest_leaf(), 7);
  }

  TEST(interaction_count, passes_32_bits)
  {
    std::size_t const n = 70'000;
    auto const points = make_points<float, 2>(cloud::uniform, n);
    EXPECT_EQ(build_tree(points.view(), {.level = 0}).interaction_count(), n * (n - 1));
    EXPECT_EQ(build_tree(points.view(), points.view(), {.level = 0}).interaction_count(), n * n);
  }

  TEST(views_of_a_tree, outlive_a_move)
  {
    auto const points = make_points<double, 3>(cloud::uniform, 500);
    tree<3> from = build_tree(points.view(), {.max_leaf_size = 10});
    boxes const leaves = from.targets();
    interaction_list const list = from.interactions();
    tree<3> const to = std::move(from);
    EXPECT_EQ(leaves.offsets.data(), to.targets().offsets.data());
    EXPECT_EQ(list.ranges.data(), to.interactions().ranges.data());
    EXPECT_EQ(to.size(), leaves.size());
  }
}
