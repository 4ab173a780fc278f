#include <nearfield/tree/build_tree.hpp>

#include "tree_cases.hpp"
#include "tree_reference.hpp"

#include <nearfield/core/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using ::testing::AllOf;
    using ::testing::HasSubstr;
    using ::testing::Not;
    using ::testing::ThrowsMessage;

    /// Every point stands once, in the leaf that the formula names; inside a leaf points are sorted by their boxes of
    /// `key_level`, those of one such box by index.
    template <class T, int Dim>
    void expect_sorted(tree<Dim> const& tree, points<T, Dim> const& points, boxes const& leaves,
                       std::span<index_type const> order, int key_level)
    {
      ASSERT_EQ(leaves.size(), tree.size());
      ASSERT_EQ(leaves.offsets.front(), 0);
      ASSERT_EQ(leaves.offsets.back(), points.size());
      std::vector<index_type> once(points.size());
      std::iota(once.begin(), once.end(), index_type(0));
      ASSERT_TRUE(std::ranges::is_permutation(order, once));
      for (index_type b = 0; b < tree.size(); ++b)
      {
        ASSERT_LE(leaves.begin(b), leaves.end(b));
        auto const inside = order.subspan(leaves.begin(b), leaves.count(b));
        for (index_type const i : inside)
          ASSERT_EQ(box_index(points, i, tree.root(), tree.cell(b).level), tree.cell(b).index)
              << "point " << i << " in leaf " << b;
        auto const comes_first = [&](index_type i, index_type j)
        {
          leaf_cell<Dim> const a{box_index(points, i, tree.root(), key_level), key_level};
          leaf_cell<Dim> const c{box_index(points, j, tree.root(), key_level), key_level};
          return a == c ? i < j : precedes(a, c, tree.order());
        };
        EXPECT_TRUE(std::ranges::is_sorted(inside, comes_first)) << "leaf " << b;
      }
    }

    template <int Dim>
    void expect_leaves_in_order(tree<Dim> const& tree)
    {
      for (index_type b = 0; b < tree.size(); ++b)
      {
        EXPECT_GT(tree.targets().count(b) + tree.sources().count(b), 0) << "leaf " << b;
        if (b > 0)
        {
          ASSERT_TRUE(precedes(tree.cell(b - 1), tree.cell(b), tree.order())) << "leaf " << b;
        }
        cube<Dim> const leaf = tree.leaf(b);
        double const width = tree.root().width() / std::ldexp(1., tree.cell(b).level);
        EXPECT_EQ(leaf.width(), width);
        for (int d = 0; d < Dim; ++d)
          EXPECT_NEAR(leaf.centre[d], tree.root().lower(d) + (tree.cell(b).index[d] + 0.5) * width,
                      1e-15 * tree.root().width());
      }
    }

    /// Trees whose keys are those of the last level: adaptive, and uniform.
    template <class T, int Dim>
    void expect_sorted_to_the_last_level(points<T, Dim> const& points)
    {
      for (tree_options<Dim> const& options :
           {tree_options<Dim>{.max_leaf_size = 16}, tree_options<Dim>{.level = max_level<Dim>}})
      {
        auto const tree = build_tree(points.view(), options);
        expect_sorted(tree, points, tree.targets(), tree.target_order(), max_level<Dim>);
        expect_leaves_in_order(tree);
      }
    }

    /// No leaf could be larger, none should be smaller.
    template <class T, int Dim>
    void expect_cut_as_needed(tree<Dim> const& tree, std::vector<points<T, Dim> const*> const& sets,
                              index_type limit)
    {
      EXPECT_EQ(tree.order(), leaf_order::morton);
      for (index_type b = 0; b < tree.size(); ++b)
      {
        leaf_cell<Dim> const cell = tree.cell(b);
        if (cell.level < max_level<Dim>)
        {
          EXPECT_LE(tree.targets().count(b), limit) << "leaf " << b;
          EXPECT_LE(tree.sources().count(b), limit) << "leaf " << b;
        }
        if (cell.level == 0) continue;
        std::array<std::uint32_t, Dim> parent = cell.index;
        for (std::uint32_t& index : parent) index /= 2;
        std::ptrdiff_t crowd = 0;
        for (points<T, Dim> const* set : sets)
        {
          std::ptrdiff_t count = 0;
          for (std::size_t i = 0; i < set->size(); ++i)
            count += box_index(*set, i, tree.root(), cell.level - 1) == parent;
          crowd = std::max(crowd, count);
        }
        EXPECT_GT(crowd, limit) << "leaf " << b << " need not have been cut off";
      }
    }

    template <int Dim>
    void expect_uniform(tree<Dim> const& tree, tree_options<Dim> const& options)
    {
      EXPECT_EQ(tree.order(), options.order.value_or(leaf_order::row_major));
      EXPECT_EQ(tree.depth(), options.level);
      for (index_type b = 0; b < tree.size(); ++b) EXPECT_EQ(tree.cell(b).level, options.level);
    }

    auto says(std::string const& what, std::string const& remedy)
    {
      return ThrowsMessage<error>(AllOf(HasSubstr(what), HasSubstr(remedy), Not(HasSubstr("\n"))));
    }
  }

  template <class Coordinates>
  struct build : ::testing::Test
  {
    using coordinate = typename Coordinates::real;
    using cloud_type = points<coordinate, Coordinates::dim>;

    static cube<Coordinates::dim> unit()
    {
      cube<Coordinates::dim> result;
      result.centre.fill(0.5);
      result.half_width = 0.5;
      return result;
    }
    static cloud_type along_x(std::vector<coordinate> const& x)
    {
      cloud_type result;
      result.columns.fill(std::vector<coordinate>(x.size(), coordinate(0.5)));
      result.columns[0] = x;
      return result;
    }
  };
  TYPED_TEST_SUITE(build, all_coordinates, coordinate_names);

  TYPED_TEST(build, puts_each_point_of_one_set_into_its_leaf)
  {
    for (auto const& c : tree_cases<TypeParam::dim>())
    {
      SCOPED_TRACE(c.name());
      int const key_level = c.options.level.value_or(max_level<TypeParam::dim>);
      auto const points = make_points<typename TypeParam::real, TypeParam::dim>(c.shape, c.n);
      auto const tree = build_tree(points.view(), c.options);
      expect_sorted(tree, points, tree.targets(), tree.target_order(), key_level);
      expect_leaves_in_order(tree);
      if (c.options.level)
        expect_uniform(tree, c.options);
      else
        expect_cut_as_needed(tree, std::vector{&points},
                             static_cast<index_type>(c.options.max_leaf_size));
      EXPECT_EQ(tree.sources().offsets.data(), tree.targets().offsets.data());
      EXPECT_EQ(tree.source_order().data(), tree.target_order().data());
      if (this->HasFatalFailure()) return;
    }
  }

  TYPED_TEST(build, puts_each_point_of_two_sets_into_its_leaf)
  {
    using real = typename TypeParam::real;
    for (auto const& c : tree_cases<TypeParam::dim>())
    {
      SCOPED_TRACE(c.name());
      int const key_level = c.options.level.value_or(max_level<TypeParam::dim>);
      auto const targets = make_points<real, TypeParam::dim>(c.shape, c.n);
      auto const sources = make_points<real, TypeParam::dim>(cloud::uniform, 300, 3);
      auto const tree = build_tree(targets.view(), sources.view(), c.options);
      expect_sorted(tree, targets, tree.targets(), tree.target_order(), key_level);
      expect_sorted(tree, sources, tree.sources(), tree.source_order(), key_level);
      expect_leaves_in_order(tree);
      if (c.options.level)
        expect_uniform(tree, c.options);
      else
        expect_cut_as_needed(tree, std::vector{&targets, &sources},
                             static_cast<index_type>(c.options.max_leaf_size));
      if (this->HasFatalFailure()) return;
    }
  }

  TYPED_TEST(build, sorts_many_points_of_all_scales)
  {
    constexpr int dim = TypeParam::dim;
    random_numbers random(11);
    points<typename TypeParam::real, dim> points;
    for (int i = 0; i < 8000; ++i)
    {
      // every fourth point in one place, the others ever closer to another
      std::array<double, dim> x = uniform_point<dim>(random);
      for (double& value : x) value = i % 4 == 0 ? 0.375 : 0.7 + std::ldexp(value - 0.5, -(i % 23));
      points.push_back(x);
    }
    expect_sorted_to_the_last_level(points);
  }

  TYPED_TEST(build, cuts_boxes_with_single_children_as_needed)
  {
    using real = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const pairs = close_pairs<real, dim>(400);
    auto const others = make_points<real, dim>(cloud::uniform, 300, 3);
    for (int const most : {1, 2})
    {
      tree_options<dim> options{.max_leaf_size = most};
      options.root = cube<dim>{.centre = {}, .half_width = 1000};
      expect_cut_as_needed(build_tree(pairs.view(), options), std::vector{&pairs}, most);
      auto const two = build_tree(pairs.view(), others.view(), options);
      expect_cut_as_needed(two, std::vector{&pairs, &others}, most);
      expect_leaves_in_order(two);
    }
  }

  // As many points as are sorted at once, most of them in the last boxes.
  TYPED_TEST(build, sorts_4096_points_that_crowd_at_the_end)
  {
    constexpr int dim = TypeParam::dim;
    points<typename TypeParam::real, dim> points;
    for (int i = 0; i < 4096; ++i)
    {
      std::array<double, dim> x;
      x.fill(i < 100 ? 0.009 * i : 1 - 1e-7 * (i % 2));
      points.push_back(x);
    }
    expect_sorted_to_the_last_level(points);
  }

  TYPED_TEST(build, takes_the_cube_around_the_points_as_root)
  {
    auto points = this->along_x({0, 1, 4});
    points.columns[1] = {1, 3, 2};
    auto const root = build_tree(points.view()).root();
    EXPECT_EQ(root.half_width, 2);
    EXPECT_EQ(root.centre[0], 2);
    EXPECT_EQ(root.centre[1], 2);

    auto const sources = this->along_x({10});
    auto const both = build_tree(points.view(), sources.view()).root();
    EXPECT_EQ(both.half_width, 5);
    EXPECT_EQ(both.centre[0], 5);
    EXPECT_EQ(both.centre[1], 1.75);
  }

  TYPED_TEST(build, takes_the_root_that_is_given)
  {
    auto const points = this->along_x({0, 0.5, 0.75, 1});
    cube<TypeParam::dim> root = this->unit();
    root.half_width = 2;
    auto const tree = build_tree(points.view(), {.level = 2, .root = root});
    EXPECT_EQ(tree.root(), root);
    ASSERT_EQ(tree.size(), 2);
    EXPECT_EQ(tree.cell(0).index[0], 1);
    EXPECT_EQ(tree.cell(1).index[0], 2);
    EXPECT_EQ(tree.targets().count(1), 3) << "a point on a face belongs to the upper box";
  }

  TYPED_TEST(build, makes_one_leaf_where_all_points_are_equal_or_one)
  {
    for (std::size_t const n : {1, 5})
    {
      auto const points =
          make_points<typename TypeParam::real, TypeParam::dim>(cloud::all_equal, n);
      auto const tree = build_tree(points.view(), {.max_leaf_size = 5});
      EXPECT_EQ(tree.size(), 1);
      EXPECT_EQ(tree.depth(), 0);
      EXPECT_EQ(tree.largest_leaf(), n);
      EXPECT_EQ(tree.root().half_width, 1);
      EXPECT_EQ(tree.root().centre[0], 0.375);
      EXPECT_EQ(tree.interaction_count(), n * (n - 1));
    }
  }

  TYPED_TEST(build, makes_no_leaf_without_points)
  {
    points<typename TypeParam::real, TypeParam::dim> const none;
    auto const tree = build_tree(none.view());
    EXPECT_EQ(tree.size(), 0);
    EXPECT_EQ(tree.targets().size(), 0);
    EXPECT_EQ(tree.largest_leaf(), 0);
    EXPECT_EQ(tree.depth(), 0);
    EXPECT_EQ(tree.interaction_count(), 0);
    EXPECT_TRUE(tree.half_interactions().ranges.empty());
    EXPECT_EQ(build_tree(none.view(), {.level = 3}).depth(), 3);
    EXPECT_EQ(build_tree(none.view(), none.view()).size(), 0);
  }

  TYPED_TEST(build, leaves_coincident_points_in_one_leaf_at_the_last_level)
  {
    using real = typename TypeParam::real;
    auto points = this->along_x(std::vector<real>(100, real(0.375)));
    points.columns[0].push_back(1);
    for (int d = 1; d < TypeParam::dim; ++d) points.columns[d].push_back(0);
    auto const tree = build_tree(points.view(), {.max_leaf_size = 8, .root = this->unit()});
    ASSERT_EQ(tree.size(), 2);
    EXPECT_EQ(tree.depth(), max_level<TypeParam::dim>);
    EXPECT_EQ(tree.largest_leaf(), 100);
    EXPECT_EQ(tree.cell(0).index[0], 3u << (max_level<TypeParam::dim> - 3));
    EXPECT_EQ(tree.cell(0).level, max_level<TypeParam::dim>);
    EXPECT_EQ(tree.cell(1).index[0], 1);
    EXPECT_EQ(tree.cell(1).level, 1);
  }

  TYPED_TEST(build, separates_points_that_are_one_box_of_the_last_level_apart)
  {
    using real = typename TypeParam::real;
    int const deepest = max_level<TypeParam::dim>;
    real const step = std::ldexp(real(1), -deepest);
    auto const points = this->along_x({step, 1, 0, 3 * step});
    auto const tree = build_tree(points.view(), {.max_leaf_size = 1, .root = this->unit()});
    ASSERT_EQ(tree.size(), 4);
    EXPECT_EQ(tree.cell(0).level, deepest);
    EXPECT_EQ(tree.cell(1).level, deepest);
    EXPECT_EQ(tree.cell(2).level, deepest - 1);
    EXPECT_EQ(tree.interactions().neighbours(0).size(), 1);
    EXPECT_EQ(tree.interactions().neighbours(1).size(), 2);
    EXPECT_EQ(tree.interactions().neighbours(3).size(), 0);

    auto const uniform = build_tree(points.view(), {.level = deepest, .root = this->unit()});
    EXPECT_EQ(uniform.cell(1).index[0], 1);
    EXPECT_EQ(uniform.cell(2).index[0], 3);
    EXPECT_EQ(uniform.cell(3).index[0], (1u << deepest) - 1)
        << "the upper face belongs to the last";
  }

  TYPED_TEST(build, clamps_points_a_rounding_outside_the_root)
  {
    using real = typename TypeParam::real;
    real const eps = std::numeric_limits<real>::epsilon();
    cube<TypeParam::dim> root;
    root.half_width = 1;
    auto const clamped = this->along_x({-1 - 3 * eps, real(0.5), 1 + 3 * eps});
    for (int const level : {3, max_level<TypeParam::dim>})
    {
      auto const tree = build_tree(clamped.view(), {.level = level, .root = root});
      ASSERT_EQ(tree.size(), 3);
      EXPECT_EQ(tree.cell(0).index[0], 0);
      EXPECT_EQ(tree.cell(2).index[0], (1u << level) - 1);
    }

    for (real const outside : {-1 - 6 * eps, 1 + 6 * eps})
    {
      auto const points = this->along_x({real(0.5), outside});
      std::string const place = outside < 0 ? "at (-1.0" : "at (1.0";
      EXPECT_THAT([&] { (void)build_tree(points.view(), {.root = root}); },
                  says("point 1 of points " + place, "give a root"));
      EXPECT_THAT([&] { (void)build_tree(clamped.view(), points.view(), {.root = root}); },
                  says("point 1 of sources " + place, "give a root"));
    }
  }

  TYPED_TEST(build, accepts_a_cloud_far_from_the_origin)
  {
    // The root cannot be placed exactly here; that is no fault of the points.
    using real = typename TypeParam::real;
    real const far = std::ldexp(real(1), std::numeric_limits<real>::digits);
    auto const points = this->along_x({far, far + 2, far + 4, -far});
    auto const tree = build_tree(points.view(), {.max_leaf_size = 1});
    EXPECT_EQ(tree.targets().offsets.back(), 4);
    real const largest = std::numeric_limits<real>::max() / 4;
    EXPECT_EQ(build_tree(this->along_x({largest, -largest, 0}).view(), {.level = 1}).size(), 2);
  }

  TYPED_TEST(build, refuses_coordinates_that_are_not_finite)
  {
    using real = typename TypeParam::real;
    auto const good = this->along_x({0, 1});
    auto const bad = this->along_x({0, 1, std::numeric_limits<real>::quiet_NaN(), 2});
    auto const infinite = this->along_x({-std::numeric_limits<real>::infinity()});
    EXPECT_THAT([&] { (void)build_tree(bad.view()); },
                says("point 2 of points at (nan", "correct"));
    EXPECT_THAT([&] { (void)build_tree(good.view(), bad.view()); },
                says("point 2 of sources at (nan", "correct"));
    EXPECT_THAT([&] { (void)build_tree(infinite.view(), good.view(), {.root = this->unit()}); },
                says("point 0 of targets at (-inf", "correct"));
  }

  TYPED_TEST(build, refuses_options_out_of_bounds)
  {
    using options = tree_options<TypeParam::dim>;
    auto const points = this->along_x({0, 1});
    auto const with_options = [&](options const& with)
    {
      return [&points, with]
      {
        (void)build_tree(points.view(), with);
      };
    };
    int const deepest = max_level<TypeParam::dim>;

    EXPECT_THAT(with_options({.level = -1}), says("level is -1", "give 0 to "));
    EXPECT_THAT(
        with_options({.level = deepest + 1}),
        says("level is " + std::to_string(deepest + 1), "give 0 to " + std::to_string(deepest)));
    EXPECT_THAT(with_options({.max_leaf_size = -1}), says("max_leaf_size is -1", "at least 1"));
    EXPECT_THAT(with_options({.order = leaf_order::row_major}), says("row_major", "give a level"));
    for (double const half_width :
         {0., -1., std::numeric_limits<double>::infinity(), std::nan(""), 1e308})
    {
      cube<TypeParam::dim> root = this->unit();
      root.half_width = half_width;
      EXPECT_THAT(with_options({.root = root}), says("half width", "positive, finite"))
          << half_width;
    }
    cube<TypeParam::dim> root = this->unit();
    root.centre[1] = std::nan("");
    EXPECT_THAT(with_options({.root = root}), says("nan", "finite centre"));
  }

  TYPED_TEST(build, refuses_null_columns_and_too_many_points)
  {
    using real = typename TypeParam::real;
    real const one = 1;
    std::array<real const*, TypeParam::dim> columns;
    columns.fill(&one);
    soa<real const, TypeParam::dim> const crowd(columns, std::size_t(0xffffffff));
    EXPECT_THAT([&] { (void)build_tree(crowd); }, says("4294967295 points", "fewer than 2^32"));
    columns[1] = nullptr;
    soa<real const, TypeParam::dim> const hollow(columns, 1);
    EXPECT_THAT([&] { (void)build_tree(hollow); }, says("column 1 of points is null", "1 values"));
  }

  TEST(build_tree, is_computed_in_double_whatever_the_coordinates)
  {
    auto const narrow = make_points<float, 3>(cloud::plummer, 3000);
    points<double, 3> wide;
    for (int d = 0; d < 3; ++d)
      wide.columns[d].assign(narrow.columns[d].begin(), narrow.columns[d].end());
    auto const a = build_tree(narrow.view(), {.max_leaf_size = 10});
    auto const b = build_tree(wide.view(), {.max_leaf_size = 10});
    EXPECT_EQ(a.root(), b.root());
    EXPECT_TRUE(std::ranges::equal(a.target_order(), b.target_order()));
    EXPECT_TRUE(std::ranges::equal(a.interactions().ranges, b.interactions().ranges));
  }

  TEST(build_tree, takes_columns_of_any_kind)
  {
    std::vector<double> x{0, 1, 2};
    std::array<double, 3> const y{3, 4, 5};
    double const z[] = {6, 7, 8};
    EXPECT_EQ(build_tree(soa{x, x, x}, {.max_leaf_size = 1}).size(), 3);
    EXPECT_EQ(build_tree(soa{y, z}, {}).size(), 1);
    EXPECT_EQ(build_tree(soa{x, x}, soa{y, z}, {.level = 1}).size(), 2);
  }
}
