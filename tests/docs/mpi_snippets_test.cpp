// The C++ blocks of docs/scale.md, run by the ranks of tests/starpu_mpi.

#include "starpu_mpi/clouds.hpp"
#include "starpu_mpi/runtime_of_rank.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>
#include <nearfield/starpu_mpi/radius_search.hpp>

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
    nearfield::starpu_mpi::near_field step{starpu, nearfield::one_over_r<>{}, tree,
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

  TEST(docs_scale, radius_search)
  {
    auto const rank = static_cast<std::uint64_t>(nearfield::test::rank_of_world());
    auto const cloud =
        nearfield::test::make_points<double, 3>(nearfield::test::cloud::uniform, 1000, 1 + rank);
    auto const &x = cloud.columns[0], &y = cloud.columns[1], &z = cloud.columns[2];
    std::vector<double> const q(1000, 1.);
    double const cutoff = 0.1, L = 1;
    double sum = 0;
    nearfield::threads threads;
    // [search]
    // x, y, z, q: of the points that this rank has
    nearfield::starpu_mpi::distributed_cells const cells(MPI_COMM_WORLD, nearfield::soa{x, y, z},
                                                         cutoff, {.period = {L, L, 0}});
    nearfield::coo const pairs = nearfield::starpu_mpi::radius_search(
        nearfield::simd.with(threads), cells, nearfield::to_coo{.distances = true});
    auto const charges = cells.known_values(q); // of all points that occur in pairs
    for (std::size_t p = 0; p < pairs.size(); ++p)
      sum += charges[pairs.i[p]] * charges[pairs.j[p]] / pairs.r2[p];
    std::uint64_t const pairs_of_all_ranks = cells.sum_over_ranks(pairs.size());
    // [search]
    EXPECT_GT(sum, static_cast<double>(pairs.size()) / (cutoff * cutoff));
    auto const rows = nearfield::starpu_mpi::radius_search(nearfield::simd, cells,
                                                           nearfield::to_csr{.sorted = true});
    EXPECT_EQ(cells.sum_over_ranks(rows.columns.size()), 2 * pairs_of_all_ranks);

    std::vector<nearfield::index_type> type(1000);
    for (std::size_t i = 0; i < type.size(); ++i) type[i] = i % 2;
    std::vector<double> const by_type{cutoff, 0, 0, cutoff};
    // [filtered]
    nearfield::starpu_mpi::filtered const some(cells, {.types = type, .type_cutoffs = by_type});
    nearfield::csr const rows_of_some =
        nearfield::starpu_mpi::radius_search(nearfield::simd, some, nearfield::to_csr{});
    // [filtered]
    auto const types = cells.known_values(type);
    std::uint64_t of_one_type = 0;
    for (std::size_t r = 0; r < rows.size(); ++r)
      of_one_type += std::uint64_t(
          std::ranges::count_if(rows.row(r), [&](auto j) { return types[j] == types[r]; }));
    EXPECT_GT(of_one_type, 0u);
    EXPECT_EQ(rows_of_some.columns.size(), of_one_type);
  }
}
