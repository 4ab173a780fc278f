// Trees in periodic boxes.

#include "complains_of.hpp"
#include "tree/periodic_cases.hpp"

#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace nearfield::test
{
  namespace
  {
    /// Leaf b meets the image of source p (a position) that lies `image` periods away.
    template <int Dim>
    using meeting = std::tuple<index_type, index_type, image_of<Dim>>;

    /// What a list says; fails where it says something twice, where ranges do not ascend, or could be merged.
    template <int Dim>
    std::set<meeting<Dim>> meetings(tree<Dim> const& tree, interaction_list const& list)
    {
      std::set<meeting<Dim>> found;
      for (index_type b = 0; b < tree.size(); ++b)
      {
        interaction_list::range before{};
        for (interaction_list::range const& range : list.neighbours(b))
        {
          EXPECT_LT(range.begin, range.end);
          EXPECT_LE(before.begin, range.begin);
          EXPECT_FALSE(before.end == range.begin && before.shift == range.shift && before.end > 0);
          before = range;
          image_of<Dim> image{};
          for (int d = 0; d < Dim; ++d)
            if (double const length = tree.period()[d]; length > 0)
            {
              double const shift = list.shifts[range.shift][static_cast<std::size_t>(d)];
              image[d] = shift < 0 ? -1 : shift > 0 ? 1 : 0;
              EXPECT_EQ(shift, image[d] * length);
            }
            else
              EXPECT_EQ(list.shifts[range.shift][static_cast<std::size_t>(d)], 0);
          for (index_type p = range.begin; p < range.end; ++p)
            EXPECT_TRUE((found.insert({b, p, image}).second)) << "leaf " << b << ", source " << p;
        }
      }
      return found;
    }

    template <int Dim>
    void expect_lists(tree<Dim> const& tree)
    {
      boxes const targets = tree.targets(), sources = tree.sources();
      interaction_list const full = tree.interactions();
      std::set<meeting<Dim>> expected;
      std::uint64_t pairs = 0;
      for (index_type b = 0; b < tree.size(); ++b)
      {
        ASSERT_EQ(full.own[b], (interaction_list::range{sources.begin(b), sources.end(b)}));
        std::size_t const before = expected.size();
        for (index_type c = 0; c < tree.size() && targets.count(b) > 0; ++c)
          for (auto const& image : all_images<Dim>(tree.period()))
            if ((c != b || image != image_of<Dim>{}) && touch(tree.cell(b), tree.cell(c), image))
              for (index_type p = sources.begin(c); p < sources.end(c); ++p)
                expected.insert({b, p, image});
        pairs += targets.count(b) *
                 (sources.count(b) - index_type(tree.has_one_set()) + expected.size() - before);
      }
      auto const found = meetings(tree, full);
      ASSERT_EQ(found.size(), expected.size());
      ASSERT_TRUE(found == expected);
      EXPECT_EQ(tree.interaction_count(), pairs);
      if (!tree.has_one_set()) return;

      // each meeting of the half list, with its reverse, and nothing twice
      interaction_list const half = tree.half_interactions();
      for (index_type b = 0; b < tree.size(); ++b)
        for (interaction_list::range const& range : half.neighbours(b))
        {
          EXPECT_GE(range.begin, targets.begin(b));
          EXPECT_TRUE(range.begin >= targets.end(b) || range.shift != 0);
        }
      std::set<meeting<Dim>> both;
      std::vector<index_type> leaf_of(targets.size() > 0 ? targets.offsets.back() : 0);
      for (index_type b = 0; b < tree.size(); ++b)
        std::fill(leaf_of.begin() + targets.begin(b), leaf_of.begin() + targets.end(b), b);
      for (auto const& [b, p, image] : meetings(tree, half))
      {
        image_of<Dim> back = image;
        for (int& periods : back) periods = -periods;
        index_type const c = leaf_of[p];
        EXPECT_TRUE((both.insert({b, p, image}).second));
        // one target of b stands for all in the sets above
        for (index_type i = targets.begin(b); p == targets.begin(c) && i < targets.end(b); ++i)
          EXPECT_TRUE((both.insert({c, i, back}).second)) << "leaf " << b << " and " << c;
      }
      ASSERT_TRUE(both == expected);
    }

    template <class Coordinates>
    struct periodic_tree : ::testing::Test
    {};
    TYPED_TEST_SUITE(periodic_tree, all_coordinates, coordinate_names);
  }

  // 4 types x 50 clouds, each as one set and as two.
  TYPED_TEST(periodic_tree, leaves_meet_all_images_that_touch_them)
  {
    for (std::uint64_t seed = 0; seed < 50; ++seed)
    {
      periodic_case<typename TypeParam::real, TypeParam::dim> const c(seed, 500);
      SCOPED_TRACE(testing::Message() << "case " << seed << ", " << c.name());
      auto const one = build_tree(c.x.view(), c.options);
      EXPECT_EQ(one.period(), c.options.period);
      expect_lists(one);
      expect_lists(build_tree(c.x.view(), c.y.view(), c.options));
      if (this->HasFailure()) return;
    }
  }

  TYPED_TEST(periodic_tree, level_0_meets_the_images_of_itself_and_level_1_two_of_each)
  {
    constexpr int dim = TypeParam::dim;
    auto const x = make_points<typename TypeParam::real, dim>(cloud::uniform, 200);
    tree_options<dim> options{.level = 0};
    options.period.fill(1);
    int const images = dim == 3 ? 26 : 8;
    auto const root = build_tree(x.view(), options);
    ASSERT_EQ(root.size(), 1);
    EXPECT_EQ(root.interactions().ranges.size(), images);
    EXPECT_EQ(root.half_interactions().ranges.size(), images / 2);
    EXPECT_EQ(root.interaction_count(), 200 * (200 * (images + 1) - 1));
    expect_lists(root);
    options.level = 1;
    auto const halves = build_tree(x.view(), options);
    ASSERT_EQ(halves.size(), 1 << dim);
    for (index_type b = 0; b < halves.size(); ++b)
    {
      std::size_t met = 0;
      for (interaction_list::range const& range : halves.interactions().neighbours(b))
        met += range.end - range.begin;
      std::size_t expected = 0; // 2^k of a leaf that differs on k axes
      for (index_type c = 0; c < halves.size(); ++c)
        if (c != b) expected += halves.targets().count(c) << __builtin_popcount(b ^ c);
      EXPECT_EQ(met, expected) << "leaf " << b;
    }
    expect_lists(halves);
  }

  TYPED_TEST(periodic_tree, cuts_each_axis_by_its_own_length)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    points<T, dim> x;
    std::array<double, dim> at{};
    at[0] = 2.9; // the last of four cells of [0, 3)
    at[1] = -7;  // an open axis
    x.push_back(at);
    at[0] = 0;
    at[1] = 7;
    x.push_back(at);
    tree_options<dim> options{.level = 2};
    options.period[0] = 3;
    auto const tree = build_tree(x.view(), options);
    EXPECT_EQ(tree.root().half_width, 7);
    EXPECT_EQ(tree.root().centre[0], 1.5);
    EXPECT_EQ(tree.root().centre[1], 0);
    ASSERT_EQ(tree.size(), 2);
    EXPECT_EQ(tree.cell(1).index[0], 3);
    EXPECT_EQ(tree.cell(1).index[1], 0);
    EXPECT_EQ(tree.leaf(1).centre[0], 2.625);
    EXPECT_EQ(tree.leaf(1).centre[1], -5.25);
    options.period[0] = 40; // longer than the cloud
    EXPECT_EQ(build_tree(x.view(), options).root().half_width, 20);
  }

  TYPED_TEST(periodic_tree, refuses_periods_and_points_by_name)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const x = make_points<T, dim>(cloud::uniform, 10);
    auto const with = [&](double period, int point = 0, double value = 0.5)
    {
      return [&x, period, point, value]
      {
        auto moved = x;
        moved.columns[1][static_cast<std::size_t>(point)] = static_cast<T>(value);
        tree_options<dim> options;
        options.period[1] = period;
        static_cast<void>(build_tree(moved.view(), options));
      };
    };
    constexpr double inf = std::numeric_limits<double>::infinity();
    EXPECT_THAT(with(-1), complains_of("build_tree: the period is -1 on axis 1", "positive"));
    EXPECT_THAT(with(inf), complains_of("the period is inf on axis 1"));
    EXPECT_THAT(with(std::nan("")), complains_of("the period is nan on axis 1"));
    EXPECT_THAT(with(1e-310), complains_of("period 1e-310 of axis 1", "precision"));
    if (sizeof(T) == 4)
    {
      EXPECT_THAT(with(1e60), complains_of("period 1e+60 of axis 1", "units"));
    }
    EXPECT_THAT(with(1, 4, 1), complains_of("point 4 of points", "[0, 1) of axis 1", "wrap"));
    EXPECT_THAT(with(1, 7, -1e-9), complains_of("point 7 of points", "outside the periodic box"));
    EXPECT_THAT(with(0.25), complains_of("outside the periodic box [0, 0.25)"));
    EXPECT_THAT(with(1, 7, inf), complains_of("point 7", "not finite"));
    EXPECT_NO_THROW(with(1, 4, std::nextafter(T(1), T(0)))());
    EXPECT_NO_THROW(with(1, 4, -0.)());
    tree_options<dim> options;
    options.period.fill(1);
    auto const tree = build_tree(points<T, dim>().view(), options);
    EXPECT_EQ(tree.size(), 0);
    EXPECT_EQ(tree.root().centre[0], 0.5);
  }

  // The cells of a cell list and the leaves of a tree are the same boxes here, and so are their lists.
  TEST(periodic_cell_list, has_the_images_of_a_uniform_tree)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 600);
    cell_list<double, 3> const cells(x.view(), 0.24,
                                     {.cells_per_cutoff = {1, 1, 1}, .period = {1, 1, 1}});
    ASSERT_EQ(cells.grid().cells[2], 4);
    auto const tree = build_tree(x.view(), {.level = 2, .period = {1, 1, 1}});
    auto const expect_same = [](interaction_list const& a, interaction_list const& b)
    {
      EXPECT_TRUE(std::ranges::equal(a.own, b.own));
      EXPECT_TRUE(std::ranges::equal(a.offsets, b.offsets));
      EXPECT_TRUE(std::ranges::equal(a.ranges, b.ranges));
      EXPECT_TRUE(std::ranges::equal(a.shifts, b.shifts));
    };
    expect_same(cells.interactions(), tree.interactions());
    expect_same(cells.half_interactions(), tree.half_interactions());
  }
}
