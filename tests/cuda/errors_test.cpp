// Failures of a real device become nearfield::error.

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

namespace nearfield::test
{
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  using ::testing::ThrowsMessage;

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

  TEST(gpus, leaves_no_error_behind)
  {
    ASSERT_FALSE(gpus().empty());
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
}
