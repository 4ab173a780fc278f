#include "search/search_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace nearfield::test
{
  TEST(radius_search, uses_results_again)
  {
    auto const many = make_points<double, 3>(cloud::uniform, 400);
    auto const few = make_points<double, 3>(cloud::plummer, 60, 9);
    cell_list<double, 3> cells(many.view(), 0.2);
    coo<double, 3> pairs_found;
    csr<double, 3> rows_found;
    for (auto const* x : {&many, &few, &many})
    {
      cells.rebuild(x->view());
      radius_search(simd, cells, to_coo{}, pairs_found);
      radius_search(simd, cells, to_csr{}, rows_found);
      brute_force<double, 3> const reference(x->view(), 0.2, {});
      std::size_t const both_ways = reference.list(pairs::full).size();
      EXPECT_EQ(2 * pairs_found.size(), both_ways);
      EXPECT_EQ(rows_found.columns.size(), both_ways);
      EXPECT_EQ(rows_found.size(), x->size());
    }
  }

  TEST(radius_search, writes_sorted_lists_into_the_memory_of_earlier_ones)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 400);
    cell_list<double, 3> const cells(x.view(), 0.2);
    for (pairs const which : {pairs::half, pairs::full})
    {
      to_coo const what{.which = which, .sorted = true, .distances = true};
      coo<double, 3> list;
      radius_search(simd, cells, what, list);
      auto const* const j = list.j.data();
      auto const* const r2 = list.r2.data();
      std::vector<index_type> const before(list.j.begin(), list.j.end());
      radius_search(simd, cells, what, list);
      EXPECT_EQ(list.j.data(), j);
      EXPECT_EQ(list.r2.data(), r2);
      EXPECT_TRUE(std::ranges::equal(list.j, before));
    }
  }

  TEST(radius_search, leaves_nothing_of_an_earlier_search_in_a_result)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 100);
    cell_list<double, 3> const cells(x.view(), 0.3);
    auto const expect_no_counts = [&](auto const& where)
    {
      pair_counts counts;
      radius_search(where, cells, count_pairs{.per_point = true}, counts);
      EXPECT_EQ(counts.per_point.size(), x.size());
      radius_search(where, cells, count_pairs{}, counts);
      EXPECT_TRUE(counts.per_point.empty());
    };
    threads on(2);
    expect_no_counts(simd);
    expect_no_counts(simd.with(on));
    auto const expect_geometry = [](nearfield::detail::pair_geometry<double, 3> const& of,
                                    std::size_t distances, std::size_t displacements,
                                    std::size_t counters, std::size_t packed)
    {
      EXPECT_EQ(of.r2.size(), distances);
      for (auto const& column : of.displacements) EXPECT_EQ(column.size(), displacements);
      for (auto const& column : of.images) EXPECT_EQ(column.size(), counters);
      EXPECT_EQ(of.packed_images.size(), packed);
    };
    for (bool const sorted : {false, true})
    {
      coo<double, 3> list;
      csr<double, 3> rows;
      for (auto const& [distances, displacements, images] :
           {std::tuple{true, true, image_columns::none},
            {false, true, image_columns::counters},
            {true, false, image_columns::packed},
            {false, false, image_columns::none}})
      {
        radius_search(simd, cells, to_coo{pairs::half, sorted, distances, displacements, images},
                      list);
        radius_search(simd, cells, to_csr{pairs::full, sorted, distances, displacements, images},
                      rows);
        ASSERT_GT(list.size(), 0u);
        auto const expect = [&expect_geometry](auto const& of, std::size_t n, to_coo const& what)
        {
          expect_geometry(of, what.distances ? n : 0, what.displacements ? n : 0,
                          what.images == image_columns::counters ? n : 0,
                          what.images == image_columns::packed ? n : 0);
        };
        to_coo const what{pairs::half, sorted, distances, displacements, images};
        expect(list, list.size(), what);
        expect(rows, rows.columns.size(), what);
      }
    }
  }

  TEST(radius_search, gives_back_the_address_space_of_pairs_that_were_not_found)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 20000);
    cell_list<double, 3> const cells(x.view(), 0.1, {.cells_per_cutoff = {1, 1, 1}});
    auto const list = radius_search(simd, cells, to_coo{.distances = true});
    ASSERT_GT(list.size(), 0u);
    std::size_t const most = 2 * list.size() + (std::size_t(1) << 18);
    EXPECT_LE(list.i.capacity(), most);
    EXPECT_LE(list.j.capacity(), most);
    EXPECT_LE(list.r2.capacity(), most);
  }

  TEST(radius_search, keeps_the_list_of_half_as_many_columns_as_asked_for)
  {
    auto const x = make_points<float, 2>(cloud::uniform, 100);
    cell_list<float, 2> const cells(x.view(), 0.2);
    coo<float, 2> const list = radius_search(simd, cells, to_coo{.distances = true});
    EXPECT_EQ(list.r2.size(), list.size());
    EXPECT_TRUE(list.displacements[0].empty());
    csr<float, 2> const rows = radius_search(scalar, cells, to_csr{.displacements = true});
    EXPECT_EQ(rows.displacements[1].size(), rows.columns.size());
    EXPECT_TRUE(rows.r2.empty());
  }

  TEST(radius_search, ends_with_what_a_visitor_throws)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 100);
    cell_list<double, 3> const cells(x.view(), 0.5);
    int calls = 0;
    auto const third = [&](index_type, index_type, double)
    {
      if (++calls == 3) throw std::runtime_error("enough");
    };
    EXPECT_THROW(radius_search(simd, cells, visit{third}), std::runtime_error);
    EXPECT_EQ(calls, 3);
  }

  TEST(radius_search, reduces_in_no_more_parts_than_asked_for)
  {
    // the points of the second cloud are alone in their cells, far from each other
    points<double, 3> const near = make_points<double, 3>(cloud::uniform, 1000);
    points<double, 3> far;
    for (int p = 0; p < 8000; ++p)
      for (int a = 0, cell = p; a < 3; ++a, cell /= 20) far.columns[a].push_back(cell % 20);
    auto const nothing = [](int&, index_type, index_type, double) {
    };
    for (auto const& [x, cutoff] : {std::pair{&near, 0.2}, {&far, 0.1}})
      for (int const wanted : {1, 64})
      {
        cell_list<double, 3> const cells(x->view(), cutoff);
        ASSERT_GT(cells.size(), 64u);
        int parts = 0;
        auto const counts = [&](int&, int)
        {
          ++parts;
        };
        static_cast<void>(
            radius_search(simd, cells, reduce{0, nothing, counts, pairs::half, wanted}));
        EXPECT_GE(parts, 1);
        EXPECT_LE(parts, wanted);
      }
  }

  TEST(slabs, end_where_they_have_as_many_candidates_as_asked_for)
  {
    using slabs = std::vector<std::array<std::uint64_t, 3>>;
    auto const cut = [](std::vector<std::uint64_t> const& before, std::uint64_t candidates)
    {
      slabs found;
      for (auto const& [first, last, n] : detail::cut_slabs(before, candidates))
        found.push_back({first, last, n});
      return found;
    };
    EXPECT_EQ(cut({0, 4, 8, 20, 24, 24}, 8), (slabs{{0, 2, 8}, {2, 3, 12}, {3, 5, 4}}));
    EXPECT_EQ(cut({0, 4, 8, 12}, 4), (slabs{{0, 1, 4}, {1, 2, 4}, {2, 3, 4}}));
    EXPECT_EQ(cut({0, 0, 0}, 1), (slabs{{0, 2, 0}}));
    EXPECT_EQ(cut({0}, 1), slabs{});
  }

  TEST(radius_search, searches_parts_of_the_boxes)
  {
    // what tasks will do: the parts in order are the whole
    auto const x = make_points<double, 3>(cloud::uniform, 500);
    cell_list<double, 3> const cells(x.view(), 0.15);
    auto const view = cells.view();
    index_type const middle = cells.size() / 3;
    std::vector<index_type> rows;
    auto const row = [](void* sink, detail::search_row<double, 3> const& hits)
    {
      static_cast<std::vector<index_type>*>(sink)->push_back(hits.position);
    };
    std::uint64_t total = 0, candidates = 0;
    for (auto const& [first, last] : {std::pair{index_type(0), middle}, {middle, cells.size()}})
    {
      detail::search_job<double, 3> const part{&view, pairs::half, first, last};
      total += detail::count_rows(isa::best, part, nullptr);
      candidates += detail::count_candidates(part);
      detail::search_rows(isa::best, part, detail::row_content::indices, +row, &rows);
    }
    EXPECT_EQ(total, radius_search(simd, cells, count_pairs{}).total);
    EXPECT_EQ(candidates, detail::count_candidates(detail::whole(view, pairs::half)));
    EXPECT_GE(candidates, total);
    ASSERT_EQ(rows.size(), x.size());
    for (std::size_t p = 0; p < rows.size(); ++p) EXPECT_EQ(rows[p], p);
  }
}
