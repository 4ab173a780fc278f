#include "points.hpp"
#include "tree_cases.hpp"
#include "tree_reference.hpp"

#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/leaf_size.hpp>

#include "tree/src/gaps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

// Trees of points of which a few are far from all others: more levels than there are would lie between.

namespace nearfield::test
{
  namespace
  {
    template <class C>
    class gaps : public ::testing::Test
    {};
    TYPED_TEST_SUITE(gaps, all_coordinates, coordinate_names);

    constexpr int leaf_size = 16;

    template <int Dim>
    std::array<double, Dim> at(double x)
    {
      std::array<double, Dim> point;
      point.fill(x);
      return point;
    }

    template <class T, int Dim>
    points<T, Dim> with(points<T, Dim> set, std::vector<double> const& strays)
    {
      for (double const x : strays) set.push_back(at<Dim>(x));
      return set;
    }

    template <int Dim>
    double distance(tree<Dim> const& tree, int axis, double x)
    {
      auto const pieces = tree.pieces(axis);
      if (pieces.empty()) return x - tree.root().lower(axis);
      std::size_t p = 0;
      while (p + 1 < pieces.size() && pieces[p + 1].first <= x) ++p;
      return pieces[p].offset + (x - pieces[p].origin);
    }

    /// The boxes that cells are of, in units of the deepest level.
    template <int Dim>
    std::vector<lattice_box<Dim>> boxes_of(tree<Dim> const& tree)
    {
      std::vector<lattice_box<Dim>> result;
      for (index_type b = 0; b < tree.size(); ++b)
      {
        lattice_box<Dim> box;
        int const shift = max_level<Dim> - tree.cell(b).level;
        for (int d = 0; d < Dim; ++d)
        {
          box.lower[d] = std::int64_t(tree.cell(b).index[d]) << shift;
          box.upper[d] = box.lower[d] + (std::int64_t(1) << shift);
        }
        result.push_back(box);
      }
      return result;
    }

    /// Points are in the boxes of their leaves, and leaves meet those that touch them.
    template <class T, int Dim>
    void expect_leaves(tree<Dim> const& tree, points<T, Dim> const& x)
    {
      for (index_type b = 0; b < tree.size(); ++b)
      {
        auto const cell = tree.cell(b);
        cube<Dim> const leaf = tree.leaf(b);
        for (index_type p = tree.targets().begin(b); p < tree.targets().end(b); ++p)
          for (int d = 0; d < Dim; ++d)
          {
            double const at = x.columns[d][tree.target_order()[p]], n = std::ldexp(1., cell.level);
            double const place = distance(tree, d, at) / tree.root().width() * n;
            ASSERT_EQ(cell.index[d], std::clamp(std::floor(place), 0., n - 1));
            ASSERT_LE(std::abs(at - leaf.centre[d]),
                      leaf.half_width * (1 + 1e-9) + std::abs(at) * 1e-9);
          }
      }
      auto const boxes = boxes_of(tree);
      auto const lists = tree.interactions();
      for (index_type b = 0; b < tree.size(); ++b)
        ASSERT_EQ(expand(lists.neighbours(b)),
                  positions_of(tree.sources(),
                               [&](index_type c) { return c != b && touch(boxes[b], boxes[c]); }));
    }
  }

