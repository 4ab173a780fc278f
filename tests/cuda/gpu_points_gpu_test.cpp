// Points of a rank on a GPU: their order, coordinates, keys and leaves are those that the host makes, to the bit.
#include "complains_of.hpp"
#include "points.hpp"
#include "tree/src/cuda/gpu_points.hpp"
#include "tree/src/leaves.hpp"
#include "tree/src/root.hpp"
#include "tree/src/sort.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using namespace nearfield::detail;

    template <class T, int Dim>
    struct columns
    {
      std::array<std::vector<T>, Dim> x;

      explicit columns(std::size_t n)
      {
        for (auto& column : x) column.resize(n);
      }
      [[nodiscard]] std::array<T*, Dim> pointers()
      {
        std::array<T*, Dim> to;
        for (int d = 0; d < Dim; ++d) to[d] = x[d].data();
        return to;
      }
      [[nodiscard]] soa<T, Dim> view() { return {pointers(), x[0].size()}; }
    };

    /// What the host makes of the same points.
    template <class T, int Dim>
    struct points_of_host
    {
      page_vector<std::uint64_t> keys;
      page_vector<index_type> order;
      columns<T, Dim> sorted;

      points_of_host(strided<T const, Dim> const& points, std::array<key_axis, Dim> const& axes,
                     key_layout const& layout)
          : keys(points.size()), order(points.size()), sorted(points.size())
      {
        this_thread here;
        sort_scratch scratch;
        write_keys(points, 0, points.size(), axes, layout, keys.data());
        sort_keys(here, keys, order, scratch);
        for (int d = 0; d < Dim; ++d)
          for (std::size_t p = 0; p < order.size(); ++p) sorted.x[d][p] = points[d][order[p]];
      }
    };

    template <class T, int Dim>
    point_bounds<T, Dim> bounds_of_host(strided<T const, Dim> const& points)
    {
      this_thread here;
      return valid_bounds(here, named_positions<T, Dim>{points, "points"}, {});
    }

    template <class T, int Dim>
    void expect_sorted(gpu_points<T, Dim>& gpu, strided<T const, Dim> const& points,
                       std::array<key_axis, Dim> const& axes, key_layout const& layout)
    {
      SCOPED_TRACE(testing::Message() << points.size() << " points, level " << layout.level);
      points_of_host<T, Dim> const expected(points, axes, layout);
      std::size_t const n = points.size();
      auto const bounds = gpu.load(points, {});
      ASSERT_TRUE(bounds);
      EXPECT_EQ(bounds->lower, bounds_of_host(points).lower);
      EXPECT_EQ(bounds->upper, bounds_of_host(points).upper);
      gpu.sort(axes, layout);
      page_vector<std::uint64_t> keys(n);
      gpu.read_keys(keys.data());
      EXPECT_TRUE(keys == expected.keys);
      columns<T, Dim> x(n - n / 3);
      std::vector<index_type> index(2 * x.x[0].size());
      gpu.read(n / 3, x.view(), {index.data(), 2});
      for (std::size_t p = n / 3; p < n; ++p) ASSERT_EQ(index[2 * (p - n / 3)], expected.order[p]);
      for (int d = 0; d < Dim; ++d)
        EXPECT_TRUE(std::ranges::equal(x.x[d], std::span(expected.sorted.x[d]).subspan(n / 3)));
      std::uint64_t const end = std::uint64_t(1) << Dim * layout.level;
      std::vector<std::uint64_t> const wanted{0, end / 3, end / 2, end};
      std::vector<std::size_t> places;
      for (std::uint64_t const key : wanted)
        places.push_back(std::size_t(std::ranges::lower_bound(keys, key) - keys.begin()));
      EXPECT_EQ(gpu.places_of(wanted), places);
    }

    /// Keeps the middle third of the sorted points, with others of which n_before come first.
    template <class T, int Dim>
    void expect_united(gpu_points<T, Dim>& gpu, strided<T const, Dim> const& given,
                       points<T, Dim> others, std::size_t n_before,
                       std::array<key_axis, Dim> const& axes, key_layout const& layout,
                       index_type max_leaf_size)
    {
      SCOPED_TRACE(testing::Message() << others.size() << " others, level " << layout.level);
      points_of_host<T, Dim> const own(given, axes, layout);
      std::size_t const first = given.size() / 3, n = given.size() / 3, n_all = n + others.size();
      columns<T, Dim> all(n_all);
      for (int d = 0; d < Dim; ++d)
      {
        // equal ones keep their order, on both sides
        for (std::size_t i = 0; i < others.size(); i += 3)
          others.columns[d][i] = own.sorted.x[d][first + i % n];
        auto const& other = others.columns[d];
        auto to = std::copy_n(other.begin(), n_before, all.x[d].begin());
        to = std::copy_n(own.sorted.x[d].begin() + std::ptrdiff_t(first), n, to);
        std::copy(other.begin() + std::ptrdiff_t(n_before), other.end(), to);
      }
      points_of_host<T, Dim> expected(all.view(), axes, layout);

      page_vector<index_type> places(others.size()), rows(others.size()), index(n_all);
      ASSERT_TRUE(gpu.load(given, {}));
      gpu.sort(axes, layout);
      gpu.unite(first, n, others.view(), n_before, places.data(), rows.data());
      columns<T, Dim> x(n_all);
      gpu.read_united(x.pointers());
      EXPECT_TRUE(x.x == expected.sorted.x);
      std::vector<std::size_t> of_others, their_rows;
      gpu.read_indices(index.data());
      for (std::size_t p = 0; p < n_all; ++p)
      {
        std::size_t const row = expected.order[p];
        if (row >= n_before && row < n_before + n)
        {
          ASSERT_EQ(index[p], own.order[first + row - n_before]);
          continue;
        }
        ASSERT_EQ(index[p], no_row);
        of_others.push_back(p);
        their_rows.push_back(row);
      }
      EXPECT_TRUE(std::ranges::equal(places, of_others));
      EXPECT_TRUE(std::ranges::equal(rows, their_rows));

      // a part of a curve that goes on at both ends
      this_thread here;
      curve_range const owned{expected.keys.front(), expected.keys.back() + 1};
      index_type const n_leaves = gpu.make_leaves(max_leaf_size, owned);
      leaf_set<Dim> found;
      gpu.read_leaves(found);
      EXPECT_EQ(n_leaves, found.size());
      auto const leaves =
          max_leaf_size > 0
              ? adaptive_leaves<Dim>(here, expected.keys, {}, layout.level, max_leaf_size, owned)
              : uniform_leaves<Dim>(here, cells_of(here, expected.keys), nullptr, layout);
      EXPECT_TRUE(std::ranges::equal(found.cells, leaves.cells));
      EXPECT_TRUE(found.levels == leaves.levels);
      EXPECT_TRUE(found.keys == leaves.keys);
      EXPECT_TRUE(found.target_offsets == leaves.target_offsets);
      EXPECT_TRUE(found.source_offsets == leaves.target_offsets);

      // after others
      gpu.read_leaves(found);
      ASSERT_EQ(found.size(), 2 * n_leaves);
      EXPECT_TRUE(std::equal(leaves.cells.begin(), leaves.cells.end(), &found.cells[n_leaves]));
      EXPECT_TRUE(std::equal(leaves.keys.begin(), leaves.keys.end(), &found.keys[n_leaves]));
      for (index_type b = 0; b <= n_leaves; ++b)
        ASSERT_EQ(found.source_offsets[n_leaves + b], n_all + leaves.target_offsets[b]);

      gpu.release(true);
      columns<T, Dim> again(n_all);
      gpu.read_united(again.pointers());
      EXPECT_TRUE(again.x == x.x);
    }

    template <class T>
    struct points_on_gpu : testing::Test
    {};
    using reals = testing::Types<float, double>;
    TYPED_TEST_SUITE(points_on_gpu, reals);

    template <int Dim>
    std::array<key_axis, Dim> axes_around()
    {
      std::array<key_axis, Dim> axes;
      axes.fill({-0.1, 1.3});
      return axes;
    }

    /// Some are outside, some are equal.
    template <class T, int Dim>
    points<T, Dim> cloud_of(std::size_t n)
    {
      auto x = make_points<T, Dim>(cloud::plummer, n, n + 1);
      for (std::size_t i = 0; i + 7 < n; i += 5)
        for (auto& column : x.columns) column[i] = column[i + 7];
      return x;
    }

    template <class T, int Dim>
    void expect_same_of_all_sizes()
    {
      threads on(3);
      auto const gpu = gpu_points<T, Dim>::make(0, on);
      // one point, a few, and more than three pieces of pinned memory
      for (std::size_t const n : {1, 1000, 400'003})
      {
        auto const x = cloud_of<T, Dim>(n);
        for (int const level : {0, 3, max_level<Dim>})
          expect_sorted<T, Dim>(*gpu, x.view(), axes_around<Dim>(), {leaf_order::morton, level});
      }
    }

    template <class T, int Dim>
    void expect_united_of_sizes(bool of_many)
    {
      threads on(3);
      auto const gpu = gpu_points<T, Dim>::make(0, on);
      auto const unite =
          [&](std::size_t n, std::size_t n_others, std::size_t n_before, int level, index_type size)
      {
        auto const x = cloud_of<T, Dim>(n);
        expect_united<T, Dim>(*gpu, x.view(), make_points<T, Dim>(cloud::uniform, n_others, n),
                              n_before, axes_around<Dim>(), {leaf_order::morton, level}, size);
      };
      for (std::size_t const n : {10, 2000})
        for (std::size_t const n_others : {0, 1, 3000})
          for (std::size_t const n_before : {std::size_t(0), n_others / 3, n_others})
          {
            unite(n, n_others, n_before, max_level<Dim>, 1);
            unite(n, n_others, n_before, max_level<Dim>, 40);
            unite(n, n_others, n_before, 3, 0);
          }
      if (of_many) unite(400'003, 3000, 1000, max_level<Dim>, 40);
    }
  }

  TYPED_TEST(points_on_gpu, are_those_of_the_host_to_the_bit)
  {
    expect_same_of_all_sizes<TypeParam, 2>();
    expect_same_of_all_sizes<TypeParam, 3>();
  }

  TYPED_TEST(points_on_gpu, unite_with_a_few_others)
  {
    expect_united_of_sizes<TypeParam, 2>(false);
  }
  TYPED_TEST(points_on_gpu, unite_with_others_in_many_places)
  {
    expect_united_of_sizes<TypeParam, 3>(true);
  }

  TYPED_TEST(points_on_gpu, may_be_strided)
  {
    using T = TypeParam;
    std::vector<T> const values = make_values<T>(4 * 5000, 3);
    this_thread on;
    auto const gpu = gpu_points<T, 3>::make(0, on);
    expect_sorted<T, 3>(
        *gpu, strided<T const, 3>(soa<T const, 3>({&values[0], &values[1], &values[2]}, 5000), 4),
        axes_around<3>(), {leaf_order::morton, max_level<3>});
  }

  TYPED_TEST(points_on_gpu, have_no_bounds_if_one_is_not_finite_or_outside_a_period)
  {
    using T = TypeParam;
    auto x = make_points<T, 3>(cloud::uniform, 5000, 1);
    this_thread on;
    auto const gpu = gpu_points<T, 3>::make(0, on);
    EXPECT_TRUE(gpu->load(x.view(), {1, 0, 1}));
    x.columns[0][4000] = 1;
    EXPECT_FALSE(gpu->load(x.view(), {1, 0, 1}));
    EXPECT_TRUE(gpu->load(x.view(), {0, 0, 1}));
    x.columns[1][7] = std::numeric_limits<T>::infinity();
    EXPECT_FALSE(gpu->load(x.view(), {0, 0, 1}));
    x.columns[1][7] = std::numeric_limits<T>::quiet_NaN();
    EXPECT_FALSE(gpu->load(x.view(), {0, 0, 1}));
  }

  namespace
  {
    class no_memory final : public device_memory
    {
    public:
      void* allocate(std::size_t, cuda_stream) override { return nullptr; }
      void deallocate(void*, std::size_t, cuda_stream) noexcept override {}
    };
  }

  TYPED_TEST(points_on_gpu, tell_that_memory_has_run_out_and_go_on_when_there_is_some)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::uniform, 300, 1);
    this_thread on;
    auto const gpu = gpu_points<T, 3>::make(0, on);
    set_device_memory(std::make_shared<no_memory>());
    try
    {
      static_cast<void>(gpu->load(x.view(), {}));
      ADD_FAILURE() << "nothing was thrown";
    }
    catch (error const& e)
    {
      EXPECT_EQ(e.kind(), error_kind::out_of_memory) << e.what();
    }
    set_device_memory(nullptr);
    expect_sorted<T, 3>(*gpu, x.view(), axes_around<3>(), {leaf_order::morton, max_level<3>});
  }

  TEST(gpu_points, refuses_a_device_that_does_not_exist)
  {
    this_thread on;
    auto const make = [&](int device)
    {
      static_cast<void>(gpu_points<float, 3>::make(device, on));
    };
    EXPECT_THAT([&] { make(-1); }, complains_of("gpu", "-1"));
    EXPECT_THAT([&] { make(99); }, complains_of("gpu", "99"));
  }
}
