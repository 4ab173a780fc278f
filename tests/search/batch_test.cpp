#include "batch_case.hpp"
#include "complains_of.hpp"
#include "search/image_lists.hpp"
#include "search/search_case.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// A batch gives the lists of its systems, each as on its own.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class batch : public testing::Test
    {};
    TYPED_TEST_SUITE(batch, search_kinds);

    /// One pair with all that a list has; bits, so that -0 is not 0.
    using pair_bits = std::vector<std::uint64_t>;

    template <class T, int Dim>
    pair_bits pair_bits_at(detail::pair_geometry<T, Dim> const& of, std::size_t at, index_type i,
                           index_type j)
    {
      pair_bits found{i, j};
      auto const add = [&](T value)
      {
        found.push_back(std::bit_cast<std::uint64_t>(double(value)));
      };
      if (!of.r2.empty()) add(of.r2[at]);
      for (auto const& d : of.displacements)
        if (!d.empty()) add(d[at]);
      for (auto const& s : of.images)
        if (!s.empty()) found.push_back(static_cast<std::uint32_t>(s[at]));
      if (!of.packed_images.empty()) found.push_back(of.packed_images[at]);
      return found;
    }

    template <class T, int Dim>
    struct batch_check
    {
      batch_case<T, Dim> const& of;
      std::size_t n = of.cutoffs.size();

      [[nodiscard]] batch_points<T, Dim> const& y() const { return of.one_set ? of.x : of.y; }

      /// The pairs of each system, in the order of the list.
      [[nodiscard]] std::vector<std::vector<pair_bits>> by_system(coo<T, Dim> const& list) const
      {
        std::vector<std::vector<pair_bits>> found(n);
        for (std::size_t p = 0; p < list.size(); ++p)
        {
          std::int64_t const s = of.x.column[list.i[p]];
          EXPECT_EQ(y().column[list.j[p]], s);
          found[std::size_t(s)].push_back(pair_bits_at(list, p, list.i[p], list.j[p]));
        }
        return found;
      }

      template <class On>
      void coo_lists(On const& where, cell_list<T, Dim> const& cells, to_coo const& what) const
      {
        auto const list = radius_search(where, cells, what);
        auto const found = by_system(list);
        std::vector<std::uint64_t> offsets{0};
        for (std::size_t s = 0; s < n; ++s)
        {
          auto const one = radius_search(scalar, of.list_of(s), what);
          std::vector<pair_bits> expected;
          for (std::size_t p = 0; p < one.size(); ++p)
            expected.push_back(
                pair_bits_at(one, p, of.x.index(s, one.i[p]), y().index(s, one.j[p])));
          EXPECT_EQ(found[s], expected) << "system " << s;
          offsets.push_back(offsets.back() + one.size());
        }
        if (!what.sorted)
        {
          EXPECT_EQ(pair_offsets(list, of.given()), offsets);
        }
      }

      template <class On>
      void rows(On const& where, cell_list<T, Dim> const& cells, to_csr const& what) const
      {
        auto const list = radius_search(where, cells, what);
        for (std::size_t s = 0; s < n; ++s)
        {
          auto const one = radius_search(scalar, of.list_of(s), what);
          for (index_type i = 0; i < one.size(); ++i)
          {
            index_type const row = of.x.index(s, i);
            ASSERT_EQ(list.row(row).size(), one.row(i).size());
            for (std::size_t k = 0; k < one.row(i).size(); ++k)
            {
              std::size_t const at = list.offsets[row] + k, at_one = one.offsets[i] + k;
              EXPECT_EQ(pair_bits_at(list, at, 0, list.columns[at]),
                        pair_bits_at(one, at_one, 0, y().index(s, one.columns[at_one])));
            }
          }
        }
      }

      template <class On>
      void counts_and_tables(On const& where, cell_list<T, Dim> const& cells, pairs which) const
      {
        auto const counts = radius_search(where, cells, count_pairs{which, true});
        auto const table = radius_search(where, cells, to_table{which, 5});
        std::uint64_t total = 0;
        bool overflows = false;
        for (std::size_t s = 0; s < n; ++s)
        {
          auto const one = radius_search(scalar, of.list_of(s), to_table{which, 5});
          for (index_type i = 0; i < one.size(); ++i)
          {
            index_type const row = of.x.index(s, i);
            EXPECT_EQ(counts.per_point[row], one.counts[i]);
            EXPECT_EQ(table.counts[row], one.counts[i]);
            for (std::size_t k = 0; k < one.row(i).size(); ++k)
              EXPECT_EQ(table.row(row)[k], y().index(s, one.row(i)[k]));
            total += one.counts[i];
          }
          overflows |= one.overflow;
        }
        EXPECT_EQ(counts.total, total);
        EXPECT_EQ(table.overflow, overflows);
      }

      /// Visits are in the order of a COO list.
      template <class On>
      void visits(On const& where, cell_list<T, Dim> const& cells, pairs which) const
      {
        auto const list = radius_search(
            scalar, cells, to_coo{.which = which, .distances = true, .displacements = true});
        std::uint64_t p = 0;
        radius_search(scalar, cells,
                      visit{[&](index_type i, index_type j, T r2, vec<T, Dim> const& d)
                            {
                              ASSERT_LT(p, list.size());
                              EXPECT_EQ(std::tuple(i, j, r2),
                                        std::tuple(list.i[p], list.j[p], list.r2[p]));
                              for (int a = 0; a < Dim; ++a)
                                EXPECT_EQ(d[a], list.displacements[a][p]);
                              ++p;
                            },
                            which});
        EXPECT_EQ(p, list.size());
        std::mutex mutex;
        std::uint64_t in_rows = 0;
        radius_search(where, cells,
                      visit_rows{[&](auto const& row)
                                 {
                                   std::lock_guard const lock(mutex);
                                   in_rows += row.j.size();
                                   for (index_type const j : row.j)
                                     EXPECT_EQ(of.x.column[row.i], y().column[j]);
                                 },
                                 which});
        EXPECT_EQ(in_rows, list.size());
        auto const sum = radius_search(
            where, cells,
            reduce{std::uint64_t(0), [](std::uint64_t& all, index_type, index_type, T) { ++all; },
                   [](std::uint64_t& all, std::uint64_t part) { all += part; }, which, 7});
        EXPECT_EQ(sum, list.size());
      }

      template <class On>
      void all_outputs(On const& where, cell_list<T, Dim> const& cells, pairs which) const
      {
        for (bool const sorted : {false, true})
        {
          coo_lists(where, cells, {which, sorted, true, true, image_columns::counters});
          coo_lists(where, cells, {which, sorted});
          rows(where, cells, {which, sorted, true, true, image_columns::counters});
          rows(where, cells, {which, sorted, false, false, image_columns::counters});
        }
        counts_and_tables(where, cells, which);
        visits(where, cells, which);
      }
    };
  }

  TYPED_TEST(batch, is_its_single_lists)
  {
    using T = typename TypeParam::real;
    constexpr int Dim = TypeParam::dim;
    for (std::uint64_t seed = 1; seed <= number_of_cells(40); ++seed)
    {
      SCOPED_TRACE(seed);
      batch_case<T, Dim> const of(seed);
      batch_check<T, Dim> const check{of};
      threads on(1 + static_cast<int>(seed % 3));
      auto const cells = of.list(simd.with(on));
      ASSERT_EQ(cells.n_systems(), of.cutoffs.size());
      for (pairs const which : {pairs::full, pairs::half})
      {
        if (which == pairs::half && !of.one_set) continue;
        if (seed % 2 == 0)
          check.all_outputs(simd.with(on), cells, which);
        else
          check.all_outputs(simd, cells, which);
        for (isa const where : available_isas())
          check.coo_lists(simd_backend{where}, cells,
                          {which, false, true, true, image_columns::counters});
      }
      if (testing::Test::HasFailure()) return;
    }
  }

  // Many systems, on as many threads as there are and on one: the same to the bit; rebuilt, and with other systems.
  TYPED_TEST(batch, of_many_systems_is_rebuilt)
  {
    using T = typename TypeParam::real;
    constexpr int Dim = TypeParam::dim;
    threads on(3);
    batch_case<T, Dim> const first(2, 40);
    batch_case<T, Dim> second(5, 3);
    second.options = first.options;
    points<T, Dim> const none;
    cell_list<T, Dim> cells(simd.with(on), none.view(), 1, first.options);
    for (auto const* of : {&first, &std::as_const(second), &first})
    {
      if (of->one_set)
        cells.rebuild(of->x.x.view(), of->given());
      else
        cells.rebuild(of->x.x.view(), of->y.x.view(), of->given());
      for (int turn = 0; turn < 2; ++turn) // the second one keeps the systems
      {
        auto const alone = of->list(scalar);
        EXPECT_EQ(cells.n_systems(), of->cutoffs.size());
        EXPECT_TRUE(std::ranges::equal(cells.target_order(), alone.target_order()));
        EXPECT_TRUE(std::ranges::equal(cells.targets().offsets, alone.targets().offsets));
        EXPECT_TRUE(std::ranges::equal(cells.target_moves(), alone.target_moves()));
        batch_check<T, Dim> const check{*of};
        check.coo_lists(simd.with(on), cells,
                        {pairs::full, false, true, true, image_columns::counters});
        if (of->one_set)
          cells.rebuild(of->x.x.view());
        else
          cells.rebuild(of->x.x.view(), of->y.x.view());
      }
    }
    // one system again
    cells.rebuild(first.x_of[0].view(), first.cutoffs[0]);
    EXPECT_EQ(cells.n_systems(), 1u);
  }

  TEST(batches, of_no_systems_or_of_empty_ones)
  {
    points<double, 3> const none;
    double const cutoff = 1;
    for (std::vector<index_type> const& offsets :
         {std::vector<index_type>{0}, {0, 0}, {0, 0, 0, 0}})
    {
      cell_list<double, 3> const cells(none.view(), {.offsets = offsets, .cutoffs = {&cutoff, 1}});
      EXPECT_EQ(cells.n_systems(), offsets.size() - 1);
      EXPECT_EQ(radius_search(simd, cells, to_coo{}).size(), 0u);
      EXPECT_EQ(radius_search(simd, cells, to_csr{.sorted = true}).size(), 0u);
      threads on(2);
      EXPECT_EQ(radius_search(simd.with(on), cells, to_coo{.sorted = true}).size(), 0u);
    }
  }

  TEST(batches, of_a_column)
  {
    auto const sorted = systems_of(std::vector<int>{0, 0, 2, 3, 3}, 5);
    EXPECT_EQ(sorted.offsets, (std::vector<index_type>{0, 2, 2, 3, 5, 5}));
    EXPECT_TRUE(sorted.order.empty());
    auto const mixed = systems_of(std::vector<std::int64_t>{1, 0, 1, 0});
    EXPECT_EQ(mixed.offsets, (std::vector<index_type>{0, 2, 4}));
    EXPECT_EQ(mixed.order, (std::vector<index_type>{1, 3, 0, 2}));
    EXPECT_EQ(systems_of(std::vector<int>()).offsets, std::vector<index_type>{0});
    EXPECT_THAT([] { static_cast<void>(systems_of(std::vector<int>{0, -1})); },
                complains_of("point 1", "system -1"));
    EXPECT_THAT([] { static_cast<void>(systems_of(std::vector<int>{0, 3}, 3)); },
                complains_of("point 1", "system 3", "0 to 2"));
  }

  TEST(batches, refuses_what_does_not_match)
  {
    auto const x = points_at<2>({{0, 0}, {1, 0}, {2, 0}, {3, 0}});
    std::vector<index_type> const offsets{0, 1, 4}, descending{0, 3, 2, 4}, late{1, 4}, early{0, 3};
    std::vector<double> const cutoffs{1, 2}, three{1, 2, 3};
    std::vector<cell<2>> const cells(3, cell<2>::of_lengths(std::array{9., 9.}));
    cell_list<double, 2> list(x.view(), {.offsets = offsets, .cutoffs = cutoffs});
    auto const refuses = [&](systems<2> const& of, auto const&... words)
    {
      EXPECT_THAT([&] { list.rebuild(x.view(), of); }, complains_of(words...));
      EXPECT_EQ(radius_search(simd, list, count_pairs{}).total, 2u) << "unchanged";
    };
    refuses({.cutoffs = cutoffs}, ".offsets", "no numbers");
    refuses({.offsets = descending, .cutoffs = cutoffs}, ".offsets[2] is 2 after 3");
    refuses({.offsets = late, .cutoffs = cutoffs}, ".offsets begins at 1");
    refuses({.offsets = early, .cutoffs = {cutoffs.data(), 1}}, "3 of 4 points");
    refuses({.offsets = offsets}, ".cutoffs has 0 for 2 systems");
    refuses({.offsets = offsets, .cutoffs = three}, ".cutoffs has 3 for 2 systems");
    refuses({.offsets = offsets, .cutoffs = cutoffs, .cells = cells}, ".cells has 3 for 2 systems");
    refuses({.offsets = offsets, .query_offsets = offsets, .cutoffs = cutoffs}, ".query_offsets");
    std::vector<index_type> const twice{0, 1, 1, 2};
    refuses({.offsets = offsets, .cutoffs = cutoffs, .order = twice}, ".order", "4 points once");
    EXPECT_THAT(
        [&]
        {
          list.rebuild(x.view(), x.view(),
                       {.offsets = offsets, .query_offsets = early, .cutoffs = cutoffs});
        },
        complains_of("the queries have 1 systems", "2"));
    EXPECT_THAT([&] { list.rebuild(x.view(), x.view()); },
                complains_of("of one set", ".query_offsets"));
    EXPECT_THAT([&] { list.update(x.view(), x.view()); }, complains_of("of one set"));
    EXPECT_THAT([&] { list.update(x.view(), {std::span<cell<2> const>(cells)}); },
                complains_of("found 3 boxes for 2 systems"));
    cell_list<double, 2> two(x.view(), x.view(),
                             {.offsets = offsets, .query_offsets = offsets, .cutoffs = cutoffs});
    EXPECT_THAT([&] { two.rebuild(x.view()); }, complains_of("of queries and points"));
    EXPECT_EQ(radius_search(simd, two, to_csr{}).size(), 4u) << "unchanged";
    cell_list_options<double, 2> const boxed{.period = {9, 9}};
    EXPECT_THAT(
        ([&] { cell_list<double, 2>(x.view(), {.offsets = offsets, .cutoffs = cutoffs}, boxed); }),
        complains_of(".period", ".cells"));
    EXPECT_THAT([&] { list.rebuild(points_at<2>({{0, 0}}).view()); },
                complains_of("4 of 1 points"));
    float const one = 0;
    EXPECT_THAT((
                    [&]
                    {
                      cell_list<float, 2>(
                          soa<float const, 2>({&one, &one}, (std::size_t(1) << 32) + 5),
                          {.offsets = offsets, .cutoffs = cutoffs});
                    }),
                complains_of("4294967301 points", "fewer than"));
  }

  TEST(batches, names_the_first_system_that_is_wrong)
  {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<index_type> offsets;
    std::vector<double> cutoffs(40, 1);
    points<double, 2> x;
    for (index_type s = 0; s <= 40; ++s) offsets.push_back(3 * s);
    for (index_type i = 0; i < 120; ++i) x.push_back({double(i), 0});
    std::vector<cell<2>> boxes(40, cell<2>::of_lengths(std::array{200., 9.}));
    for (int const n : {1, 3})
    {
      threads on(n);
      cell_list<double, 2> list(simd.with(on), x.view(),
                                {.offsets = offsets, .cutoffs = cutoffs, .cells = boxes});
      auto const refuses = [&](auto const&... words)
      {
        EXPECT_THAT(
            [&]
            { list.rebuild(x.view(), {.offsets = offsets, .cutoffs = cutoffs, .cells = boxes}); },
            complains_of(words...));
        EXPECT_EQ(list.targets().offsets.back(), 120u) << "unchanged";
      };
      x.columns[1][3 * 7 + 2] = x.columns[0][3 * 30] = nan;
      refuses("system 7: ", "coordinate 1 of point 2 of the points is nan");
      x.columns[1][3 * 7 + 2] = x.columns[0][3 * 30] = 0;
      cutoffs[3] = -1;
      refuses("system 3: ", "the cutoff is -1");
      cutoffs[3] = 1e6;
      refuses("system 3: ", "65535 images");
      cutoffs[3] = 1;
      boxes[12].vectors[1] = boxes[12].vectors[0];
      refuses("system 12: ");
      boxes[12] = boxes[0];
    }
  }

  // PyTorch Geometric 10254: on a GPU, a graph of radius 5 had edges between two systems whose points were not sorted.
  TEST(reported_cases, pytorch_geometric_10254_edges_between_systems)
  {
    auto const x = points_at<2>({{0, 1}, {1, 1}, {10, 10}, {10, 11}});
    std::vector<int> const batch{0, 1, 0, 1};
    auto const of = systems_of(batch);
    double const cutoff = 5;
    cell_list<double, 2> const cells(
        x.view(), {.offsets = of.offsets, .cutoffs = {&cutoff, 1}, .order = of.order});
    EXPECT_EQ(radius_search(simd, cells, to_coo{}).size(), 0u);
    EXPECT_EQ(radius_search(simd, cell_list(x.view(), cutoff), to_coo{}).size(), 2u);
  }
}
