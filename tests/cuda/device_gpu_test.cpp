// What a real device says of itself; its failures become nearfield::error.

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

namespace nearfield::test
{
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  using ::testing::Not;
  using ::testing::ThrowsMessage;

  TEST(gpus, are_described)
  {
    auto const found = gpus();
    ASSERT_FALSE(found.empty());
    for (auto const& device : found)
    {
      EXPECT_THAT(device.name, Not(testing::IsEmpty()));
      EXPECT_GT(device.memory_bytes, std::uint64_t{1} << 30);
      EXPECT_GE(device.major, 5);
      EXPECT_GE(device.minor, 0);
      EXPECT_GT(device.multiprocessors, 0);
    }
  }

  TEST(check_cuda, tells_of_device_memory_that_runs_out)
  {
    auto const too_large = []
    {
      void* memory = nullptr;
      check_cuda(cudaMalloc(&memory, 2 * gpus().front().memory_bytes), "cudaMalloc of twice all");
    };
    EXPECT_THAT(too_large, ThrowsMessage<error>(AllOf(HasSubstr("cudaMalloc of twice all"),
                                                      HasSubstr("out of memory"),
                                                      HasSubstr("free memory on the GPU"))));
    static_cast<void>(cudaGetLastError());
  }

  TEST(gpus, leave_no_error_behind)
  {
    ASSERT_FALSE(gpus().empty());
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
}
