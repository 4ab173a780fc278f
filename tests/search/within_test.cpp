#include "backends.hpp"
#include "complains_of.hpp"
#include "search/random_case.hpp"
#include "search/search_case.hpp"

#include <nearfield/search/radius_search.hpp>

#if defined(NEARFIELD_TEST_CUDA)
#include "search/lists_of_both.hpp"

#include <nearfield/cuda/device.hpp>

#include <cuda_runtime_api.h>
#endif

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

// A list at a smaller cutoff, made from one at a larger cutoff.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class within_cutoff : public testing::Test
    {};
    TYPED_TEST_SUITE(within_cutoff, search_kinds);

    bool equal(auto const& a, auto const& b)
    {
      return std::ranges::equal(a, b);
    }
    template <class T, int Dim>
    bool equal_geometry(detail::pair_geometry<T, Dim> const& a,
                        detail::pair_geometry<T, Dim> const& b)
    {
      bool same = equal(a.r2, b.r2) && equal(a.packed_images, b.packed_images);
      for (int axis = 0; axis < Dim; ++axis)
        same = same && equal(a.displacements[axis], b.displacements[axis]) &&
               equal(a.images[axis], b.images[axis]);
      return same;
    }
    template <class T, int Dim>
    void expect_equal(csr<T, Dim> const& a, csr<T, Dim> const& b)
    {
      EXPECT_TRUE(equal(a.offsets, b.offsets) && equal(a.columns, b.columns));
      EXPECT_TRUE(equal_geometry(a, b));
    }
    template <class T, int Dim>
    void expect_equal(coo<T, Dim> const& a, coo<T, Dim> const& b)
    {
      EXPECT_TRUE(equal(a.i, b.i) && equal(a.j, b.j));
      EXPECT_TRUE(equal_geometry(a, b));
    }

    /// The sorted lists of a search at the smaller cutoff.
    template <class T, int Dim>
    void check_within(std::uint64_t seed, double part)
    {
      random_case<T, Dim> const of(seed, 20'000, 400);
      double const shorter = part * of.cutoff;
      auto const cells = of.list(shorter);
      to_csr const rows{.sorted = true,
                        .distances = true,
                        .displacements = true,
                        .images = image_columns::counters};
      to_coo const columns{.which = pairs::full, .sorted = true, .distances = true};
      auto const expected_rows = radius_search(simd, cells, rows);
      auto const expected_columns = radius_search(simd, cells, columns);
      bool const closed = of.options.closed;
#if defined(NEARFIELD_TEST_CUDA)
      lists_of_both<T, Dim> lists(of);
      auto& longer = lists.there;
      expect_equal(within(cuda, radius_search(cuda, longer, rows), shorter, closed).to_host(),
                   expected_rows);
      expect_equal(within(cuda, radius_search(cuda, longer, columns), shorter, closed).to_host(),
                   expected_columns);
#else
      threads pool(3);
      auto const longer_cells = of.list();
      auto const of_rows = radius_search(simd, longer_cells, rows);
      auto const of_columns = radius_search(simd, longer_cells, columns);
      expect_equal(within(simd, of_rows, shorter, closed), expected_rows);
      expect_equal(within(simd.with(pool), of_rows, shorter, closed), expected_rows);
      expect_equal(within(simd, of_columns, shorter, closed), expected_columns);
      expect_equal(within(simd.with(pool), of_columns, shorter, closed), expected_columns);
#endif
    }
  }

  TYPED_TEST(within_cutoff, has_the_pairs_of_a_search_there)
  {
    for (std::uint64_t seed = 0; seed < 30; ++seed)
    {
      SCOPED_TRACE(seed);
      check_within<typename TypeParam::real, TypeParam::dim>(seed, .25 + .025 * double(seed));
    }
  }

#if !defined(NEARFIELD_TEST_CUDA)
  TEST(within, refuses_a_list_without_distances_and_lengths_that_are_none)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 200);
    cell_list<double, 3> const cells(x.view(), .2);
    auto const bare = radius_search(simd, cells, to_csr{});
    EXPECT_THAT([&] { (void)within(simd, bare, .1); }, complains_of("list has no r2", "distances"));
    auto const list = radius_search(simd, cells, to_coo{.distances = true});
    for (double const bad : {0., -1., 1e300})
      EXPECT_THAT([&] { (void)within(simd, list, bad); }, complains_of("within: the cutoff is"));
    EXPECT_EQ(within(simd, list, 1e-6).size(), 0u);
    EXPECT_EQ(within(simd, coo<double, 3>(), 1).size(), 0u);
  }
#else
  TEST(within, of_lists_without_pairs_on_a_stream_has_their_rows)
  {
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    cuda_backend const where{stream};
    for (std::size_t const n : {0, 5})
    {
      device_columns<double, 3> const x(make_points<double, 3>(cloud::uniform, n).view(), stream);
      cuda_cell_list<double, 3> cells(where, x.view(), 1e-6);
      auto const rows = within(where, radius_search(where, cells, to_csr{.distances = true}), 1e-7);
      EXPECT_EQ(rows.to_host().offsets.size(), n + 1);
      EXPECT_EQ(rows.columns.size(), 0u);
      auto const columns = radius_search(where, cells, to_coo{.distances = true});
      EXPECT_EQ(within(where, columns, 1e-7).size(), 0u);
    }
    check_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
  }
#endif
}
