// Which part of the curve each rank gets: of equal work, as pairs or measured times say.

#include "clouds.hpp"
#include "part_of_a_tree.hpp"

#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu_mpi::distributed_tree;
  using starpu_mpi::distribution_options;

  TEST(distributed_cuts, have_equal_interactions)
  {
    auto const all = make_points<double, 3>(cloud::plummer, 20000);
    distributed_tree const mine(MPI_COMM_WORLD, points_here(all, owners::even, 1),
                                {.max_leaf_size = 16});
    std::uint64_t const total = sum_of_ranks(mine.interaction_count());
    double const mean = static_cast<double>(total) / size_of_world();
    EXPECT_NEAR(static_cast<double>(mine.interaction_count()), mean, 0.05 * mean);
    // a rank holds its own points and a layer, not all
    if (size_of_world() > 3)
    {
      EXPECT_LT(mine.known_leaves().offsets.back(), all.size() * 9 / 10);
    }
  }

  TEST(distributed_cuts, give_a_slow_rank_fewer_interactions)
  {
    auto const all = make_points<double, 3>(cloud::plummer, 20000);
    auto const rank = static_cast<std::size_t>(rank_of_world());
    auto const here = points_here(all, owners::even, 1);
    distributed_tree mine(MPI_COMM_WORLD, here, {.max_leaf_size = 16});
    std::vector<std::uint64_t> const old(mine.cuts().begin(), mine.cuts().end());
    auto const seconds = [&](double slowness)
    {
      return (rank == 0 ? slowness : 1) * 1e-9 * static_cast<double>(mine.interaction_count());
    };
    mine.rebuild(here, seconds(1.02)); // within the tenth
    EXPECT_TRUE(std::ranges::equal(mine.cuts(), old));
    mine.rebuild(here, rank == 0 ? 0 : seconds(3)); // not measured everywhere: pairs count
    EXPECT_TRUE(std::ranges::equal(mine.cuts(), old));

    auto const n_ranks = static_cast<std::uint64_t>(size_of_world());
    if (n_ranks > 1) // once is chance, twice is not
    {
      mine.rebuild(here, seconds(3));
      mine.rebuild(here, seconds(1));
      EXPECT_TRUE(std::ranges::equal(mine.cuts(), old));
      auto const others = static_cast<double>(n_ranks - 1);
      double const slowness = 1.15 * others / (others - 0.15);
      mine.rebuild(here, seconds(slowness));
      EXPECT_TRUE(std::ranges::equal(mine.cuts(), old));
      mine.rebuild(here, seconds(slowness));
      EXPECT_FALSE(std::ranges::equal(mine.cuts(), old));
    }
    auto const worst_over_mean = [&]
    {
      double worst = seconds(3), sum = 0;
      double const taken = worst;
      MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      MPI_Allreduce(&taken, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      return worst / sum * static_cast<double>(n_ranks);
    };
    double const before = worst_over_mean();
    for (int t = 0; t < 4; ++t) mine.rebuild(here, seconds(3));
    EXPECT_LE(worst_over_mean(), 1.1);
    if (n_ranks == 1) return;
    EXPECT_GT(before, 1.3);
    std::uint64_t const total = sum_of_ranks(mine.interaction_count());
    std::uint64_t const slow = sum_of_ranks(rank == 0 ? mine.interaction_count() : 0);
    EXPECT_LT(static_cast<double>(slow),
              0.5 * static_cast<double>(total - slow) / static_cast<double>(n_ranks - 1));
    // fast again: no rank has more than a tenth above the mean
    for (int t = 0; t < 6; ++t) mine.rebuild(here, seconds(1));
    EXPECT_LE(static_cast<double>(mine.interaction_count()),
              1.11 * static_cast<double>(total) / static_cast<double>(n_ranks));
  }

  TEST(distributed_cuts, stay_where_others_are_no_better)
  {
    auto const all = make_points<double, 3>(cloud::uniform, 100);
    auto const here = points_here(all, owners::even, 1);
    distributed_tree mine(MPI_COMM_WORLD, here, {.level = 0},
                          {.cuts = distribution_options::equal_points});
    std::vector<std::uint64_t> const old(mine.cuts().begin(), mine.cuts().end());
    mine.rebuild(here); // the only leaf could be of another rank
    EXPECT_TRUE(std::ranges::equal(mine.cuts(), old));
  }

  TEST(distributed_cuts, leave_a_rank_that_seems_to_stand_still_some_of_the_work)
  {
    // of little work, times tell little: a rank counts as eight times slower or faster than the mean at most
    auto const all = make_points<double, 3>(cloud::uniform, 20000);
    auto const rank = static_cast<std::size_t>(rank_of_world());
    auto const here = points_here(all, owners::even, 1);
    distributed_tree mine(MPI_COMM_WORLD, here, {.max_leaf_size = 16});
    for (int t = 0; t < 15; ++t)
      mine.rebuild(here, (rank == 0 ? 1e6 : 1e-3) * static_cast<double>(mine.interaction_count()));
    auto const total = static_cast<double>(sum_of_ranks(mine.interaction_count()));
    auto const n = static_cast<double>(size_of_world());
    if (rank == 0)
    {
      EXPECT_GT(static_cast<double>(mine.interaction_count()), 0.1 * total / (1 + (n - 1) * 8 * n));
    }
  }
}
