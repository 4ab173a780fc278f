// The C++ blocks of docs/scale.md, run by the ranks of tests/starpu_mpi.

#include "starpu_mpi/clouds.hpp"
#include "starpu_mpi/runtime_of_rank.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace
{
  TEST(docs_scale, near_field)
  {
    auto const rank = static_cast<std::uint64_t>(nearfield::test::rank_of_world());
    auto cloud =
        nearfield::test::make_points<double, 3>(nearfield::test::cloud::uniform, 1000, 1 + rank);
    auto &x = cloud.columns[0], &y = cloud.columns[1], &z = cloud.columns[2];
    std::vector<double> q(1000, 1.), phi(1000);
    int const n_steps = 2;
    auto const change = [](std::vector<double>& charges)
    {
      charges[0] += 1;
    };
    // [tree]
    // x, y, z, q, phi: of the points that this rank has, any number of them
    nearfield::starpu_mpi::distributed_tree tree(MPI_COMM_WORLD, nearfield::soa{x, y, z},
                                                 {.max_leaf_size = 64});
    // [tree]
    auto& starpu = nearfield::test::runtime_of_rank();
    // [step]
    nearfield::starpu_mpi::near_field step{starpu, tree, nearfield::one_over_r<>{},
                                           nearfield::soa{q}, nearfield::soa{phi}};
    for (int t = 0; t < n_steps; ++t)
    {
      step.submit();
      step.wait(); // phi is there, in the order of x, y, z
      change(q);
      step.inputs_changed();
    }
    // [step]
    auto const move = [](std::vector<double>& coordinates)
    {
      for (double& of : coordinates) of += 0.01 * of * of;
    };
    // [moving]
    for (int t = 0; t < n_steps; ++t)
    {
      move(x);
      tree.rebuild(nearfield::soa{x, y, z}, step.seconds());
      step.positions_changed();
      step.submit();
      step.wait();
    }
    // [moving]
    EXPECT_EQ(tree.total_points(), 1000u * std::uint64_t(nearfield::test::size_of_world()));
    EXPECT_GT(phi[7], 0);
  }
}
