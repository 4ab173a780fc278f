#include "clouds.hpp"
#include "part_of_a_tree.hpp"
#include "random_cells.hpp"

#include "runtime/mpi/src/axis_of_ranks.hpp"
#include "starpu/environment.hpp"
#include "tree/periodic_cases.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>
#include <nearfield/tree/leaf_size.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu_mpi::distributed_tree;
  using starpu_mpi::distribution_options;

  template <class T, int Dim>
  void expect_same_tree(points<T, Dim> const& all, owners who, tree_options<Dim> const& options,
                        distribution_options::cut_choice cuts, std::uint64_t seed)
  {
    auto const here = points_here(all, who, seed);
    distributed_tree const mine(MPI_COMM_WORLD, here, options,
                                {.cuts = cuts, .first_number = far_number});
    tree_options<Dim> along_the_curve = options;
    along_the_curve.order = leaf_order::morton;
    expect_part_of(build_tree(all.view(), along_the_curve), all, mine);
    expect_matching_layers(mine);
    expect_way_back(mine.way(), here.size(), mine.n_points());
  }

  template <class T, int Dim>
  void expect_same_trees(std::uint64_t seed)
  {
    for (cloud const shape : all_clouds)
      for (owners const who : all_owners)
      {
        random_numbers random(seed);
        std::size_t const n = random.below(5) == 0 ? random.below(8) : random.below(1500);
        auto const all = make_points<T, Dim>(shape, n, seed);
        for (auto const cuts :
             {distribution_options::equal_interactions, distribution_options::equal_points})
        {
          SCOPED_TRACE(testing::Message() << name_of(shape) << ", n = " << n << ", owners "
                                          << static_cast<int>(who) << ", seed " << seed);
          int const s = 1 + static_cast<int>(random.below(40));
          expect_same_tree(all, who, tree_options<Dim>{.max_leaf_size = s}, cuts, seed);
          int const level = static_cast<int>(random.below(6));
          expect_same_tree(all, who, tree_options<Dim>{.level = level}, cuts, seed);
          if (sum_of_ranks(testing::Test::HasFailure()) > 0) return; // all ranks together
          ++seed;
        }
      }
  }

  TEST(distributed_tree, is_that_of_one_rank_in_3d)
  {
    expect_same_trees<double, 3>(1000);
  }
  TEST(distributed_tree, is_that_of_one_rank_in_2d)
  {
    expect_same_trees<float, 2>(2000);
  }
  TEST(distributed_tree, is_that_of_one_rank_in_single_precision)
  {
    expect_same_trees<float, 3>(3000);
  }

  template <class T, int Dim>
  void expect_same_periodic_trees(std::uint64_t seed)
  {
    for (owners const who : all_owners)
      for (int i = 0; i < 6; ++i, ++seed)
      {
        periodic_case<T, Dim> const one(seed, 900);
        SCOPED_TRACE(one.name() + ", seed " + std::to_string(seed));
        expect_same_tree(one.x, who, one.options, distribution_options::equal_interactions, seed);
        if (sum_of_ranks(testing::Test::HasFailure()) > 0) return; // all ranks together
      }
  }
  TEST(distributed_tree, is_that_of_one_rank_in_periodic_boxes)
  {
    expect_same_periodic_trees<double, 3>(100);
    expect_same_periodic_trees<float, 2>(200);
  }

  template <class T, int Dim>
  points<T, Dim> wrapped(points<T, Dim> x, cell<Dim> const& box)
  {
    std::array<T*, Dim> columns;
    for (std::size_t d = 0; d < Dim; ++d) columns[d] = x.columns[d].data();
    wrap(soa<T, Dim>(columns, x.size()), box);
    return x;
  }

  // Points anywhere, which come into the box before ranks exchange them.
  template <class T, int Dim>
  void expect_same_trees_in_any_box(std::uint64_t seed)
  {
    random_numbers random(seed);
    for (owners const who : all_owners)
      for (int i = 0; i < 4; ++i, ++seed)
      {
        auto const box = random_cell<Dim>(random, 1);
        auto x = make_points<T, Dim>(i % 2 == 0 ? cloud::uniform : cloud::plummer, 700, seed);
        for (auto& column : x.columns)
          for (T& value : column) value = 5 * value - 2;
        tree_options<Dim> options{.max_leaf_size = 1 + static_cast<int>(random.below(30)),
                                  .cell = box};
        if (i == 3) options.level = static_cast<int>(random.below(4));
        if (i == 3) options.order = leaf_order::morton;
        SCOPED_TRACE(testing::Message() << "owners " << static_cast<int>(who) << ", seed " << seed);
        auto const one = build_tree(x.view(), options);
        auto const here = points_here(x, who, seed);
        distributed_tree mine(MPI_COMM_WORLD, here, options, {.first_number = far_number});
        expect_part_of(one, wrapped(x, box), mine);
        expect_matching_layers(mine);
        for (auto& column : x.columns)
          for (T& value : column) value += T(1.25);
        mine.rebuild(here);
        expect_part_of(build_tree(x.view(), options), wrapped(x, box), mine);
        if (sum_of_ranks(testing::Test::HasFailure()) > 0) return; // all ranks together
      }
  }
  TEST(distributed_tree, is_that_of_one_rank_in_boxes_of_any_shape)
  {
    expect_same_trees_in_any_box<double, 3>(1);
    expect_same_trees_in_any_box<float, 2>(2);
    expect_same_trees_in_any_box<float, 3>(3);
  }

  template <class T, int Dim>
  void expect_gaps_of_one_rank()
  {
    tree_options<Dim> const options{.max_leaf_size = 20};
    auto const y = make_points<T, Dim>(cloud::plummer, 900, 3);
    for (owners const who : all_owners)
    {
      auto x = make_points<T, Dim>(cloud::uniform, 3000, 7);
      auto const here = points_here(x, who, 1), y_here = points_here(y, who, 2);
      distributed_tree mine(MPI_COMM_WORLD, here, options, {.first_number = far_number});
      // points go away one by one, and return together
      for (auto const& [point, far] :
           {std::pair(0, -1e13), std::pair(2999, 3e12), std::pair(1500, 1e30), std::pair(-1, 0.)})
      {
        SCOPED_TRACE(testing::Message() << "owners " << static_cast<int>(who) << ", " << point);
        for (auto& column : x.columns)
          if (point >= 0)
            column[static_cast<std::size_t>(point)] = static_cast<T>(far);
          else
            column[0] = column[1500] = column[2999] = T(0.5);
        auto const one = build_tree(x.view(), options);
        EXPECT_EQ(one.pieces(0).empty(), point < 0);
        mine.rebuild(here);
        expect_part_of(one, x, mine);
        expect_part_of(
            one, x, distributed_tree(MPI_COMM_WORLD, here, options, {.first_number = far_number}));
        distributed_tree const two(MPI_COMM_WORLD, here, y_here, options,
                                   {.first_number = far_number});
        expect_part_of(build_tree(x.view(), y.view(), options), x, y, two);
        if (sum_of_ranks(testing::Test::HasFailure()) > 0) return; // all ranks together
      }
    }
  }
  // Gaps between any two points, also those of different ranks, and points that coincide.
  TEST(distributed_tree, knows_the_gaps_of_an_axis_as_one_rank_does)
  {
    auto const numbers = [](std::vector<nearfield::detail::axis_gap> const& gaps)
    {
      std::vector<std::array<double, 3>> all;
      for (auto const& gap : gaps) all.push_back({gap.before, gap.after, double(gap.n_before)});
      return all;
    };
    starpu_mpi::detail::ranks const all(MPI_COMM_WORLD);
    threads on(1);
    for (std::size_t const n : {0, 1, 2, 5, 13})
      for (owners const who : {owners::even, owners::odd_only})
      {
        SCOPED_TRACE(testing::Message() << n << " points, owners " << static_cast<int>(who));
        points<double, 1> x;
        for (std::size_t i = 0; i < n; ++i)
          x.columns[0].push_back(double((i * 7 % n) / 2) - (i == 5 ? 100 : 0));
        strided<double const, 1> const here = points_here(x, who, n);
        std::uint64_t const places = 1 + n % 3;
        starpu_mpi::detail::axis_of_ranks const mine(
            all, on, starpu_mpi::detail::bits_of_axis<double, 1>(all, std::array{here}, 0), places);
        nearfield::detail::sort_scratch scratch;
        nearfield::detail::strided_column<double const> const column{x.columns[0].data(), 1};
        nearfield::detail::sorted_axis const one(on, column, n, column, 0, scratch);
        auto const a = mine.spacing(), b = one.spacing(places);
        EXPECT_EQ(a.n, b.n);
        EXPECT_EQ(a.lower, b.lower);
        EXPECT_EQ(a.upper, b.upper);
        EXPECT_EQ(a.to_next.of, b.to_next.of);
        EXPECT_EQ(a.to_nth.of, b.to_nth.of);
        for (double const length : {0., 1., 50.})
          EXPECT_EQ(numbers(mine.gaps(length)), numbers(one.gaps(length)));
      }
  }
  TEST(distributed_tree, cuts_gaps_to_points_far_away_as_one_rank_does)
  {
    expect_gaps_of_one_rank<double, 3>();
    expect_gaps_of_one_rank<float, 2>();
  }

  TEST(distributed_tree, keeps_the_coordinates_of_the_larger_of_two_clusters)
  {
    auto x = make_points<double, 3>(cloud::uniform, 3001);
    for (auto& column : x.columns)
      for (std::size_t i = 1500; i < column.size(); ++i) column[i] += 1e10; // one point more
    tree_options<3> const options{.max_leaf_size = 20};
    auto const one = build_tree(x.view(), options);
    ASSERT_EQ(one.pieces(0).size(), 2u);
    EXPECT_EQ(one.pieces(0).back().offset, 0);
    auto const here = points_here(x, owners::random, 1);
    expect_part_of(one, x,
                   distributed_tree(MPI_COMM_WORLD, here, options, {.first_number = far_number}));
  }

  TEST(distributed_tree, takes_a_given_root)
  {
    auto const all = make_points<double, 3>(cloud::plummer, 900);
    tree_options<3> const options{.max_leaf_size = 9, .root = cube<3>{{0.5, 0.5, 0.25}, 4}};
    expect_same_tree(all, owners::random, options, distribution_options::equal_interactions, 5);
  }

  TEST(distributed_tree, leaves_points_with_an_owner_of_ranges)
  {
    // sorted along the curve, each rank's points are a range: nothing but leaves at borders moves
    auto const cloud_points = make_points<double, 3>(cloud::plummer, 2000);
    auto const one = build_tree(cloud_points.view(), {.max_leaf_size = 20});
    points<double, 3> all;
    for (index_type const i : one.target_order()) all.push_back(cloud_points[i]);
    for (owners const who : all_owners)
    {
      expect_same_tree(all, who, {.max_leaf_size = 20}, distribution_options::of_the_caller, 11);
      auto const rank = static_cast<std::size_t>(rank_of_world());
      auto const here = points_here(all, who, 11);
      distributed_tree const mine(MPI_COMM_WORLD, here, {.max_leaf_size = 20},
                                  {.cuts = distribution_options::of_the_caller});
      std::size_t const stay = mine.way().sent_offsets[rank + 1] - mine.way().sent_offsets[rank];
      EXPECT_LE(here.size() - stay, 20u);
    }
  }

  TEST(distributed_tree, takes_points_of_one_box_on_both_sides_of_a_cut)
  {
    for (cloud const shape : {cloud::all_equal, cloud::coincident})
    {
      auto const cloud_points = make_points<double, 3>(shape, 700);
      auto const one = build_tree(cloud_points.view(), {.max_leaf_size = 20});
      points<double, 3> all;
      for (index_type const i : one.target_order()) all.push_back(cloud_points[i]);
      for (owners const who : all_owners)
        expect_same_tree(all, who, {.max_leaf_size = 20}, distribution_options::of_the_caller, 17);
    }
  }

  constexpr double never = std::numeric_limits<double>::infinity();

  /// Points drift over the cuts, fall into one corner, and return.
  template <class T, int Dim>
  void expect_same_moving_trees(tree_options<Dim> options, distribution_options::cut_choice cuts,
                                double imbalance, std::uint64_t seed)
  {
    SCOPED_TRACE(testing::Message() << "imbalance " << imbalance << ", seed " << seed);
    auto all = make_points<T, Dim>(cloud::coincident, 1200, seed);
    auto const start = all;
    owners const who = all_owners[seed % std::size(all_owners)];
    auto const here = points_here(all, who, seed);
    options.root = cube<Dim>{{}, 2};
    distributed_tree mine(MPI_COMM_WORLD, here, options,
                          {.cuts = cuts, .first_number = far_number, .imbalance = imbalance});
    std::vector<std::uint64_t> const old(mine.cuts().begin(), mine.cuts().end());
    random_numbers random(seed);
    tree_options<Dim> along_the_curve = options;
    along_the_curve.order = leaf_order::morton;
    for (int t = 0; t < 6; ++t)
    {
      for (int d = 0; d < Dim; ++d)
        for (std::size_t i = 0; i < all.size(); ++i)
        {
          T& x = all.columns[d][i];
          if (t < 3) x += static_cast<T>(random.uniform(-0.1, 0.05));
          if (t == 3) x = static_cast<T>(-1.5) + x / 64;
          if (t == 4) x = static_cast<T>(0.01 * random.uniform() + (i % 2 == 0 ? 1.9 : -1.9));
          if (t == 5) x = start.columns[d][i];
        }
      mine.rebuild(here);
      expect_part_of(build_tree(all.view(), along_the_curve), all, mine);
      expect_matching_layers(mine);
      expect_way_back(mine.way(), here.size(), mine.n_points());
      distributed_tree const fresh(MPI_COMM_WORLD, mine.positions(), options,
                                   {.cuts = distribution_options::of_the_caller});
      expect_equal_parts(mine, fresh);
      if (t == 3 && imbalance == never)
      {
        EXPECT_EQ(mine.n_points() == 0, rank_of_world() > 0);
      }
      if (sum_of_ranks(testing::Test::HasFailure()) > 0) FAIL() << "step " << t;
    }
    if (imbalance == never)
    {
      EXPECT_TRUE(std::ranges::equal(mine.cuts(), old));
    }
  }

  TEST(distributed_tree, rebuilds_what_a_fresh_one_would_be)
  {
    for (double const imbalance : {0.1, never})
      for (std::uint64_t seed = 0; seed < std::size(all_owners); ++seed)
      {
        expect_same_moving_trees<double, 3>(
            {.max_leaf_size = 12}, distribution_options::equal_interactions, imbalance, seed);
        expect_same_moving_trees<float, 2>({.level = 4}, distribution_options::equal_points,
                                           imbalance, seed);
      }
  }

  TEST(distributed_tree, follows_more_points_and_cuts_of_the_caller)
  {
    auto all = make_points<double, 3>(cloud::plummer, 2000);
    tree_options<3> options{.max_leaf_size = 20};
    auto const one = build_tree(all.view(), options);
    options.root = one.root(); // that of a part would be another curve
    points<double, 3> sorted;
    for (index_type const i : one.target_order()) sorted.push_back(all[i]);
    auto const rank = static_cast<std::size_t>(rank_of_world());
    auto const first = first_points(owners::even, 1000, 1),
               more = first_points(owners::random, 2000, 7);
    distributed_tree mine(
        MPI_COMM_WORLD, slice(sorted, first[rank], first[rank + 1]), options,
        {.cuts = distribution_options::of_the_caller, .first_number = far_number});
    auto const here = slice(sorted, more[rank], more[rank + 1]);
    mine.rebuild(here);
    expect_part_of(build_tree(sorted.view(), options), sorted, mine);
    std::size_t const stay = mine.way().sent_offsets[rank + 1] - mine.way().sent_offsets[rank];
    EXPECT_LE(here.size() - stay, 20u);
  }

  TEST(distributed_tree, chooses_leaf_sizes_as_one_rank_does)
  {
    auto const near_field = [](double targets, double sources)
    {
      return 1e-9 * (targets + 20) * sources;
    };
    // without a far field, and with far fields that make large leaves best; points anywhere
    for (cloud const shape : {cloud::uniform, cloud::plummer})
      for (double const per_leaf : {0., 3e-6, 1e-4})
      {
        auto const all = make_points<double, 3>(shape, 20000);
        auto const here = points_here(all, owners::random, 3);
        leaf_costs const costs{.near_field = near_field, .seconds_per_leaf = per_leaf};
        tree_options<3> options{.max_leaf_size = automatic, .costs = &costs};
        distributed_tree<double, 3> mine(MPI_COMM_WORLD, here, options,
                                         {.first_number = far_number});
        auto const chosen = static_cast<int>(mine.max_leaf_size());
        SCOPED_TRACE(testing::Message()
                     << name_of(shape) << ", " << per_leaf << " s a leaf: " << chosen);
        auto const of_one_rank = choose_leaf_size(simd, all.view(), costs);
        expect_as_good(chosen, of_one_rank, per_leaf > 0);
        options.max_leaf_size = chosen;
        expect_part_of(build_tree(all.view(), options), all, mine);
        mine.rebuild(here); // keeps the size, without the costs
        EXPECT_EQ(mine.max_leaf_size(), static_cast<index_type>(chosen));
      }
  }

  TEST(distributed_tree, throws_the_same_error_on_all_ranks)
  {
    int const bad = size_of_world() - 1;
    auto all = make_points<double, 3>(cloud::uniform, 50, 1 + std::uint64_t(rank_of_world()));
    if (rank_of_world() == bad) all.columns[1][7] = std::nan("");
    EXPECT_THAT(
        message_of([&] { distributed_tree const mine(MPI_COMM_WORLD, all.view()); }),
        testing::AllOf(testing::StartsWith("rank " + std::to_string(bad) + ": build_tree: "),
                       testing::HasSubstr("point 7 of points at (")));
    EXPECT_THAT(
        [&] { distributed_tree const mine(MPI_COMM_WORLD, all.view()); },
        testing::Throws<error>(testing::Property(&error::kind, error_kind::invalid_argument)));
    all.columns[1][7] = 0.5;
    EXPECT_THAT(message_of(
                    [&]
                    {
                      distributed_tree const mine(MPI_COMM_WORLD, all.view(),
                                                  {.level = 2, .order = leaf_order::row_major});
                    }),
                testing::HasSubstr("order is row_major"));
    EXPECT_THAT(
        message_of([&] { distributed_tree const mine(MPI_COMM_WORLD, all.view(), {.level = 22}); }),
        testing::HasSubstr("level is 22"));
    auto const message_for = [&](tree_options<3> const& options)
    {
      return message_of([&] { distributed_tree const mine(MPI_COMM_WORLD, all.view(), options); });
    };
    EXPECT_THAT(message_for({.period = {0, 1e-3, 0}}),
                testing::HasSubstr("outside the periodic box"));
    auto const box = cell<3>::of_lengths(std::array{0., 2., 0.});
    EXPECT_THAT(message_for({.period = {0, 2, 0}, .cell = box}),
                testing::HasSubstr("both .cell and .period are given"));
    EXPECT_THAT(message_for({.cell = {.periodic = {true, true, false}}}),
                testing::HasSubstr("cell: vector 0"));
    EXPECT_THAT(message_for({.period = {0, -2, 0}}), testing::HasSubstr("build_tree: the period"));
    leaf_costs const negative{.near_field = [](double, double)
                              {
                                return -1;
                              }};
    EXPECT_THAT(message_for({.max_leaf_size = automatic, .costs = &negative}),
                testing::HasSubstr("leaf_costs: near_field("));
    leaf_costs const one_is_bad{.seconds_per_leaf = rank_of_world() == 0 ? -1. : 0.};
    EXPECT_THAT(message_for({.max_leaf_size = automatic, .costs = &one_is_bad}),
                testing::HasSubstr("seconds_per_leaf is -1"));
    if (size_of_world() > 1)
    {
      EXPECT_THAT(message_of(
                      [&]
                      {
                        distributed_tree const mine(MPI_COMM_WORLD, all.view(), {},
                                                    {.cuts = distribution_options::of_the_caller});
                      }),
                  testing::HasSubstr("along the Z curve"));
    }
  }
  TEST(distributed_tree, stays_as_it_was_if_a_move_is_an_error)
  {
    auto all = make_points<double, 3>(cloud::plummer, 800);
    auto const start = all;
    int const bad = size_of_world() - 1;
    auto const here = points_here(all, owners::even, 1);
    distributed_tree mine(MPI_COMM_WORLD, here, {.max_leaf_size = 9}, {.first_number = far_number});
    all.columns[2].back() = std::nan("");
    EXPECT_THAT(
        message_of([&] { mine.rebuild(here); }),
        testing::AllOf(testing::StartsWith("rank " + std::to_string(bad) + ": build_tree: point "),
                       testing::HasSubstr("of points at (")));
    all.columns[2].back() = 0.25;
    EXPECT_THAT(message_of([&] { mine.rebuild(here, rank_of_world() == bad ? -1 : 1); }),
                testing::AllOf(testing::StartsWith("rank " + std::to_string(bad)),
                               testing::HasSubstr("seconds is -1")));
    double const infinity = std::numeric_limits<double>::infinity();
    EXPECT_THAT(message_of([&] { mine.rebuild(here, rank_of_world() == bad ? infinity : 1); }),
                testing::HasSubstr("seconds is inf"));
    auto const one = build_tree(start.view(), {.max_leaf_size = 9});
    expect_part_of(one, start, mine);
    for (std::size_t i = 0; i < all.size(); ++i) all.columns[0][i] = start.columns[1][i];
    mine.rebuild(here);
    expect_part_of(build_tree(all.view(), {.max_leaf_size = 9}), all, mine);
    EXPECT_THAT(
        message_of(
            [&] { distributed_tree const other(MPI_COMM_WORLD, here, {}, {.imbalance = -0.1}); }),
        testing::HasSubstr("imbalance is -0.1"));
  }
}
