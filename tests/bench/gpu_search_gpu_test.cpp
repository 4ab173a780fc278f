// The GPU baselines of the radius search against brute force.

#include "bench/search_cases.hpp"

#include <baselines/pinns.hpp>
#include <baselines/thrust_pairs.hpp>

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <numeric>
#include <span>

namespace nearfield::test
{
  namespace
  {
    using baseline::device_memory;
    using baseline::pinns_test;

    template <class T>
    std::vector<T> copied(T const* device, std::size_t n)
    {
      std::vector<T> result(n);
      check_cuda(cudaMemcpy(result.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost),
                 "copied");
      return result;
    }

    template <class T>
    class gpu_search_baseline : public ::testing::Test
    {
    protected:
      static constexpr T cutoff = T(0.11);
      static constexpr cloud shapes[] = {cloud::uniform, cloud::plummer, cloud::planar,
                                         cloud::grid};

      /// The rows of piNNS's table, and the counts of its walk, against the loop over all.
      template <int Dim>
      void expect_pinns(points<T, Dim> const& all, pinns_test test, T delta) const
      {
        std::size_t const n = all.size();
        baseline::pinns_domain<T, Dim> domain{};
        domain.radius = cutoff;
        domain.delta = delta;
        for (int d = 0; d < Dim; ++d)
        {
          auto const [low, high] = std::ranges::minmax(all.columns[d]);
          domain.smallest[d] = low;
          domain.largest[d] = high;
        }
        std::vector<T> const zeros(n);
        auto const is_neighbour = [&](std::size_t i, std::size_t j)
        {
          if (test == pinns_test::distance)
            return are_near(all.columns[0], all.columns[1], Dim == 3 ? all.columns[Dim - 1] : zeros,
                            i, j, cutoff);
          bool result = true;
          for (int d = 0; d < Dim; ++d)
          {
            auto const cell = [&](T x)
            {
              return static_cast<int>((x - domain.smallest[d]) / (cutoff + delta));
            };
            result = result && std::abs(cell(all.columns[d][i]) - cell(all.columns[d][j])) <= 1;
          }
          return result;
        };

        std::vector<std::vector<int>> expected(n);
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < i; ++j)
            if (is_neighbour(i, j))
            {
              expected[i].push_back(static_cast<int>(j));
              expected[j].push_back(static_cast<int>(i));
            }

        device_columns<T, Dim> device(all.view());
        auto const x = device.view();
        baseline::pinns_cells cells;
        std::size_t const width = n / 2;
        device_array<int> neighb(n * (width + 2)), counts(n);
        baseline::pinns_table(x, domain, cells, static_cast<int>(width), neighb.data(), test);
        baseline::pinns_walk(x, domain, cells, counts.data(), test);
        auto const table = copied(neighb.data(), neighb.size());
        auto const counted = copied(counts.data(), n);
        for (std::size_t i = 0; i < n; ++i)
        {
          auto& row = expected[i];
          std::ranges::sort(row);
          ASSERT_EQ(counted[i], static_cast<int>(row.size())) << "row " << i;
          int const* const entries = table.data() + i * (width + 2);
          ASSERT_EQ(entries[1], counted[i]) << "row " << i;
          std::vector<int> found(entries + 2, entries + 2 + std::min(row.size(), width));
          std::ranges::sort(found);
          if (row.size() <= width)
            ASSERT_EQ(found, row) << "row " << i;
          else // cut, and no other row touched
            ASSERT_TRUE(std::ranges::includes(row, found)) << "row " << i;
        }
      }
    };
    using precisions = ::testing::Types<float, double>;
    TYPED_TEST_SUITE(gpu_search_baseline, precisions);
  }

  TYPED_TEST(gpu_search_baseline, thrust_pairs_are_those_of_brute_force)
  {
    using T = TypeParam;
    for (cloud const shape : this->shapes)
    {
      auto const all = search_points<T>(shape);
      std::size_t const count = count_half_pairs(all, this->cutoff);
      ASSERT_GT(count, n_search_points);
      for (int const cells_per_cutoff : {1, 2, 3})
        for (device_memory const from : {device_memory::fresh, device_memory::pooled})
        {
          SCOPED_TRACE(testing::Message() << shape << ", cells_per_cutoff " << cells_per_cutoff);
          device_columns<T, 3> device(all.view());
          auto const pairs =
              baseline::find_thrust_pairs(device.view(), this->cutoff, cells_per_cutoff, from);
          EXPECT_GE(pairs.peak_bytes, pairs.size * 2 * sizeof(int));
          auto const x = device.view();
          std::size_t const n = all.size();
          expect_half_pairs({copied(pairs.i, pairs.size), copied(pairs.j, pairs.size)},
                            copied(x[0], n), copied(x[1], n), copied(x[2], n), this->cutoff, count);
        }
    }
  }

  TYPED_TEST(gpu_search_baseline, pinns_lists_the_cells_around_a_particle)
  {
    using T = TypeParam;
    for (cloud const shape : this->shapes)
      for (T const delta : {T(0), T(0.05)})
        for (pinns_test const test : {pinns_test::none, pinns_test::distance})
        {
          SCOPED_TRACE(testing::Message()
                       << shape << ", delta " << delta
                       << (test == pinns_test::none ? "" : ", with the test of distances"));
          this->template expect_pinns<3>(search_points<T>(shape), test, delta);
          this->template expect_pinns<2>(make_points<T, 2>(shape, n_search_points, 5), test, delta);
        }
  }

  TYPED_TEST(gpu_search_baseline, what_thrust_pairs_cannot_count_is_refused)
  {
    device_columns<TypeParam, 3> device(search_points<TypeParam>(cloud::uniform).view());
    EXPECT_THROW(baseline::find_thrust_pairs(device.view(), this->cutoff, 4), error);
    EXPECT_THROW(baseline::find_thrust_pairs(device.view(), TypeParam(1e-4), 2), error);
  }
}
