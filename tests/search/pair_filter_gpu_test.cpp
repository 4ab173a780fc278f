#include <nearfield/search/cuda.hpp>

#include "complains_of.hpp"
#include "search/filter_case.hpp"
#include "search/image_lists.hpp"
#include "search/lists_of_both.hpp"
#include "search/search_case.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/radius_search.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

// Filtered searches on a GPU, against those of the CPU.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class pair_filters_on_gpu : public testing::Test
    {};
    TYPED_TEST_SUITE(pair_filters_on_gpu, search_kinds);

    void expect_same_values(auto const& found, auto const& expected)
    {
      EXPECT_TRUE(std::ranges::equal(found, expected));
    }
    template <class T, int Dim>
    void expect_same_geometry(detail::pair_geometry<T, Dim> const& found,
                              detail::pair_geometry<T, Dim> const& expected)
    {
      expect_same_values(found.r2, expected.r2);
      for (int a = 0; a < Dim; ++a)
      {
        expect_same_values(found.displacements[a], expected.displacements[a]);
        expect_same_values(found.images[a], expected.images[a]);
      }
    }

    template <class T, int Dim>
    void check_filter_on_gpu(std::uint64_t seed)
    {
      random_case<T, Dim> const of(seed, 20'000, 600);
      filter_case<T> const chosen(of, seed);
      lists_of_both<T, Dim> lists(of);
      filtered const expected(lists.here, chosen.filter());
      cuda_filtered const some(lists.there, chosen.filter());
      for (pairs const which : {pairs::full, pairs::half})
      {
        if (which == pairs::half && !chosen.has_half())
        {
          EXPECT_THROW(static_cast<void>(radius_search(cuda, some, to_coo{which})), error);
          continue;
        }
        to_coo list{which};
        list.distances = list.displacements = true;
        list.images = image_columns::counters;
        auto const found = radius_search(cuda, some, list).to_host();
        auto const wanted = radius_search(simd, expected, list);
        expect_same_values(found.i, wanted.i);
        expect_same_values(found.j, wanted.j);
        expect_same_geometry<T, Dim>(found, wanted);
        to_csr rows{which};
        rows.images = image_columns::counters;
        auto const found_rows = radius_search(cuda, some, rows).to_host();
        auto const wanted_rows = radius_search(simd, expected, rows);
        expect_same_values(found_rows.offsets, wanted_rows.offsets);
        expect_same_values(found_rows.columns, wanted_rows.columns);
        expect_same_geometry<T, Dim>(found_rows, wanted_rows);
        auto const counts = radius_search(cuda, some, count_pairs{which, true}).to_host();
        auto const wanted_counts = radius_search(simd, expected, count_pairs{which, true});
        EXPECT_EQ(counts.total, wanted_counts.total);
        expect_same_values(counts.per_point, wanted_counts.per_point);
        auto const table = radius_search(cuda, some, to_table{which, 3}).to_host();
        auto const wanted_table = radius_search(simd, expected, to_table{which, 3});
        expect_same_values(table.counts, wanted_table.counts);
        EXPECT_EQ(table.overflow, wanted_table.overflow);
        for (std::size_t i = 0; i < table.size(); ++i)
          expect_same_values(table.row(i), wanted_table.row(i));
      }
    }
  }

  TYPED_TEST(pair_filters_on_gpu, leave_the_pairs_that_those_of_the_cpu_leave)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(60) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "case " << seed);
      check_filter_on_gpu<typename TypeParam::real, TypeParam::dim>(seed);
    }
  }

  TEST(pair_filters_on_gpu, are_checked)
  {
    auto const x = points_at<3>({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}});
    device_columns<double, 3> const on_device(x.view());
    cuda_cell_list<double, 3> cells(cuda, on_device.view(), 2.);
    std::vector<double> const radii{1, 1.5, 1};
    EXPECT_THAT([&] { static_cast<void>(cuda_filtered(cells, {.radii = radii})); },
                complains_of("exceeds that of the cell list, 2"));
  }
}
