#include "clouds.hpp"
#include "random_cells.hpp"
#include "search_over_ranks.hpp"

#include "starpu/environment.hpp"

#include <nearfield/starpu_mpi/radius_search.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu_mpi::distributed_cells;

  /// Points, the box that they repeat in, and who has them.
  template <class T, int Dim>
  struct search_case
  {
    points<T, Dim> all{};
    owners who = owners::even;
    std::uint64_t seed = 1;
    double cutoff = 0.1;
    cell<Dim> box{};
    bool closed = false;
    std::array<int, Dim> cells_per_cutoff{}; ///< over ranks

    [[nodiscard]] distributed_cells<T, Dim> distribute() const
    {
      return {MPI_COMM_WORLD,
              points_here(all, who, seed),
              cutoff,
              {.cell = box,
               .closed = closed,
               .cells_per_cutoff = cells_per_cutoff,
               .first_number = far_number}};
    }
    [[nodiscard]] cell_list<T, Dim> on_one_rank() const
    {
      return {all.view(), cutoff, {.cell = box, .closed = closed}};
    }
  };

  template <class T, int Dim>
  search_case<T, Dim> random_search(std::uint64_t seed)
  {
    random_numbers random(seed);
    search_case<T, Dim> made;
    made.seed = seed;
    made.who = all_owners[random.below(std::size(all_owners))];
    std::size_t const n = random.below(6) == 0 ? random.below(9) : random.below(300);
    made.all = make_points<T, Dim>(all_clouds[random.below(std::size(all_clouds))], n, seed);
    made.cutoff = random.uniform(0.03, random.below(4) == 0 ? 0.5 : 0.15);
    made.closed = random.below(3) == 0;
    std::array<T, Dim> period{};
    for (int a = 0; a < Dim; ++a)
    {
      made.cells_per_cutoff[a] = static_cast<int>(random.below(4));
      T const stretch = random.below(3) == 0 ? T(2.5) : T(1);
      // sometimes so short that points meet several images of others, and of themselves
      bool const is_short = random.below(3) == 0;
      T const length = is_short ? T(random.uniform(0.5, 3.5) * made.cutoff) : stretch;
      if (random.below(2) == 0) period[a] = length;
      bool const is_inside = random.below(3) > 0;
      for (T& x : made.all.columns[a])
      {
        x = (x - T(0.2)) * stretch;
        if (!(period[a] > 0) || !is_inside) continue;
        x -= period[a] * std::floor(x / period[a]);
        if (!(x < period[a])) x = 0;
      }
    }
    made.box = cell<Dim>::of_lengths(period);
    if (random.below(2) == 0) return made;
    made.box = random_cell<Dim>(random, made.cutoff);
    nearfield::detail::cell_frame<Dim> const frame(made.box);
    double images = 1; // that each point meets
    for (int a = 0; a < Dim; ++a)
      if (frame.periodic[a]) images *= 2 * made.cutoff / frame.thickness[a] + 1;
    std::size_t const most = 1 + static_cast<std::size_t>(std::sqrt(30000 / images));
    made.all = points_around<T, Dim>(random, frame, made.cutoff, std::min(n, most));
    return made;
  }

  /// The halo has the points of other ranks that are closer than the cutoff to a cell of this one, along each normal where
  /// these are oblique, and no others.
  template <class T, int Dim>
  void expect_halo(search_case<T, Dim> const& search, distributed_cells<T, Dim> const& cells)
  {
    nearfield::detail::cell_grid<T, Dim> const& grid = cells.grid();
    auto const rank = static_cast<std::size_t>(rank_of_world());
    int bits = 0;
    for (int a = 0; a < Dim; ++a)
      while ((grid.cells[a] - 1) >> bits > 0) ++bits;
    std::vector<std::array<std::uint32_t, Dim>> own_cells;
    for (std::uint64_t c = 0; c < grid.size(); ++c)
    {
      std::array<std::uint32_t, Dim> at;
      std::uint64_t rest = c, key = 0;
      for (int a = Dim - 1; a >= 0; --a)
      {
        at[a] = static_cast<std::uint32_t>(rest % grid.cells[a]);
        rest /= grid.cells[a];
      }
      for (int bit = bits - 1; bit >= 0; --bit)
        for (int a = 0; a < Dim; ++a) key = 2 * key + (at[a] >> bit & 1);
      if (key >= cells.cuts()[rank] && key < cells.cuts()[rank + 1]) own_cells.push_back(at);
    }
    std::vector<bool> const is_own = own_points(search.all.size(), cells);
    std::vector<bool> in_halo(search.all.size(), false);
    for (std::uint64_t const number : cells.numbers().subspan(cells.n_points()))
    {
      auto const i = static_cast<std::size_t>(number - far_number);
      ASSERT_FALSE(in_halo[i]) << "twice";
      ASSERT_FALSE(is_own[i]);
      in_halo[i] = true;
    }
    for (std::size_t i = 0; i < search.all.size(); ++i)
    {
      if (is_own[i]) continue;
      auto const inside = grid.frame.reduce(search.all[i]).at;
      double least2 = INFINITY;
      for (auto const& at : own_cells)
      {
        double distance2 = 0;
        for (int a = 0; a < Dim; ++a)
        {
          double const begin = grid.lower[a] + at[a] / grid.inverse_width[a];
          double const end = grid.lower[a] + (at[a] + 1) / grid.inverse_width[a];
          double gap = INFINITY;
          for (int image = -1; image <= 1; ++image)
          {
            double const x = grid.along(a, inside) + image * grid.frame.thickness[a];
            gap = std::min(gap, std::max({0., begin - x, x - end}));
          }
          distance2 =
              grid.frame.is_aligned ? distance2 + gap * gap : std::max(distance2, gap * gap);
        }
        least2 = std::min(least2, distance2);
      }
      double const of_cutoff = std::sqrt(least2) / search.cutoff;
      bool const at_shell = std::abs(of_cutoff - 1) <= 1e-4; // where rounding decides
      ASSERT_TRUE(at_shell || in_halo[i] == (of_cutoff < 1)) << "point " << i << ", " << of_cutoff;
    }
  }

  template <class T, int Dim>
  void expect_lists_of_one_rank(std::uint64_t seed)
  {
    for (std::uint64_t const last = seed + number_of_cells(50); seed < last; ++seed)
    {
      SCOPED_TRACE(seed);
      auto const search = random_search<T, Dim>(seed);
      auto const cells = search.distribute();
      expect_every_point_once(search.all, search.who, search.seed, cells);
      for (pairs const which : {pairs::half, pairs::full})
      {
        expect_every_output(search.on_one_rank(), cells, which);
        std::uint64_t const here = starpu_mpi::radius_search(simd, cells, count_pairs{which}).total;
        EXPECT_EQ(cells.sum_over_ranks(here),
                  radius_search(simd, search.on_one_rank(), count_pairs{which}).total);
      }
      if (cells.grid().size() < 20000) expect_halo(search, cells);
      if (sum_of_ranks(testing::Test::HasFailure()) > 0) return; // all ranks together
    }
  }

  TEST(distributed_search, finds_the_pairs_of_one_rank_in_3d)
  {
    expect_lists_of_one_rank<double, 3>(1000);
  }
  TEST(distributed_search, finds_the_pairs_of_one_rank_in_2d)
  {
    expect_lists_of_one_rank<double, 2>(2000);
  }
  TEST(distributed_search, finds_the_pairs_of_one_rank_in_3d_in_single_precision)
  {
    expect_lists_of_one_rank<float, 3>(3000);
  }
  TEST(distributed_search, finds_the_pairs_of_one_rank_in_2d_in_single_precision)
  {
    expect_lists_of_one_rank<float, 2>(4000);
  }

  // With cells as wide as the distance over 2^21, one rank would have all points but the far ones.
  template <class T, int Dim>
  void expect_shares_beside_points_far_away()
  {
    for (owners const who : all_owners)
    {
      search_case<T, Dim> search{
          .all = make_points<T, Dim>(cloud::uniform, 4000), .who = who, .cutoff = 0.06};
      search.cells_per_cutoff.fill(1);
      for (auto& column : search.all.columns)
      {
        column[5] = T(-1e9);
        column[3990] = T(3e8);
      }
      auto const cells = search.distribute();
      EXPECT_GT(cells.grid().pieces[0].n, 1u);
      expect_every_point_once(search.all, search.who, search.seed, cells);
      for (pairs const which : {pairs::half, pairs::full})
        expect_every_output(search.on_one_rank(), cells, which);
      std::uint64_t const most = 4000 * 3 / 2 / static_cast<std::uint64_t>(size_of_world()) + 600;
      EXPECT_LT(cells.n_points(), most);
      if (sum_of_ranks(testing::Test::HasFailure()) > 0) return; // all ranks together
    }
  }
  TEST(distributed_search, shares_points_beside_some_far_away)
  {
    expect_shares_beside_points_far_away<double, 3>();
    expect_shares_beside_points_far_away<float, 2>();
  }

  TEST(distributed_search, joins_the_last_rank_to_the_first)
  {
    search_case<double, 3> search{.all = make_points<double, 3>(cloud::uniform, 2000),
                                  .cutoff = 0.1,
                                  .box = cell<3>::of_lengths(std::array{1., 1., 1.})};
    search.all.push_back({0.001, 0.001, 0.001});
    search.all.push_back({0.998, 0.998, 0.998});
    std::uint64_t const i = far_number + 2000, j = i + 1; // no other numbers have their sum
    auto const cells = search.distribute();
    auto const has = [&](std::uint64_t number)
    {
      auto const own = cells.numbers().first(cells.n_points());
      return std::ranges::find(own, number) != own.end();
    };
    EXPECT_EQ(has(i), rank_of_world() == 0);
    EXPECT_EQ(has(j), rank_of_world() == size_of_world() - 1);
    std::size_t found = 0;
    starpu_mpi::radius_search(simd, cells,
                              visit{[&](auto p, auto q, double, vec<double, 3> const& d)
                                    {
                                      if (cells.numbers()[p] + cells.numbers()[q] != i + j) return;
                                      ++found;
                                      EXPECT_EQ(std::abs(d[2]), (0.001 - 0.998) + 1);
                                    }});
    EXPECT_EQ(found, rank_of_world() == 0 ? 1u : 0u);
  }

  TEST(distributed_search, cuts_into_equal_work)
  {
    for (cloud const shape : {cloud::uniform, cloud::plummer})
    {
      search_case<float, 3> const search{.all = make_points<float, 3>(shape, 30000),
                                         .cutoff = 0.04};
      auto const cells = search.distribute();
      auto const mine = static_cast<double>(
          starpu_mpi::radius_search(simd, cells, count_pairs{pairs::full}).total);
      double const mean =
          static_cast<double>(cells.sum_over_ranks(static_cast<std::uint64_t>(mine))) /
          size_of_world();
      EXPECT_NEAR(mine, mean, 0.25 * mean) << name_of(shape);
    }
  }

  TEST(distributed_search, keeps_to_a_limit_of_bytes)
  {
    search_case<double, 3> const search{.all = make_points<double, 3>(cloud::uniform, 500),
                                        .cutoff = 0.3};
    auto const cells = search.distribute();
    for (bool const sorted : {false, true})
    {
      to_coo pairs_in{.sorted = sorted, .distances = true};
      auto const list = starpu_mpi::radius_search(simd, cells, pairs_in);
      pairs_in.max_bytes = list.size() * 16;
      EXPECT_EQ(starpu_mpi::radius_search(simd, cells, pairs_in).size(), list.size());
      --pairs_in.max_bytes;
      EXPECT_THAT(message_of([&] { (void)starpu_mpi::radius_search(simd, cells, pairs_in); }),
                  testing::HasSubstr("more than max_bytes"));
    }
    to_csr rows_in{.which = pairs::half};
    auto const rows = starpu_mpi::radius_search(simd, cells, rows_in);
    rows_in.max_bytes = 8 * rows.offsets.size() + 4 * rows.columns.size();
    EXPECT_EQ(starpu_mpi::radius_search(simd, cells, rows_in).size(), rows.size());
    --rows_in.max_bytes;
    EXPECT_THAT(message_of([&] { (void)starpu_mpi::radius_search(simd, cells, rows_in); }),
                testing::HasSubstr("more than max_bytes"));
  }
}
