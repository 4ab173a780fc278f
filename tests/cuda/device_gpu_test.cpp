// What a real device says of itself; its failures become nearfield::error.

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>
#include <utility>
#include <vector>

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

  TEST(arrays_of_a_device, copy_to_and_from_spans_that_are_long_enough)
  {
    std::vector<double> const values{1, 2, 3};
    std::vector<double> found(3), too_few(2);
    device_array<double> array(values);
    array.copy_to(found);
    EXPECT_EQ(found, values);
    auto const complains = ThrowsMessage<error>(HasSubstr("found a span of 2 values, expected 3"));
    EXPECT_THAT([&] { array.copy_to(too_few); }, complains);
    EXPECT_THAT([&] { array.copy_from(too_few); }, complains);
    device_columns<double, 1> const columns(soa{values});
    EXPECT_THAT([&] { columns.copy_to(soa{too_few}); }, complains);
    device_array<double> const moved(std::move(array));
    EXPECT_EQ(moved.size(), 3u);
    EXPECT_EQ(array.size(), 0u); // NOLINT(bugprone-use-after-move)
  }

  TEST(gpus, leave_no_error_behind)
  {
    ASSERT_FALSE(gpus().empty());
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
}
