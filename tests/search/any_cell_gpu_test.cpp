// Searches in boxes of any shape, of points anywhere, on a GPU: to the bit those of the CPU.

#include "complains_of.hpp"
#include "same_lists.hpp"
#include "search/lists_of_both.hpp"
#include "search/search_case.hpp"

#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class any_cell_gpu : public testing::Test
    {};
    TYPED_TEST_SUITE(any_cell_gpu, search_kinds);

    /// Both lists, or both errors.
    template <class T, int Dim, class What>
    void expect_same_list(cuda_cell_list<T, Dim>& on_gpu, cell_list<T, Dim> const& on_cpu,
                          What const& what)
    {
      std::optional<decltype(radius_search(simd, on_cpu, what))> cpu;
      try
      {
        cpu = radius_search(simd, on_cpu, what);
      }
      catch (error const&)
      {
        EXPECT_EQ(what.images, image_columns::packed);
        EXPECT_THAT([&] { (void)radius_search(cuda, on_gpu, what); },
                    complains_of("packed", "-512 to 511", "image_columns::counters"));
      }
      if (cpu) expect_same(radius_search(cuda, on_gpu, what).to_host(), *cpu);
    }

    template <class T, int Dim>
    void expect_same_searches(cuda_cell_list<T, Dim>& on_gpu, cell_list<T, Dim> const& on_cpu)
    {
      auto const &gpu = on_gpu.grid(), &cpu = on_cpu.grid();
      EXPECT_EQ(gpu.cells, cpu.cells);
      EXPECT_EQ(gpu.reach, cpu.reach);
      EXPECT_EQ(gpu.lower, cpu.lower);
      EXPECT_EQ(gpu.inverse_width, cpu.inverse_width);
      EXPECT_EQ(gpu.wraps, cpu.wraps);
      for (pairs const which : {pairs::full, pairs::half})
      {
        if (which == pairs::half && !on_cpu.has_one_set()) continue;
        SCOPED_TRACE(which == pairs::half ? "half" : "full");
        for (bool const sorted : {false, true})
        {
          SCOPED_TRACE(sorted ? "sorted" : "by position");
          SCOPED_TRACE("COO");
          expect_same_list(on_gpu, on_cpu,
                           to_coo{which, sorted, true, true, image_columns::counters});
          expect_same_list(on_gpu, on_cpu,
                           to_coo{which, sorted, false, sorted, image_columns::packed});
        }
        for (bool const sorted : {false, true})
        {
          SCOPED_TRACE(sorted ? "sorted" : "by position");
          SCOPED_TRACE("CSR");
          expect_same_list(on_gpu, on_cpu,
                           to_csr{which, sorted, true, !sorted, image_columns::packed});
          expect_same_list(on_gpu, on_cpu,
                           to_csr{which, sorted, false, true, image_columns::counters});
        }
        for (auto const images : {image_columns::counters, image_columns::packed})
        {
          SCOPED_TRACE("S alone");
          expect_same_list(on_gpu, on_cpu, to_coo{.which = which, .images = images});
          expect_same_list(on_gpu, on_cpu, to_csr{.which = which, .images = images});
        }
        expect_same_list(on_gpu, on_cpu, to_coo{which});
        expect_same_list(on_gpu, on_cpu, to_csr{which});
        auto const counts = radius_search(cuda, on_gpu, count_pairs{which, true}).to_host();
        auto const expected = radius_search(simd, on_cpu, count_pairs{which, true});
        EXPECT_EQ(counts.total, expected.total);
        EXPECT_EQ(radius_search(cuda, on_gpu, count_pairs{which}).total, expected.total);
        EXPECT_TRUE(same_bits(counts.per_point, expected.per_point));
        auto const table = radius_search(cuda, on_gpu, to_table{which, 7}).to_host();
        auto const of_cpu = radius_search(simd, on_cpu, to_table{which, 7});
        EXPECT_TRUE(same_bits(table.counts, of_cpu.counts));
        for (index_type i = 0; i < of_cpu.size(); ++i)
          EXPECT_THAT(table.row(i), testing::ElementsAreArray(of_cpu.row(i))) << "row " << i;
      }
    }

    template <class T, int Dim>
    void check_case(random_case<T, Dim> const& of)
    {
      lists_of_both<T, Dim> lists(of);
      expect_same_searches(lists.there, lists.here);
    }
  }

  // In all forms: a case takes dozens of searches, each of which waits for the device. Thousands of cells: many_cells_gpu.
  TYPED_TEST(any_cell_gpu, has_the_lists_of_the_cpu)
  {
    for (std::uint64_t seed = 0; seed < 200 && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "cell " << seed);
      bool const is_large = seed % 10 == 0; // several items a cell, and batches an item
      check_case(random_case<typename TypeParam::real, TypeParam::dim>(seed, is_large ? 2e5 : 3000,
                                                                       is_large ? 1000 : 60));
    }
  }

  TYPED_TEST(any_cell_gpu, takes_points_that_leave_the_box_and_come_back)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto x = make_points<T, dim>(cloud::uniform, 700);
    cell_list_options<T, dim> options;
    options.period.fill(T(1));
    device_columns<T, dim> const inside(x.view());
    cuda_cell_list<T, dim> on_gpu(cuda, inside.view(), T(0.15), options);
    expect_same_searches(on_gpu, cell_list<T, dim>(x.view(), double(T(0.15)), options));
    for (std::size_t i = 0; i < x.size(); i += 3)
      x.columns[i % dim][i] += static_cast<T>(static_cast<int>(i % 7) - 3);
    device_columns<T, dim> const outside(x.view());
    on_gpu.rebuild(outside.view());
    cell_list<T, dim> const cells(x.view(), double(T(0.15)), options);
    expect_same_searches(on_gpu, cells);
    on_gpu.rebuild(inside.view(), outside.view());
    cell_list<T, dim> const of_two(make_points<T, dim>(cloud::uniform, 700).view(), x.view(),
                                   double(T(0.15)), options);
    expect_same_searches(on_gpu, of_two);
    on_gpu.rebuild(inside.view(), T(0.7));
    expect_same_searches(on_gpu, cell_list<T, dim>(make_points<T, dim>(cloud::uniform, 700).view(),
                                                   double(T(0.7)), options));
  }

  TYPED_TEST(any_cell_gpu, lists_images_of_points_many_boxes_away)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    cell_list_options<T, dim> options;
    options.period.fill(T(1));
    auto const inside = make_points<T, dim>(cloud::uniform, 700);
    device_columns<T, dim> const in_box(inside.view());
    // as many boxes as the search may put into words, more, and so many that no word holds the difference
    for (int const boxes : {1, 127, 128, 255, 511, 1 << 16})
    {
      SCOPED_TRACE(testing::Message() << boxes << " boxes away");
      auto x = inside;
      for (std::size_t i = 0; i < x.size(); i += 2)
        x.columns[i % dim][i] += static_cast<T>(i % 3 == 0 ? boxes : -boxes);
      device_columns<T, dim> const outside(x.view());
      cuda_cell_list<T, dim> on_gpu(cuda, outside.view(), T(0.2), options);
      expect_same_searches(on_gpu, cell_list<T, dim>(x.view(), double(T(0.2)), options));
      on_gpu.rebuild(outside.view(), in_box.view());
      expect_same_searches(on_gpu,
                           cell_list<T, dim>(x.view(), inside.view(), double(T(0.2)), options));
    }
  }

  TYPED_TEST(any_cell_gpu, refuses_points_too_far_to_count_images)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto x = make_points<T, dim>(cloud::uniform, 500);
    cell_list_options<T, dim> options;
    options.period.fill(T(1));
    for (std::size_t const i : {321, 123}) x.columns[1][i] = T(1e12);
    device_columns<T, dim> const on_device(x.view());
    auto const build = [&](auto const&... sets)
    {
      cuda_cell_list<T, dim>(cuda, sets..., T(0.1), options);
    };
    EXPECT_THAT([&] { build(on_device.view()); },
                complains_of("point 123, (", "more than 2^29 boxes away"));
    EXPECT_THAT([&] { build(on_device.view(), on_device.view()); },
                complains_of("query 123, (", "more than 2^29 boxes away"));
  }
}
