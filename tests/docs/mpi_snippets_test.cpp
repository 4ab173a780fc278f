// The C++ blocks of docs/scale.md, run by the ranks of tests/starpu_mpi.

#include "starpu_mpi/clouds.hpp"

#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <gtest/gtest.h>

namespace
{
  using nearfield::test::make_points;

  TEST(docs_scale, tree)
  {
    auto const cloud = make_points<double, 3>(nearfield::test::cloud::uniform, 1000,
                                              1 + std::uint64_t(nearfield::test::rank_of_world()));
    auto const &x = cloud.columns[0], &y = cloud.columns[1], &z = cloud.columns[2];
    // [tree]
    nearfield::starpu_mpi::distributed_tree const tree(MPI_COMM_WORLD, nearfield::soa{x, y, z},
                                                       {.max_leaf_size = 64});
    // [tree]
    EXPECT_EQ(tree.total_points(), 1000u * std::uint64_t(nearfield::test::size_of_world()));
  }
}
