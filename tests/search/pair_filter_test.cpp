#include <nearfield/search/radius_search.hpp>

#include "backends.hpp"
#include "complains_of.hpp"
#include "search/filter_case.hpp"
#include "search/image_lists.hpp"
#include "search/random_case.hpp"
#include "search/search_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

// Which pairs count: filtered searches against the pairs of the whole list, chosen one by one.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class pair_filters : public testing::Test
    {};
    TYPED_TEST_SUITE(pair_filters, search_kinds);

    template <class T, int Dim>
    using places = std::vector<
        std::tuple<index_type, index_type, detail::image_counters<Dim>, T, std::array<T, Dim>>>;

    template <class T, int Dim>
    places<T, Dim> places_of(coo<T, Dim> const& list)
    {
      places<T, Dim> found;
      for (std::size_t p = 0; p < list.size(); ++p)
      {
        std::array<T, Dim> d;
        for (int a = 0; a < Dim; ++a) d[a] = list.displacements[a][p];
        found.emplace_back(list.i[p], list.j[p], image_at(list, p), list.r2[p], d);
      }
      return found;
    }

    template <class T, int Dim>
    void check_filter(std::uint64_t seed)
    {
      random_case<T, Dim> const of(seed);
      filter_case<T> const chosen(of, seed);
      auto const cells = of.list();
      filtered const some(cells, chosen.filter());
      threads on(2);
      for (pairs const which : {pairs::full, pairs::half})
      {
        if (which == pairs::half && !chosen.has_half()) continue;
        auto const expected = [&](bool sorted)
        {
          auto list =
              places_of(radius_search(simd, cells, with_all_columns(to_coo{which, sorted})));
          std::erase_if(list, [&](auto const& p)
                        { return !chosen.counts(std::get<0>(p), std::get<1>(p), std::get<3>(p)); });
          return list;
        };
        auto const all = expected(false), ordered = expected(true);
        for (auto const& backend : tested_backends())
          backend.run(
              [&](auto where)
              {
                SCOPED_TRACE(backend.name);
                auto const find = [&](auto const& what)
                {
                  return places_of(radius_search(where, some, with_all_columns(what)));
                };
                EXPECT_EQ(find(to_coo{which}), all);
                EXPECT_EQ(find(to_coo{which, true}), ordered);
              });
        EXPECT_EQ(places_of(radius_search(simd.with(on), some, with_all_columns(to_coo{which}))),
                  all);
        EXPECT_EQ(
            places_of(radius_search(simd.with(on), some, with_all_columns(to_coo{which, true}))),
            ordered);
        // indices alone, counts and rows
        auto const list = radius_search(simd, some, to_coo{which});
        auto const counts = radius_search(simd, some, count_pairs{which, true});
        auto const rows = radius_search(simd, some, to_csr{which});
        auto const table = radius_search(simd, some, to_table{which, 3});
        ASSERT_EQ(list.size(), all.size());
        EXPECT_EQ(counts.total, all.size());
        std::vector<std::vector<index_type>> row(cells.target_order().size());
        for (std::size_t p = 0; p < all.size(); ++p)
        {
          EXPECT_EQ(list.i[p], std::get<0>(all[p]));
          EXPECT_EQ(list.j[p], std::get<1>(all[p]));
          row[list.i[p]].push_back(list.j[p]);
        }
        for (std::size_t i = 0; i < row.size(); ++i)
        {
          EXPECT_EQ(counts.per_point[i], row[i].size());
          EXPECT_EQ(table.counts[i], row[i].size());
          EXPECT_TRUE(std::ranges::equal(rows.row(i), row[i])) << "row " << i;
          EXPECT_TRUE(std::ranges::equal(
              table.row(i), std::span(row[i]).first(std::min<std::size_t>(3, row[i].size()))));
        }
        std::uint64_t visited = 0;
        radius_search(simd, some, visit{[&](auto, auto, auto) { ++visited; }, which});
        EXPECT_EQ(visited, all.size());
      }
      if (!chosen.has_half())
      {
        EXPECT_THROW(static_cast<void>(radius_search(simd, some, to_coo{})), error);
      }
    }
  }

  TYPED_TEST(pair_filters, leave_the_pairs_that_count)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(150) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "case " << seed);
      check_filter<typename TypeParam::real, TypeParam::dim>(seed);
    }
  }

  TEST(pair_filter, decides_as_it_is_documented)
  {
    // 0 -- 1 -- 2 -- 3, a length of 1 apart; 0 and 3 are of type 1
    auto const x = points_at<2>({{0, 0}, {1, 0}, {2, 0}, {3, 0}});
    cell_list<double, 2> const cells(x.view(), 2.5);
    std::vector<index_type> const type{1, 0, 0, 1};
    auto const pairs_of = [&](pair_filter<double> const& which)
    {
      filtered const some(cells, which);
      auto const list = radius_search(simd, some, to_coo{.sorted = true});
      std::vector<std::pair<index_type, index_type>> found;
      for (std::size_t p = 0; p < list.size(); ++p) found.emplace_back(list.i[p], list.j[p]);
      return found;
    };
    using list = std::vector<std::pair<index_type, index_type>>;
    EXPECT_EQ(pairs_of({}), (list{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}}));
    std::vector<double> const none_of_1{2.5, 0, 0, 0}, near{1.5, 2.5, 2.5, 2.5};
    EXPECT_EQ(pairs_of({.types = type, .type_cutoffs = none_of_1}), (list{{1, 2}}));
    EXPECT_EQ(pairs_of({.types = type, .type_cutoffs = near}),
              (list{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}}));
    std::vector<double> const radii{.4, .7, .4, 1.2};
    EXPECT_EQ(pairs_of({.radii = radii}), (list{{0, 1}, {1, 2}, {2, 3}}));
    EXPECT_EQ(pairs_of({.radii = radii, .by = cutoff_by::larger}), (list{{2, 3}}));
    std::vector<std::uint64_t> const offsets{0, 1, 1, 2, 2};
    std::vector<index_type> const excluded{1, 3};
    EXPECT_EQ(pairs_of({.excluded_offsets = offsets, .excluded = excluded}),
              (list{{0, 2}, {1, 2}, {1, 3}}));

    std::vector<index_type> const rows{3};
    filtered const one(cells, {.rows = rows});
    auto const row = radius_search(simd, one, to_csr{});
    EXPECT_EQ(row.columns.size(), 2u);
    EXPECT_EQ(row.row(3).size(), 2u);
    EXPECT_THAT([&] { static_cast<void>(radius_search(simd, one, to_coo{})); },
                complains_of("no half list"));
    filtered const own(cells, {.radii = radii, .by = cutoff_by::own});
    auto const by_own = radius_search(simd, own, to_csr{});
    EXPECT_EQ(by_own.row(3).size(), 1u);
    EXPECT_EQ(by_own.row(2).size(), 0u);
  }

  TEST(pair_filter, refuses_what_is_not_there)
  {
    auto x = points_at<2>({{0, 0}, {1, 0}, {2, 0}});
    cell_list<double, 2> cells(x.view(), 2);
    auto const refused = [&](pair_filter<double> const& which)
    {
      return [&cells, which]
      {
        static_cast<void>(filtered(cells, which));
      };
    };
    std::vector<index_type> const two{0, 1}, types{0, 1, 2}, zero{0, 0, 0}, far{3};
    std::vector<double> const matrix{1, 1, 1, 1}, skew{1, 2, 1, 1}, three{1, 1, 1}, large{2.5},
        negative{-1}, one{1}, tiny{1e-160}, radii{1, 1.5, 1}, nan{1, 1, std::nan("")},
        small{1, 1e-160, 0};
    std::vector<std::uint64_t> const offsets{0, 0, 0, 1}, falling{0, 2, 1, 1}, few{0, 1};
    EXPECT_THAT(refused({.types = two, .type_cutoffs = one}),
                complains_of(".types has 2", "give 3"));
    EXPECT_THAT(refused({.types = types, .type_cutoffs = matrix}),
                complains_of("value 2 of .types is 2"));
    EXPECT_THAT(refused({.types = zero, .type_cutoffs = three}), complains_of("square"));
    EXPECT_THAT(refused({.types = zero, .type_cutoffs = skew}), complains_of("symmetric"));
    EXPECT_THAT(refused({.types = zero, .type_cutoffs = large}), complains_of("2.5", "exceeds"));
    EXPECT_THAT(refused({.types = zero, .type_cutoffs = negative}), complains_of("-1"));
    EXPECT_THAT(refused({.types = zero, .type_cutoffs = tiny}),
                complains_of("1e-160", "square does not underflow"));
    EXPECT_THAT(refused({.radii = small}),
                complains_of("value 1 of .radii is 1e-160", "square does not underflow"));
    EXPECT_THAT(refused({.radii = radii}), complains_of("3", "exceeds"));
    EXPECT_THAT(refused({.radii = nan}), complains_of("value 2 of .radii"));
    EXPECT_THAT(refused({.radii = one}), complains_of(".radii has 1"));
    EXPECT_THAT(refused({.excluded_offsets = offsets, .excluded = far}),
                complains_of("value 0 of .excluded is 3", "3 points"));
    EXPECT_THAT(refused({.excluded_offsets = falling, .excluded = far}), complains_of("ascend"));
    EXPECT_THAT(refused({.excluded_offsets = few, .excluded = far}), complains_of("give 4"));
    EXPECT_THAT(refused({.rows = far}), complains_of("value 0 of .rows"));
    EXPECT_THAT(refused({.query_types = two}), complains_of("two sets"));

    filtered const typed(cells, {.types = zero, .type_cutoffs = one});
    cells.rebuild(x.view(), 0.5);
    EXPECT_THAT([&] { static_cast<void>(radius_search(simd, typed, to_csr{})); },
                complains_of("exceeds that of the cell list, 0.5"));
    cells.rebuild(x.view(), 2);
    filtered const some(cells, {.rows = two});
    x.push_back(std::array{3., 0.});
    cells.rebuild(x.view());
    EXPECT_THAT([&] { static_cast<void>(radius_search(simd, some, to_csr{})); },
                complains_of("other points"));
  }
}
