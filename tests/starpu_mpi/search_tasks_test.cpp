// Searches of a rank as tasks give what its calling thread finds (distributed_search_test.cpp).

#include "clouds.hpp"
#include "runtime_of_rank.hpp"

#include <nearfield/starpu_mpi/radius_search.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu_mpi::radius_search;

  template <class Values>
  void expect_equal(Values const& found, Values const& expected, std::string const& what)
  {
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end())) << what;
  }

  /// Lists and counts found there are those of the calling thread, in its order.
  template <class Where, class Cells>
  void expect_the_same(Where const& where, Cells const& cells, pairs which)
  {
    constexpr int Dim = Cells::dim;
    for (bool const sorted : {false, true})
    {
      to_coo const pairs_in{which, sorted, true, true};
      auto const list = radius_search(where, cells, pairs_in);
      auto const expected_list = radius_search(simd, cells, pairs_in);
      expect_equal(list.i, expected_list.i, "COO i");
      expect_equal(list.j, expected_list.j, "COO j");
      expect_equal(list.r2, expected_list.r2, "COO r2");
      expect_equal(list.displacements[Dim - 1], expected_list.displacements[Dim - 1], "COO d");
      to_csr const rows_in{which, sorted, true, true};
      auto const rows = radius_search(where, cells, rows_in);
      auto const expected_rows = radius_search(simd, cells, rows_in);
      expect_equal(rows.offsets, expected_rows.offsets, "CSR offsets");
      expect_equal(rows.columns, expected_rows.columns, "CSR columns");
      expect_equal(rows.r2, expected_rows.r2, "CSR r2");
    }
    auto const counts = radius_search(where, cells, count_pairs{which, true});
    auto const expected_counts = radius_search(simd, cells, count_pairs{which, true});
    EXPECT_GT(starpu_mpi::detail::points_of(cells).sum_over_ranks(counts.total), 0u);
    EXPECT_EQ(counts.total, expected_counts.total);
    expect_equal(counts.per_point, expected_counts.per_point, "counts");
  }

  TEST(distributed_search, gives_the_same_as_tasks)
  {
    auto const rank = static_cast<std::uint64_t>(rank_of_world());
    auto const mine = make_points<float, 3>(cloud::uniform, 1500, 1 + rank);
    starpu_mpi::distributed_cells const cells(MPI_COMM_WORLD, mine.view(), 0.1,
                                              {.period = {1, 0, 1}});
    starpu::cpu_workers workers(runtime_of_rank());
    auto const tasks = simd.with(workers);
    for (pairs const which : {pairs::half, pairs::full})
    {
      expect_the_same(tasks, cells, which);
      ASSERT_GT(radius_search(tasks, cells, count_pairs{which}).total, 0u);
      // the bits show the order of the terms
      reduce const sum{0.f,
                       [](float& to, index_type i, index_type j, float r2, vec<float, 3> const& d)
                       { to += d[0] / (r2 + 1e-3f) + (i < j ? 1e-3f : 2e-3f); },
                       [](float& to, float part) { to += part; }, which};
      EXPECT_EQ(radius_search(tasks, cells, sum), radius_search(simd, cells, sum));
    }
  }

  /// Filters and batches. Points have types by their numbers on the rank.
  template <class T, int Dim, class Where>
  void expect_the_same_of_filters_and_batches(Where const& where)
  {
    auto const rank = static_cast<std::uint64_t>(rank_of_world());
    std::size_t const n = rank == 1 ? 0 : 1200;
    auto const mine = make_points<T, Dim>(cloud::uniform, n, 1 + rank);
    std::array<T, Dim> const period{1, 1};
    starpu_mpi::distributed_cells const cells(MPI_COMM_WORLD, mine.view(), 0.1, {.period = period});
    std::vector<index_type> types, rows;
    for (index_type i = 0; i < n; ++i)
    {
      types.push_back(i % 2);
      if (i % 3 == 0) rows.push_back(i);
    }
    std::vector<T> const by_type{T(0.1), T(0.06), T(0.06), 0};
    starpu_mpi::filtered const some(cells, {.types = types, .type_cutoffs = by_type}),
        some_rows(cells, {.types = types, .type_cutoffs = by_type, .rows = rows});
    expect_the_same(where, some, pairs::half);
    expect_the_same(where, some, pairs::full);
    expect_the_same(where, some_rows, pairs::full);

    auto const total = static_cast<index_type>(cells.total_points());
    std::vector<index_type> offsets;
    for (index_type begin = 0; begin < total; begin += 250) offsets.push_back(begin);
    offsets.push_back(total);
    std::vector<double> cutoffs;
    std::vector<cell<Dim>> boxes;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
    {
      cutoffs.push_back(s % 2 == 0 ? 0.2 : 0.12);
      boxes.push_back(s % 3 == 0 ? cell<Dim>() : cell<Dim>::of_lengths(period));
    }
    starpu_mpi::distributed_cells const batch(
        MPI_COMM_WORLD, mine.view(),
        systems<Dim>{.offsets = offsets, .cutoffs = cutoffs, .cells = boxes});
    expect_the_same(where, batch, pairs::half);
    expect_the_same(where, batch, pairs::full);
    starpu_mpi::filtered const some_of_batch(batch, {.types = types, .type_cutoffs = by_type});
    expect_the_same(where, some_of_batch, pairs::half);
  }

  TEST(distributed_search, gives_the_same_of_filters_and_batches_as_tasks)
  {
    starpu::cpu_workers workers(runtime_of_rank());
    expect_the_same_of_filters_and_batches<double, 3>(simd.with(workers));
    expect_the_same_of_filters_and_batches<float, 2>(simd.with(workers));
  }

  TEST(distributed_search_on_a_gpu, finds_the_lists_of_a_cpu_of_filters_and_batches)
  {
    if (runtime_of_rank().n_gpus() == 0) GTEST_SKIP() << "no GPU";
    expect_the_same_of_filters_and_batches<float, 3>(cuda);
    expect_the_same_of_filters_and_batches<double, 3>(cuda);
    expect_the_same_of_filters_and_batches<double, 2>(cuda);
  }

  template <class T, int Dim>
  void expect_the_lists_of_a_cpu(std::array<T, Dim> const& period, std::size_t n = 2500,
                                 double cutoff = 0.08)
  {
    auto const rank = static_cast<std::uint64_t>(rank_of_world());
    auto const mine = make_points<T, Dim>(cloud::uniform, rank == 1 ? 0 : n, 1 + rank);
    typename starpu_mpi::distributed_cells<T, Dim>::options_type options{.period = period};
    options.cells_per_cutoff[0] = 2;
    starpu_mpi::distributed_cells const cells(MPI_COMM_WORLD, mine.view(), cutoff, options);
    for (pairs const which : {pairs::half, pairs::full})
    {
      expect_the_same(cuda, cells, which);
      if (radius_search(simd, cells, count_pairs{which}).total == 0) continue;
      EXPECT_THROW((void)radius_search(cuda, cells, to_coo{.which = which, .max_bytes = 3}), error);
    }
  }

  TEST(distributed_search_on_a_gpu, finds_the_lists_of_a_cpu)
  {
    if (runtime_of_rank().n_gpus() == 0) GTEST_SKIP() << "no GPU";
    expect_the_lists_of_a_cpu<float, 3>({1, 0, 1});
    expect_the_lists_of_a_cpu<double, 3>({});
    expect_the_lists_of_a_cpu<double, 2>({0, 1});
    expect_the_lists_of_a_cpu<float, 2>({}, 200, 2); // one rank has all
  }
}
