// Points sorted along the curve by a GPU: keys, order and coordinates are those of the CPU to the bit.
#include "app/src/threads.hpp"
#include "complains_of.hpp"
#include "points.hpp"
#include "tree/src/cuda/gpu_points.hpp"
#include "tree/src/sort.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using namespace nearfield::detail;

    template <class T, int Dim>
    struct sorted_points
    {
      page_vector<std::uint64_t> keys;
      page_vector<index_type> order;
      std::array<std::vector<T>, Dim> x;

      explicit sorted_points(std::size_t n) : keys(n), order(n)
      {
        for (auto& column : x) column.resize(n);
      }
      [[nodiscard]] std::array<T*, Dim> columns()
      {
        std::array<T*, Dim> to;
        for (int d = 0; d < Dim; ++d) to[d] = x[d].data();
        return to;
      }
    };

    template <class T, int Dim>
    sorted_points<T, Dim> sort_on_cpu(strided<T const, Dim> const& points,
                                      std::array<key_axis, Dim> const& axes,
                                      key_layout const& layout)
    {
      sorted_points<T, Dim> to(points.size());
      this_thread here;
      sort_scratch scratch;
      write_keys(points, 0, points.size(), axes, layout, to.keys.data());
      sort_keys(here, to.keys, to.order, scratch);
      for (int d = 0; d < Dim; ++d)
        for (std::size_t p = 0; p < points.size(); ++p) to.x[d][p] = points[d][to.order[p]];
      return to;
    }

    template <class T, int Dim>
    void expect_same(gpu_points<T, Dim>& gpu, strided<T const, Dim> const& points,
                     std::array<key_axis, Dim> const& axes, key_layout const& layout)
    {
      SCOPED_TRACE(testing::Message() << points.size() << " points, level " << layout.level);
      auto const expected = sort_on_cpu<T, Dim>(points, axes, layout);
      sorted_points<T, Dim> found(points.size());
      gpu.sort(points, axes, layout, found.keys.data(), found.order.data(), found.columns());
      EXPECT_TRUE(found.keys == expected.keys);
      EXPECT_TRUE(found.order == expected.order);
      EXPECT_TRUE(found.x == expected.x);
    }

    template <class T>
    struct gpu_sort : testing::Test
    {};
    using reals = testing::Types<float, double>;
    TYPED_TEST_SUITE(gpu_sort, reals);
  }

  template <class T, int Dim>
  void expect_same_of_all_sizes()
  {
    app::threads on(3);
    gpu_points<T, Dim> gpu(0, on);
    std::array<key_axis, Dim> axes;
    axes.fill({-0.1, 1.3});
    // one point, a few, and more than three pieces of pinned memory
    for (std::size_t const n : {0, 1, 1000, 400'003})
    {
      auto x = make_points<T, Dim>(cloud::plummer, n, n + 1); // some of them outside
      // equal points keep their order
      for (std::size_t i = 0; i + 7 < n; i += 5)
        for (auto& column : x.columns) column[i] = column[i + 7];
      for (int const level : {0, 3, max_level<Dim>})
        expect_same<T, Dim>(gpu, x.view(), axes, {leaf_order::morton, level});
    }
  }

  TYPED_TEST(gpu_sort, is_that_of_the_cpu_to_the_bit)
  {
    expect_same_of_all_sizes<TypeParam, 2>();
    expect_same_of_all_sizes<TypeParam, 3>();
  }

  TYPED_TEST(gpu_sort, takes_strided_points)
  {
    using T = TypeParam;
    std::vector<T> const values = make_values<T>(4 * 5000, 3);
    this_thread on;
    gpu_points<T, 3> gpu(0, on);
    std::array<key_axis, 3> axes;
    axes.fill({-1, 2});
    expect_same<T, 3>(
        gpu, strided<T const, 3>(soa<T const, 3>({&values[0], &values[1], &values[2]}, 5000), 4),
        axes, {leaf_order::morton, max_level<3>});
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

  TYPED_TEST(gpu_sort, tells_that_memory_has_run_out_and_sorts_when_there_is_some)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::uniform, 300, 1);
    this_thread on;
    gpu_points<T, 3> gpu(0, on);
    std::array<key_axis, 3> axes;
    axes.fill({0, 1});
    key_layout const layout{leaf_order::morton, max_level<3>};
    sorted_points<T, 3> found(300);
    set_device_memory(std::make_shared<no_memory>());
    try
    {
      gpu.sort(x.view(), axes, layout, found.keys.data(), found.order.data(), found.columns());
      ADD_FAILURE() << "nothing was thrown";
    }
    catch (error const& e)
    {
      EXPECT_EQ(e.kind(), error_kind::out_of_memory) << e.what();
    }
    set_device_memory(nullptr);
    expect_same<T, 3>(gpu, x.view(), axes, layout);
  }

  TEST(gpu_points, refuses_a_device_that_does_not_exist)
  {
    this_thread on;
    auto const make = [&](int device)
    {
      gpu_points<float, 3> const none(device, on);
    };
    EXPECT_THAT([&] { make(-1); }, complains_of("gpu", "-1"));
    EXPECT_THAT([&] { make(99); }, complains_of("gpu", "99"));
  }
}
