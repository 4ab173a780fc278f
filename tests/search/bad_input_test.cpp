#include "complains_of.hpp"
#include "points.hpp"
#include "starpu/little_space.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

namespace nearfield::test
{
  namespace
  {
    constexpr isa all_isas[] = {isa::sse2, isa::avx2, isa::avx512, isa::neon64};
  }

  TEST(bad_search, names_the_size_of_a_result_that_is_too_large)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 200);
    cell_list<double, 3> const cells(x.view(), 0.4);
    std::uint64_t const half = radius_search(simd, cells, count_pairs{}).total;
    std::uint64_t const full = 2 * half;
    coo<double, 3> list;
    csr<double, 3> rows;
    neighbour_table table;

    std::uint64_t const coo_bytes = half * 8;
    radius_search(simd, cells, to_coo{.max_bytes = coo_bytes}, list);
    EXPECT_EQ(list.size(), half);
    EXPECT_THAT([&] { radius_search(simd, cells, to_coo{.max_bytes = coo_bytes - 1}, list); },
                complains_of("radius_search", std::to_string(half) + " pairs",
                             std::to_string(coo_bytes) + " bytes", "max_bytes", "smaller cutoff"));
    EXPECT_THAT(list.size(), ::testing::AnyOf(0, half)) << "unchanged or empty";
    EXPECT_THAT(
        [&]
        {
          radius_search(simd, cells, to_coo{.displacements = true, .max_bytes = coo_bytes}, list);
        },
        complains_of(std::to_string(half * 32) + " bytes"));
    EXPECT_THAT(
        [&]
        {
          radius_search(simd, cells,
                        to_coo{.images = image_columns::counters, .max_bytes = coo_bytes}, list);
        },
        complains_of(std::to_string(half * 20) + " bytes"));
    EXPECT_THAT(
        [&]
        {
          radius_search(simd, cells,
                        to_coo{.images = image_columns::packed, .max_bytes = coo_bytes}, list);
        },
        complains_of(std::to_string(half * 12) + " bytes"));
    EXPECT_THAT([&] { radius_search(simd, cells, to_coo{.sorted = true, .max_bytes = 1}, list); },
                complains_of(std::to_string(half) + " pairs"));

    std::uint64_t const csr_bytes = full * 4 + 201 * 8;
    radius_search(simd, cells, to_csr{.max_bytes = csr_bytes}, rows);
    EXPECT_THAT([&] { radius_search(simd, cells, to_csr{.max_bytes = csr_bytes - 1}, rows); },
                complains_of(std::to_string(full) + " pairs", std::to_string(csr_bytes)));
    EXPECT_THAT([&]
                { radius_search(simd, cells, to_table{.width = 10, .max_bytes = 8799}, table); },
                complains_of("200 rows and width 10", "200 x 44 bytes", "8799", "smaller width"));
    radius_search(simd, cells, to_table{.width = 10, .max_bytes = 8800}, table);
    EXPECT_EQ(table.columns.size(), 2000u);
    table = {};
    EXPECT_THAT([&] { radius_search(simd, cells, to_table{.width = 0}, table); },
                complains_of("width", "0", "1 or more"));
    EXPECT_TRUE(table.columns.empty());
  }

  // The space for all candidates is reserved column by column; if the second one gets none, the first is given back.
  TEST(bad_search, counts_first_in_little_address_space)
  {
    // whose operator new ends the process where there is no space
    if (address_space_in_use() >> 40) GTEST_SKIP() << "a sanitizer's address space";
    auto const x = make_points<float, 3>(cloud::uniform, 3000);
    cell_list<float, 3> const cells(x.view(), 0.1);
    std::uint64_t const expected = radius_search(simd, cells, count_pairs{}).total;
    coo<float, 3> reserved;
    radius_search(simd, cells, to_coo{}, reserved);
    std::size_t const most = 4 * reserved.i.capacity();
    reserved = {};
    ASSERT_GT(8 * expected, most / 4);
    ASSERT_LT(8 * expected, most / 2);
    auto const expect_list = [&](auto const& where)
    {
      coo<float, 3> list;
      std::string const message = message_in_little_space(
          [&] { radius_search(where, cells, to_coo{}, list); }, most + most / 16);
      EXPECT_EQ(message, "");
      EXPECT_EQ(list.size(), expected);
    };
    threads on(1); // no space for the stacks of others
    expect_list(simd);
    expect_list(simd.with(on));
  }

  // A list with room for all candidates fits, and no piece of it beside.
  TEST(bad_search, leaves_space_for_the_pieces_of_threads)
  {
    // whose operator new ends the process where there is no space
    if (address_space_in_use() >> 40) GTEST_SKIP() << "a sanitizer's address space";
    auto const x = make_points<float, 3>(cloud::uniform, 20000);
    cell_list<float, 3> const cells(x.view(), 0.08);
    std::uint64_t const expected = radius_search(simd, cells, count_pairs{}).total;
    std::uint64_t const most =
        nearfield::detail::count_candidates(nearfield::detail::whole(cells.view(), pairs::half));
    coo<float, 3> list;
    threads on(1);
    std::string const message = message_in_little_space(
        [&] { radius_search(simd.with(on), cells, to_coo{}, list); }, 8 * most + (1 << 17));
    EXPECT_EQ(message, "");
    EXPECT_EQ(list.size(), expected);
  }

  TEST(bad_search, refuses_a_half_list_of_two_sets)
  {
    auto const x = make_points<double, 2>(cloud::uniform, 10);
    cell_list<double, 2> const cells(x.view(), x.view(), 0.4);
    auto const refused = complains_of("two sets", "half", "pairs::full");
    EXPECT_THAT([&] { (void)radius_search(simd, cells, count_pairs{}); }, refused);
    EXPECT_THAT([&] { (void)radius_search(scalar, cells, to_coo{}); }, refused);
    EXPECT_THAT([&] { (void)radius_search(simd, cells, to_csr{pairs::half}); }, refused);
    EXPECT_THAT([&] { (void)radius_search(simd, cells, to_table{pairs::half}); }, refused);
    EXPECT_THAT(
        [&]
        {
          radius_search(simd, cells, visit{[](auto, auto, auto) {
                        }});
        },
        refused);
  }

  TEST(bad_search, leaves_results_as_they_were_or_empty)
  {
    auto const x = make_points<double, 2>(cloud::uniform, 40);
    cell_list<double, 2> const cells(x.view(), 0.4);
    auto const isas = available_isas();
    auto const missing = std::ranges::find_if(all_isas, [&](isa which)
                                              { return std::ranges::count(isas, which) == 0; });
    ASSERT_NE(missing, std::end(all_isas));
    simd_backend const nowhere{*missing};
    threads on(2);
    auto const expect_nothing = [&]<class Result>(Result, auto const& what)
    {
      auto const expect_at = [&](auto const& where)
      {
        Result result;
        EXPECT_THROW(radius_search(where, cells, what, result), error);
        if constexpr (std::is_same_v<Result, pair_counts>)
          EXPECT_TRUE(result.per_point.empty() && result.total == 0);
        else
          EXPECT_EQ(result.size(), 0u);
      };
      expect_at(nowhere);
      expect_at(nowhere.with(on));
    };
    expect_nothing(pair_counts{}, count_pairs{.per_point = true});
    for (bool const sorted : {false, true})
    {
      expect_nothing(coo<double, 2>{}, to_coo{.sorted = sorted, .displacements = true});
      expect_nothing(csr<double, 2>{}, to_csr{.sorted = sorted, .displacements = true});
    }
    expect_nothing(neighbour_table{}, to_table{});
  }

  TEST(bad_search, refuses_an_instruction_set_that_is_not_here)
  {
    auto const x = make_points<double, 2>(cloud::uniform, 10);
    cell_list<double, 2> const cells(x.view(), 0.4);
    for (isa const which : all_isas)
    {
      if (std::ranges::count(available_isas(), which) > 0) continue;
      EXPECT_THAT([&] { (void)radius_search(simd_backend{which}, cells, count_pairs{}); },
                  complains_of(std::string(name_of(which)), "available are scalar"));
    }
  }
}