  TYPED_TEST(gaps, are_cut_where_points_are_far_away)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    constexpr double huge = sizeof(T) == 4 ? 1e37 : 1e300;
    // more than 2^21 or 2^31 times what 16 of 2000 points are apart
    std::vector<std::vector<double>> const strays{
        {-1e13}, {1e12}, {-1e12, 1e12}, {huge}, {-huge, huge, 3 * huge}, {1e13, 2e13, -7e12}};
    auto const core = make_points<T, dim>(cloud::uniform, 2000);
    tree_options<dim> const options{.max_leaf_size = leaf_size};
    auto const without = build_tree(core.view(), options);
    for (auto const& some : strays)
    {
      SCOPED_TRACE(testing::Message() << some.size() << ", the first " << some[0]);
      auto const x = with(core, some);
      auto const tree = build_tree(x.view(), options);
      EXPECT_LE(tree.largest_leaf(), index_type(leaf_size));
      EXPECT_LE(tree.interaction_count(), 2 * without.interaction_count());
      expect_leaves(tree, x);
      // They meet none of the others, which have leaves of their true size and place.
      auto const is_stray = [&](index_type p)
      {
        return tree.target_order()[p] >= 2000;
      };
      for (index_type b = 0; b < tree.size(); ++b)
      {
        bool const are_strays = is_stray(tree.targets().begin(b));
        auto const met = expand(tree.interactions().neighbours(b));
        EXPECT_TRUE(is_stray(tree.targets().end(b) - 1) == are_strays);
        EXPECT_EQ(std::ranges::count_if(met, is_stray),
                  are_strays ? std::ptrdiff_t(met.size()) : 0);
        double const width = std::ldexp(tree.root().width(), -tree.cell(b).level);
        if (are_strays) continue;
        EXPECT_EQ(tree.leaf(b).half_width, width / 2);
        for (int d = 0; d < dim; ++d)
          EXPECT_NEAR(tree.leaf(b).centre[d],
                      tree.root().lower(d) + (tree.cell(b).index[d] + 0.5) * width, 1e-12);
      }
    }
  }

  TYPED_TEST(gaps, are_cut_between_clusters_and_in_two_sets)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto x = make_points<T, dim>(cloud::uniform, 3500);
    for (auto& column : x.columns)
    {
      for (std::size_t i = 0; i < 1500; ++i) column[i] = T((double(column[i]) - 2) * 1e-10);
      for (std::size_t i = 1500; i < 3000; ++i) column[i] *= T(1e-10);
      column[3000] = T(1e5);
    }
    tree_options<dim> const options{.max_leaf_size = leaf_size};
    auto const tree = build_tree(x.view(), options);
    EXPECT_LE(tree.largest_leaf(), index_type(leaf_size));
    expect_leaves(tree, x);
    auto const y = make_points<T, dim>(cloud::uniform, 100);
    EXPECT_LE(build_tree(x.view(), y.view(), options).largest_leaf(), index_type(leaf_size));
    EXPECT_LE(build_tree(y.view(), x.view(), options).largest_leaf(), index_type(leaf_size));
  }

  TYPED_TEST(gaps, are_cut_of_points_on_a_line_along_any_axis)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const core = make_points<T, dim>(cloud::uniform, 2000);
    for (int d = 0; d < dim; ++d)
    {
      points<T, dim> x;
      for (T const along : core.columns[d])
      {
        auto point = at<dim>(0.5);
        point[d] = along;
        x.push_back(point);
      }
      x = with(x, {-1e13});
      auto const tree = build_tree(x.view(), {.max_leaf_size = leaf_size});
      EXPECT_LE(tree.largest_leaf(), index_type(leaf_size)) << d;
    }
  }

  TYPED_TEST(gaps, are_cut_before_a_size_is_chosen)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const x = with(make_points<T, dim>(cloud::uniform, 3000), {-1e13});
    EXPECT_LE(build_tree(x.view(), {.max_leaf_size = automatic}).largest_leaf(), 1024u);
  }

  TYPED_TEST(gaps, stay_where_they_were_otherwise)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    tree_options<dim> const options{.max_leaf_size = 2};
    auto const has_pieces = [](tree<dim> const& tree)
    {
      bool any = false;
      for (int d = 0; d < dim; ++d) any |= !tree.pieces(d).empty();
      return any;
    };
    for (cloud const shape : all_clouds)
    {
      // many points at one place, and a few that are not far enough away
      auto x = make_points<T, dim>(shape, 3000);
      for (auto& column : x.columns)
        for (std::size_t i = 0; i < 1500; ++i) column[i] = column[0];
      EXPECT_FALSE(has_pieces(build_tree(x.view(), options))) << shape;
      x = with(x, {1e3, -1e3});
      EXPECT_FALSE(has_pieces(build_tree(x.view(), options))) << shape;
    }
    // what the caller has chosen
    auto const x = with(make_points<T, dim>(cloud::uniform, 3000), {1e13});
    EXPECT_TRUE(has_pieces(build_tree(x.view(), options)));
    tree_options<dim> with_root = options;
    with_root.root = cube<dim>{at<dim>(0), 2e13};
    EXPECT_FALSE(has_pieces(build_tree(x.view(), with_root)));
    EXPECT_FALSE(has_pieces(build_tree(x.view(), {.level = 4})));
  }

  TEST(gaps, leave_periodic_axes_as_they_are)
  {
    auto x = make_points<double, 3>(cloud::uniform, 2000);
    x.columns[2][5] = -1e12;
    tree_options<3> options{.max_leaf_size = leaf_size};
    options.period[0] = 1;
    auto const tree = build_tree(x.view(), options);
    EXPECT_LE(tree.largest_leaf(), index_type(leaf_size));
    EXPECT_TRUE(tree.pieces(0).empty());
    EXPECT_EQ(tree.root().centre[0], 0.5);
    // also one with a gap that would be cut if it were open
    x = make_points<double, 3>(cloud::uniform, 5000);
    x.columns[2][5] = -1e12;
    x.columns[0][6] = 1e12;
    options.period[0] = 4e12;
    auto const wide = build_tree(x.view(), options);
    EXPECT_TRUE(wide.pieces(0).empty());
    EXPECT_FALSE(wide.pieces(2).empty());
    EXPECT_EQ(wide.root().centre[0], 2e12);
    options.period[0] = 0;
    auto const open = build_tree(x.view(), options);
    EXPECT_FALSE(open.pieces(0).empty());
  }

  TEST(gaps, belong_to_the_leaves_before_them_up_to_the_middle)
  {
    // two points, and many in a cube of the same size far away: leaves of level 1 meet in the middle of the gap
    points<double, 3> x = with(points<double, 3>(), {0, 15});
    for (int p = 0; p < 4096; ++p)
      x.push_back({0x1p30 + p % 16, 0x1p30 + p / 16 % 16, 0x1p30 + p / 256});
    auto const tree = build_tree(x.view(), {.max_leaf_size = leaf_size});
    ASSERT_EQ(tree.pieces(0).size(), 2u);
    ASSERT_EQ(tree.cell(0).level, 1);
    for (index_type b = 0; b < tree.size(); ++b)
      ASSERT_EQ(tree.leaf(b).half_width, std::ldexp(tree.root().half_width, -tree.cell(b).level));
  }

  namespace
  {
    detail::sorted_axis axis_of(std::vector<double> const& x)
    {
      detail::this_thread here;
      detail::sort_scratch scratch;
      detail::strided_column<double const> const all{x.data(), 1}, none{};
      return {here, all, x.size(), none, 0, scratch};
    }
  }

  TEST(gaps, are_cut_so_that_the_axis_is_resolved)
  {
    std::vector<double> x;
    for (int i = 0; i <= 8; ++i) x.push_back(std::ldexp(i, 100));
    auto const axis = axis_of(x);
    auto const spacing = axis.spacing(1);
    for (double const resolved : {8 * 1024., 8.})
    {
      double const length = detail::gaps_of_tree(spacing, resolved);
      auto const cut = detail::cut_gaps(axis.gaps(length), spacing, length);
      EXPECT_EQ(cut.upper - cut.lower, resolved);
    }
    EXPECT_EQ(detail::gaps_of_tree(spacing, std::ldexp(8, 100)),
              std::numeric_limits<double>::infinity());
  }

  TEST(gaps, are_judged_by_the_axis_where_points_are_farthest_apart)
  {
    std::vector<double> near, far;
    for (int i = 0; i < 100; ++i)
    {
      near.push_back(i);
      far.push_back(1024. * i);
    }
    auto const of_near = axis_of(near).spacing(1), of_far = axis_of(far).spacing(1);
    auto const resolved = [](std::vector<detail::axis_spacing> const& axes)
    {
      return detail::resolved_length(axes, 21);
    };
    EXPECT_EQ(resolved({of_far}), 1024 * resolved({of_near}));
    EXPECT_EQ(resolved({of_near, of_far}), resolved({of_far}));
    EXPECT_EQ(resolved({of_far, of_near}), resolved({of_far}));
  }
}
