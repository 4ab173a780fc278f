// Filters and batches over ranks: the pairs are those of the same filter, or batch, on one rank.

#include "clouds.hpp"
#include "complains_of.hpp"
#include "point_kinds.hpp"
#include "search/batch_case.hpp"
#include "search/filter_case.hpp"
#include "search_over_ranks.hpp"

#include <nearfield/starpu_mpi/radius_search.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class filters_over_ranks : public testing::Test
    {};
    TYPED_TEST_SUITE(filters_over_ranks, point_kinds);

    /// What this rank gives of a filter of all points.
    template <class T>
    struct filter_here
    {
      filter_case<T> const& of;
      std::size_t first, last;
      std::vector<std::uint64_t> offsets{0}, excluded;
      std::vector<index_type> rows;
      bool has_rows;

      filter_here(filter_case<T> const& all, std::size_t n, owners who, std::uint64_t seed)
          : of(all), first(first_points(who, n, seed)[std::size_t(rank_of_world())]),
            last(first_points(who, n, seed)[std::size_t(rank_of_world()) + 1])
      {
        for (std::size_t i = first; i < last && !of.offsets.empty(); ++i)
        {
          for (std::uint64_t k = of.offsets[i]; k < of.offsets[i + 1]; ++k)
            excluded.push_back(far_number + of.excluded[k]);
          offsets.push_back(excluded.size());
        }
        for (index_type const i : of.rows)
          if (i >= first && i < last) rows.push_back(static_cast<index_type>(i - first));
        // a rank need not give none
        has_rows = of.has_rows && (of.rows.empty() || !rows.empty() || seed % 2 == 0);
      }
      [[nodiscard]] starpu_mpi::pair_filter<T> get() const
      {
        auto const here = [&](auto const& column)
        {
          return column.empty() ? std::span(column)
                                : std::span(column).subspan(first, last - first);
        };
        starpu_mpi::pair_filter<T> which{.types = here(of.types),
                                         .type_cutoffs = of.matrix,
                                         .radii = here(of.radii),
                                         .by = of.by};
        if (!of.offsets.empty())
        {
          which.excluded_offsets = offsets;
          which.excluded = excluded;
        }
        if (has_rows) which.rows = rows;
        return which;
      }
    };

    template <class T, int Dim>
    void expect_filter(starpu_mpi::distributed_cells<T, Dim> const& cells,
                       cell_list<T, Dim> const& whole, filter_case<T> const& chosen, owners who,
                       std::uint64_t seed)
    {
      filtered const some(whole, chosen.filter());
      auto const over_ranks = [&]
      {
        filter_here<T> const here(chosen, whole.target_order().size(), who, seed);
        return starpu_mpi::filtered<T, Dim>(cells, here.get());
      }(); // the arrays that were given are gone
      for (pairs const which : {pairs::half, pairs::full})
        if (which == pairs::full || chosen.has_half()) expect_every_output(some, over_ranks, which);
    }
  }

  TYPED_TEST(filters_over_ranks, leave_the_pairs_that_one_rank_leaves)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < number_of_cells(60); ++seed)
    {
      random_case<T, dim> const of(seed, 20000, seed % 3 == 0 ? 400 : 60);
      if (!of.one_set) continue;
      SCOPED_TRACE(seed);
      owners const who = all_owners[seed % std::size(all_owners)];
      starpu_mpi::distributed_cells<T, dim> const cells(
          MPI_COMM_WORLD, points_here(of.x, who, seed), of.cutoff,
          {.cell = of.options.cell,
           .closed = of.options.closed,
           .cells_per_cutoff = of.options.cells_per_cutoff,
           .first_number = far_number});
      cell_list<T, dim> const whole(of.x.view(), of.cutoff, of.options);
      filter_case<T> const chosen(T(of.cutoff), of.options.closed, of.x.size(), 0, true, seed);
      expect_filter(cells, whole, chosen, who, seed);
      if (sum_of_ranks(testing::Test::HasFailure()) > 0) return; // all ranks together
    }
  }

  TYPED_TEST(filters_over_ranks, and_batches_leave_the_pairs_that_one_rank_leaves)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < number_of_cells(30); ++seed)
    {
      batch_case<T, dim> const of(seed);
      if (!of.one_set) continue;
      SCOPED_TRACE(seed);
      owners const who = all_owners[seed % std::size(all_owners)];
      starpu_mpi::distributed_cells<T, dim> const cells(
          MPI_COMM_WORLD, points_here(of.x.x, who, seed), of.given(),
          {.closed = of.options.closed,
           .cells_per_cutoff = of.options.cells_per_cutoff,
           .first_number = far_number});
      auto const whole = of.list(simd);
      expect_every_point_once(of.x.x, who, seed, cells);
      for (pairs const which : {pairs::half, pairs::full}) expect_every_output(whole, cells, which);
      T const least = static_cast<T>(*std::ranges::min_element(of.cutoffs));
      filter_case<T> const chosen(least, of.options.closed, of.x.x.size(), 0, true, seed);
      expect_filter(cells, whole, chosen, who, seed);

      // each system as a whole, and its pairs where own_systems() says
      auto const batch = cells.own_systems();
      ASSERT_EQ(batch.offsets.size(), of.cutoffs.size() + 1);
      auto const list = starpu_mpi::radius_search(simd, cells, to_coo{});
      auto const first = pair_offsets(list, batch);
      for (std::size_t s = 0; s < of.cutoffs.size(); ++s)
      {
        std::size_t const n = batch.offsets[s + 1] - batch.offsets[s];
        EXPECT_TRUE(n == 0 || n == of.x_of[s].size());
        if (n > 0)
        {
          EXPECT_EQ(first[s + 1] - first[s],
                    radius_search(simd, of.list_of(s), count_pairs{}).total);
        }
      }
      if (sum_of_ranks(testing::Test::HasFailure()) > 0) return; // all ranks together
    }
  }

  TEST(batches_over_ranks, are_cut_into_equal_numbers_of_points)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 8000);
    std::vector<index_type> offsets;
    for (index_type k = 0; k <= 8000; k += 10) offsets.push_back(k);
    std::vector<double> const cutoffs{0.5};
    starpu_mpi::distributed_cells const cells(MPI_COMM_WORLD, points_here(x, owners::first, 1),
                                              systems<3>{.offsets = offsets, .cutoffs = cutoffs});
    EXPECT_NEAR(double(cells.n_points()), 8000. / size_of_world(), 10);
  }

  TEST(filters_and_batches_over_ranks, throw_the_same_error_on_all_ranks)
  {
    std::size_t const n = 50;
    auto const x = make_points<double, 2>(cloud::uniform, n, 1 + std::uint64_t(rank_of_world()));
    starpu_mpi::distributed_cells const cells(MPI_COMM_WORLD, x.view(), 0.3, {.first_number = 7});
    int const bad = size_of_world() - 1;
    bool const is_bad = rank_of_world() == bad;
    std::string const of_bad = "rank " + std::to_string(bad) + ": ";
    auto const refused = [&](starpu_mpi::pair_filter<double> const& which)
    {
      return [&cells, which]
      {
        starpu_mpi::filtered const some(cells, which);
      };
    };
    std::vector<index_type> types(n, 0), few(3, 0), far{index_type(n)};
    std::vector<double> const cutoff{0.3}, large{0.4}, radii(n, 0.1);
    if (is_bad) types[9] = 4;
    EXPECT_THAT(refused({.types = types, .type_cutoffs = cutoff}),
                complains_of(of_bad, "value 9 of .types is 4"));
    types[9] = 0;
    EXPECT_THAT(refused({.types = types, .type_cutoffs = large}), complains_of("0.4", "exceeds"));
    EXPECT_THAT(refused({.types = is_bad ? few : types, .type_cutoffs = cutoff}),
                complains_of(of_bad, ".types has 3", "give 50"));
    if (size_of_world() > 1)
    {
      EXPECT_THAT(refused({.radii = is_bad ? std::span(radii).first(0) : std::span(radii)}),
                  complains_of(of_bad, ".radii has 0", "give 50"));
      std::vector<double> const other{is_bad ? 0.2 : 0.3};
      EXPECT_THAT(refused({.types = types, .type_cutoffs = other}),
                  complains_of(".type_cutoffs differ"));
      EXPECT_THAT(refused({.radii = radii, .by = is_bad ? cutoff_by::larger : cutoff_by::sum}),
                  complains_of(".by differs"));
    }
    EXPECT_THAT(refused({.rows = is_bad ? far : few}),
                complains_of(of_bad, "value 0 of .rows is 50"));
    std::vector<std::uint64_t> offsets(n + 1, 1), excluded{7};
    offsets[0] = 0;
    if (is_bad) excluded[0] = 6;
    EXPECT_THAT(refused({.excluded_offsets = offsets, .excluded = excluded}),
                complains_of(of_bad, "value 0 of .excluded is 6", "from number 7 on"));
    excluded[0] = 7;
    if (is_bad) offsets[n] = 0;
    EXPECT_THAT(refused({.excluded_offsets = offsets, .excluded = excluded}),
                complains_of(of_bad, "must ascend"));

    auto const batch_refused =
        [&](systems<2> const& batch,
            starpu_mpi::distributed_cells<double, 2>::options_type const& options = {})
    {
      return [&, batch, options]
      {
        starpu_mpi::distributed_cells const some(MPI_COMM_WORLD, x.view(), batch, options);
      };
    };
    auto const total = static_cast<index_type>(n * std::size_t(size_of_world()));
    std::vector<index_type> const all{0, 20, total}, less{0, 20, total - 1};
    std::vector<double> const three{0.1, 0.1, 0.1}, endless{0.1, 0};
    EXPECT_THAT(batch_refused({.offsets = less, .cutoffs = cutoff}),
                complains_of("the systems have " + std::to_string(total - 1) + " of"));
    EXPECT_THAT(batch_refused({.offsets = all, .cutoffs = three}),
                complains_of(".cutoffs has 3 for 2 systems"));
    EXPECT_THAT(batch_refused({.offsets = all, .cutoffs = endless}),
                complains_of("system 1: ", "the cutoff is 0"));
    EXPECT_THAT(batch_refused({.offsets = all, .cutoffs = cutoff}, {.period = {1, 1}}),
                complains_of("give .cells"));
    EXPECT_THAT(batch_refused({.offsets = all, .query_offsets = all, .cutoffs = cutoff}),
                complains_of(".query_offsets"));
  }
}
