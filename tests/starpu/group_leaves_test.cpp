#include "points.hpp"
#include "temporaries.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  template <int Dim>
  std::vector<double> pairs_of_groups(tree<Dim> const& tree, leaf_groups<Dim> const& groups)
  {
    std::vector<double> pairs(groups.size());
    auto const list = tree.interactions();
    for (index_type g = 0; g < groups.size(); ++g)
      for (index_type b = groups.first_leaf()[g]; b < groups.first_leaf()[g + 1]; ++b)
      {
        double sources = tree.sources().count(b);
        for (interaction_list::range const& range : list.neighbours(b))
          sources += range.end - range.begin;
        pairs[g] += tree.targets().count(b) * sources;
      }
    return pairs;
  }

  TEST(group_leaves, every_leaf_is_in_one_group)
  {
    for (cloud const shape : all_clouds)
      for (int const leaves_per_group : {0, 1, 2, 9, 1000000})
      {
        auto const x = make_points<double, 3>(shape, 2000);
        auto const tree = build_tree(x.view(), {.max_leaf_size = 20});
        auto const groups = group_leaves(tree, {.leaves_per_group = leaves_per_group});
        auto const first = groups.first_leaf();
        EXPECT_EQ(first.front(), 0u);
        EXPECT_EQ(first.back(), tree.size());
        EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
        EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end()) << "an empty group";
        if (leaves_per_group > 0)
        {
          EXPECT_LE(groups.size(), tree.size() / leaves_per_group + 1);
        }
      }
  }

  TEST(group_leaves, groups_have_about_equal_work)
  {
    auto const x = make_points<double, 3>(cloud::plummer, 20000);
    auto const tree = build_tree(x.view(), {.max_leaf_size = 16});
    auto const groups = group_leaves(tree, {.leaves_per_group = 60});
    auto const pairs = pairs_of_groups(tree, groups);
    auto const [least, most] = std::minmax_element(pairs.begin(), pairs.end());
    EXPECT_GE(groups.size(), tree.size() / 61);
    EXPECT_LE(*most, 1.5 * *least);
  }

  TEST(group_leaves, gpus_get_few_groups_and_fewer_where_there_is_little_work)
  {
    auto const groups_of = [](std::size_t n, int level, group_options const& options)
    {
      auto const x = make_points<float, 3>(cloud::uniform, n);
      auto const tree = build_tree(x.view(), {.level = level});
      return group_leaves(tree, options).size();
    };
    EXPECT_EQ(groups_of(100'000, 4, {.gpus = 1}), 1u);
    EXPECT_EQ(groups_of(100'000, 2, {.gpus = 1}), 1u) << "64 leaves";
    EXPECT_EQ(groups_of(300'000, 4, {.gpus = 1}), 3u) << "5.2e8 pairs";
    EXPECT_EQ(groups_of(2'000'000, 4, {.gpus = 1}), 4u) << "4096 leaves, 2.2e10 pairs";
    EXPECT_EQ(groups_of(100'000, 4, {.gpus = 1, .groups_per_gpu = 3}), 3u);
    EXPECT_EQ(groups_of(100'000, 4, {.gpus = 2, .groups_per_gpu = 3}), 6u);
    EXPECT_LE(groups_of(1000, 1, {.gpus = 2, .groups_per_gpu = 50}), 8u) << "no more than leaves";
  }

  /// The number of groups of equal leaves that meet no other.
  std::size_t groups_of_equal_leaves(index_type n, group_options const& options,
                                     index_type points = 1000)
  {
    std::vector<index_type> offsets(n + 1), none(n + 1);
    std::vector<interaction_list::range> own;
    for (index_type b = 0; b < n; ++b)
    {
      offsets[b + 1] = offsets[b] + points;
      own.push_back({offsets[b], offsets[b + 1]});
    }
    nearfield::detail::leaf_groups_view view;
    view.targets = view.sources = {offsets};
    view.full = view.half = {own, none, {}, {}};
    return detail::first_leaves_of_groups(view, options).size() - 1;
  }

  TEST(group_leaves, of_equal_leaves_are_no_larger_than_asked_for)
  {
    for (index_type const n : {9u, 10u, 11u, 19u, 20u, 21u})
      EXPECT_EQ(groups_of_equal_leaves(n, {.leaves_per_group = 10}), (n + 9) / 10) << n;
  }

  TEST(group_leaves, several_gpus_get_as_many_each)
  {
    EXPECT_EQ(groups_of_equal_leaves(9000, {.gpus = 1}), 8u);
    EXPECT_EQ(groups_of_equal_leaves(3000, {.gpus = 1}), 3u) << "1000 leaves fill a GPU";
    EXPECT_EQ(groups_of_equal_leaves(9000, {.gpus = 2}, 100), 1u) << "too few pairs for two";
    EXPECT_EQ(groups_of_equal_leaves(9000, {.gpus = 2}, 200), 2u) << "one each";
    EXPECT_EQ(groups_of_equal_leaves(9000, {.gpus = 2}, 600), 4u)
        << "not 5, and larger than of one GPU";
    EXPECT_EQ(groups_of_equal_leaves(9000, {.gpus = 1}, 600), 8u);
    EXPECT_EQ(groups_of_equal_leaves(7500, {.gpus = 3}), 6u) << "not 7";
    EXPECT_EQ(groups_of_equal_leaves(70'000, {.gpus = 2}), 16u);
  }

  TEST(group_leaves, leaves_without_pairs_count_too)
  {
    // of 1000 leaves the first ten have a point each
    constexpr index_type n = 1000, with_points = 10;
    std::vector<index_type> offsets(n + 1, with_points), none(n + 1);
    std::vector<interaction_list::range> own(n);
    for (index_type b = 0; b < with_points; ++b)
    {
      offsets[b] = b;
      own[b] = {b, b + 1};
    }
    nearfield::detail::leaf_groups_view view;
    view.targets = view.sources = {offsets};
    view.full = view.half = {own, none, {}, {}};
    auto const first = detail::first_leaves_of_groups(view, {.leaves_per_group = 100});
    ASSERT_EQ(first.size(), 11u);
    for (std::size_t g = 0; g < 10; ++g) EXPECT_LE(first[g + 1] - first[g], 110u);
  }

  TEST(group_leaves, lend_nothing_without_a_name)
  {
    static_assert(needs_a_name<leaf_groups<3>>(NEARFIELD_ACCESS(view())));
    static_assert(needs_a_name<leaf_groups<3>>(NEARFIELD_ACCESS(first_leaf())));
  }

  TEST(group_leaves, an_empty_tree_has_no_groups)
  {
    auto const x = make_points<float, 2>(cloud::uniform, 0);
    auto const tree = build_tree(x.view());
    EXPECT_EQ(group_leaves(tree).size(), 0u);
  }

  TEST(group_leaves, a_negative_size_is_refused)
  {
    auto const x = make_points<float, 2>(cloud::uniform, 10);
    auto const tree = build_tree(x.view());
    EXPECT_THROW(static_cast<void>(group_leaves(tree, {.leaves_per_group = -1})), error);
    EXPECT_THROW(static_cast<void>(group_leaves(tree, {.gpus = -1})), error);
    EXPECT_THROW(static_cast<void>(group_leaves(tree, {.groups_per_gpu = -1})), error);
  }
}
