// A tree of targets and sources over ranks is that of one rank.

#include "part_of_a_tree.hpp"

#include "starpu/environment.hpp"
#include "tree/periodic_cases.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>
#include <nearfield/tree/leaf_size.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu_mpi::distributed_tree;
  using starpu_mpi::distribution_options;

  template <class T, int Dim>
  struct two_sets
  {
    points<T, Dim> targets, sources;
    std::vector<std::size_t> first_target, first_source;

    two_sets(points<T, Dim> x, points<T, Dim> y, std::uint64_t seed)
        : targets(std::move(x)), sources(std::move(y)),
          first_target(first_points(all_owners[seed % 5], targets.size(), seed)),
          first_source(first_points(all_owners[seed / 5 % 5], sources.size(), seed + 1))
    {}

    [[nodiscard]] auto targets_here() const { return here(targets, first_target); }
    [[nodiscard]] auto sources_here() const { return here(sources, first_source); }

    void expect_part(distributed_tree<T, Dim> const& mine, tree_options<Dim> options) const
    {
      options.order = leaf_order::morton;
      expect_part_of(build_tree(targets.view(), sources.view(), options), targets, sources, mine);
      expect_matching_layers(mine);
      expect_way_back(mine.way(), targets_here().size(), mine.n_points());
      expect_way_back(mine.source_way(), sources_here().size(), mine.n_sources());
    }

  private:
    static auto here(points<T, Dim> const& all, std::vector<std::size_t> const& first)
    {
      auto const rank = static_cast<std::size_t>(rank_of_world());
      return slice(all, first[rank], first[rank + 1]);
    }
  };

  template <class T, int Dim>
  void expect_same_tree(two_sets<T, Dim> const& of, tree_options<Dim> const& options,
                        distribution_options::cut_choice cuts)
  {
    distributed_tree const mine(MPI_COMM_WORLD, of.targets_here(), of.sources_here(), options,
                                {.cuts = cuts, .first_number = far_number});
    of.expect_part(mine, options);
  }

  /// Clouds that overlap, or lie apart, so that ranks have targets or sources only; all kinds of owners.
  template <class T, int Dim>
  void expect_same_trees(std::uint64_t seed, std::uint64_t n_cases)
  {
    for (std::uint64_t const end = seed + n_cases; seed < end; ++seed)
    {
      random_numbers random(seed);
      auto const draw = [&]
      {
        std::size_t const n = random.below(5) == 0 ? random.below(8) : random.below(1200);
        return make_points<T, Dim>(all_clouds[random.below(6)], n, random.below(1000));
      };
      two_sets<T, Dim> of(draw(), draw(), seed);
      if (random.below(3) == 0)
        for (T& x : of.sources.columns[0]) x += T(random.uniform(0, 3));
      SCOPED_TRACE(testing::Message() << of.targets.size() << " targets, " << of.sources.size()
                                      << " sources, seed " << seed);
      auto const cuts = seed % 2 == 0 ? distribution_options::equal_interactions
                                      : distribution_options::equal_points;
      int const s = 1 + static_cast<int>(random.below(40));
      expect_same_tree(of, tree_options<Dim>{.max_leaf_size = s}, cuts);
      expect_same_tree(of, tree_options<Dim>{.level = int(random.below(6))}, cuts);
      if (sum_of_ranks(testing::Test::HasFailure()) > 0) return; // all ranks together
    }
  }

  TEST(distributed_tree_of_two_sets, is_that_of_one_rank)
  {
    expect_same_trees<double, 3>(100, 25);
    expect_same_trees<float, 2>(200, 25);
  }

  TEST(distributed_tree_of_two_sets, is_that_of_one_rank_in_periodic_boxes)
  {
    for (std::uint64_t seed = 0; seed < 12; ++seed)
    {
      periodic_case<double, 3> const one(seed + 7, 900);
      SCOPED_TRACE(one.name());
      auto options = one.options;
      options.order.reset();
      expect_same_tree(two_sets<double, 3>(one.x, one.y, seed), options,
                       distribution_options::equal_interactions);
      if (sum_of_ranks(testing::Test::HasFailure()) > 0) return;
    }
  }

  TEST(distributed_tree_of_two_sets, cuts_into_equal_interactions)
  {
    two_sets<double, 3> const of(make_points<double, 3>(cloud::plummer, 10000, 1),
                                 make_points<double, 3>(cloud::uniform, 15000, 2), 0);
    distributed_tree const mine(MPI_COMM_WORLD, of.targets_here(), of.sources_here(),
                                {.max_leaf_size = 16});
    double const mean =
        static_cast<double>(sum_of_ranks(mine.interaction_count())) / size_of_world();
    EXPECT_NEAR(static_cast<double>(mine.interaction_count()), mean, 0.05 * mean);
    // a rank holds its own points and a layer, not all
    if (size_of_world() > 3)
    {
      EXPECT_LT(mine.known_sources().offsets.back(), of.sources.size() * 9 / 10);
    }
    distributed_tree const other(MPI_COMM_WORLD, of.targets_here(), of.sources_here(),
                                 {.max_leaf_size = 16},
                                 {.cuts = distribution_options::equal_points});
    double const points = static_cast<double>(other.n_points()) + other.n_sources();
    EXPECT_NEAR(points, 25000. / size_of_world(), 0.1 * 25000 / size_of_world());
    // leaves with sources only count too
    two_sets<double, 3> const no_targets({}, of.sources, 0);
    distributed_tree const all_sources(MPI_COMM_WORLD, no_targets.targets_here(),
                                       no_targets.sources_here(), {.max_leaf_size = 16});
    EXPECT_NEAR(all_sources.n_sources(), 15000. / size_of_world(), 0.1 * 15000 / size_of_world());
  }

  TEST(distributed_tree_of_two_sets, leaves_points_with_an_owner_of_ranges)
  {
    auto const x = make_points<double, 3>(cloud::plummer, 1500, 3);
    auto y = make_points<double, 3>(cloud::plummer, 1500, 4);
    for (double& coordinate : y.columns[0]) coordinate += 0.7; // either set decides what splits
    auto const one = build_tree(x.view(), y.view(), {.max_leaf_size = 20});
    two_sets<double, 3> of({}, {}, 0);
    for (index_type const i : one.target_order()) of.targets.push_back(x[i]);
    for (index_type const j : one.source_order()) of.sources.push_back(y[j]);
    // about equal ranges of leaves
    auto const n = static_cast<index_type>(size_of_world());
    for (index_type r = 0; r <= n; ++r)
    {
      of.first_target[r] = one.targets().offsets[one.size() * r / n];
      of.first_source[r] = one.sources().offsets[one.size() * r / n];
    }
    distributed_tree const mine(
        MPI_COMM_WORLD, of.targets_here(), of.sources_here(), {.max_leaf_size = 20},
        {.cuts = distribution_options::of_the_caller, .first_number = far_number});
    of.expect_part(mine, {.max_leaf_size = 20});
    EXPECT_EQ(mine.n_points(), of.targets_here().size());
    EXPECT_EQ(mine.n_sources(), of.sources_here().size());
  }

  static void expect_part_after_moves(distribution_options::cut_choice cuts)
  {
    SCOPED_TRACE(testing::Message() << "cuts " << static_cast<int>(cuts));
    two_sets<double, 3> of(make_points<double, 3>(cloud::coincident, 700, 5),
                           make_points<double, 3>(cloud::plummer, 900, 6), 13);
    auto const start = of.targets;
    tree_options<3> const options{.max_leaf_size = 12, .root = cube<3>{{}, 4}};
    distributed_tree mine(MPI_COMM_WORLD, of.targets_here(), of.sources_here(), options,
                          {.cuts = cuts, .first_number = far_number});
    random_numbers random(3);
    for (int t = 0; t < 5; ++t)
    {
      SCOPED_TRACE(testing::Message() << "move " << t);
      for (auto& column : of.targets.columns)
        for (double& x : column) x += t == 2 ? -3 : random.uniform(-0.2, 0.1);
      for (auto& column : of.sources.columns)
        for (double& y : column) y = t == 3 ? y / 64 - 3 : y + random.uniform(-0.05, 0.1);
      if (t == 4) of.targets = start;
      mine.rebuild(of.targets_here(), of.sources_here(), 1e-9 * double(mine.interaction_count()));
      of.expect_part(mine, options);
      if (sum_of_ranks(testing::Test::HasFailure()) > 0) return;
    }
  }
  TEST(distributed_tree_of_two_sets, follows_points_that_move)
  {
    expect_part_after_moves(distribution_options::equal_interactions);
    expect_part_after_moves(distribution_options::equal_points);
  }

  TEST(distributed_tree_of_two_sets, chooses_leaf_sizes_as_one_rank_does)
  {
    two_sets<double, 3> const of(make_points<double, 3>(cloud::plummer, 8000, 1),
                                 make_points<double, 3>(cloud::plummer, 12000, 2), 4);
    for (double const per_leaf : {0., 3e-6})
    {
      leaf_costs const costs{.near_field = [](double targets, double sources)
                             { return 1e-9 * (targets + 20) * sources; },
                             .seconds_per_leaf = per_leaf};
      tree_options<3> const options{.max_leaf_size = automatic, .costs = &costs};
      distributed_tree const mine(MPI_COMM_WORLD, of.targets_here(), of.sources_here(), options,
                                  {.first_number = far_number});
      auto const chosen = static_cast<int>(mine.max_leaf_size());
      SCOPED_TRACE(testing::Message() << per_leaf << " s a leaf: " << chosen);
      auto const of_one_rank = choose_leaf_size(simd, of.targets.view(), of.sources.view(), costs);
      expect_as_good(chosen, of_one_rank, per_leaf > 0);
      of.expect_part(mine, {.max_leaf_size = chosen});
    }
  }

  TEST(distributed_tree_of_two_sets, throws_the_same_error_on_all_ranks)
  {
    two_sets<double, 3> of(make_points<double, 3>(cloud::uniform, 50, 1),
                           make_points<double, 3>(cloud::uniform, 70, 2), 0);
    distributed_tree<double, 3> mine(MPI_COMM_WORLD, of.targets_here(), of.sources_here(),
                                     {.max_leaf_size = 9}, {.first_number = far_number});
    EXPECT_THAT(message_of([&] { mine.rebuild(of.targets_here()); }),
                testing::HasSubstr("the tree has two sets of points"));
    double const y = std::exchange(of.sources.columns[1].back(), std::nan(""));
    int const bad = size_of_world() - 1;
    EXPECT_THAT(message_of([&] { mine.rebuild(of.targets_here(), of.sources_here()); }),
                testing::AllOf(testing::StartsWith("rank " + std::to_string(bad) + ": build_tree"),
                               testing::HasSubstr("of sources at (")));
    of.sources.columns[1].back() = y;
    of.expect_part(mine, {.max_leaf_size = 9}); // as it was
    distributed_tree<double, 3> one(MPI_COMM_WORLD, of.targets_here());
    EXPECT_THAT(message_of([&] { one.rebuild(of.targets_here(), of.sources_here()); }),
                testing::HasSubstr("the tree has one set of points"));
  }
}
