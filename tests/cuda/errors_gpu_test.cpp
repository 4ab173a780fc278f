// What P2P on a real device refuses; after each error the device goes on.

#include "complains_of.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    one_over_r<2> const k;

    /// Three points on a line.
    class cuda_gpu_errors : public ::testing::Test
    {
    protected:
      std::vector<double> const host_x{0, 1, 3}, zero{0, 0, 0}, ones{1, 1, 1};
      std::vector<index_type> const offsets{0, 1, 3}, list_offsets{0, 1, 1};
      std::vector<interaction_list::range> const own{{.begin = 0, .end = 1},
                                                     {.begin = 1, .end = 3}};
      std::vector<interaction_list::range> const own_of_two_sets{{.begin = 0, .end = 3},
                                                                 {.begin = 0, .end = 0}};
      std::vector<interaction_list::range> const ranges{{.begin = 1, .end = 3}};
      device_columns<double, 2> const x{soa<double const, 2>{host_x, zero}};
      device_columns<double, 1> const q{soa<double const, 1>{ones}};
      device_columns<double, 1> out{soa<double const, 1>{zero}};

      ~cuda_gpu_errors() override
      {
        p2p_inner(cuda, k, x.view(), q.view(), out.view());
        std::vector<double> got(3);
        out.copy_to(soa<double, 1>{got});
        EXPECT_DOUBLE_EQ(got[0], 1 + 1 / 3.)
            << "an output was written before, or the device gave up";
        EXPECT_DOUBLE_EQ(got[1], 1.5);
      }
    };
  }

  TEST_F(cuda_gpu_errors, tell_of_device_memory_that_runs_out)
  {
    std::size_t const all = gpus().front().memory_bytes / sizeof(double);
    EXPECT_THAT([&] { device_array<double>(2 * all); },
                complains_of("device_array", "cudaMallocFromPoolAsync",
                             std::to_string(2 * all * sizeof(double)), "out of memory",
                             "free memory on the GPU"));
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }

  TEST_F(cuda_gpu_errors, of_memory_keep_none_of_it)
  {
    std::size_t const all = gpus().front().memory_bytes / sizeof(double);
    std::uint64_t const before = free_gpu_memory();
    using columns = device_columns<double, 4>;
    EXPECT_THAT([&] { columns(all * 2 / 5); }, complains_of("out of memory"));
    trim_pool();
    EXPECT_GE(free_gpu_memory() + (std::size_t(1) << 30), before);
  }

  TEST_F(cuda_gpu_errors, name_the_list_of_another_kind)
  {
    cuda_list const full(cuda, boxes{offsets}, {own, list_offsets, ranges, {}}, 3);
    cuda_list const half(cuda, boxes{offsets}, {own, list_offsets, ranges, {}}, 3,
                         pair_form::mutual);
    cuda_list const two_sets(cuda, boxes{offsets}, {own_of_two_sets, list_offsets, ranges, {}}, 3);
    EXPECT_THAT([&] { near_field(cuda, k, half, x.view(), q.view(), out.view()); },
                complains_of("near_field", "for the form mutual"));
    EXPECT_THAT(
        [&]
        { near_field(cuda, k, full, x.view(), q.view(), out.view(), {.form = pair_form::mutual}); },
        complains_of("near_field", "for the form one_sided"));
    EXPECT_THAT([&] { near_field(cuda, k, two_sets, x.view(), q.view(), out.view()); },
                complains_of("near_field", "for two sets"));
    device_columns<double, 2> const more(4);
    device_columns<double, 1> const more_q(4);
    EXPECT_THAT([&]
                { near_field(cuda, k, full, x.view(), more.view(), more_q.view(), out.view()); },
                complains_of("near_field", "3 targets and 3 sources", "found 3 and 4"));
  }
}
