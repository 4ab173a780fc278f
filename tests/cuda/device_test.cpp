// What holds with a GPU and without one, with CUDA and without it.

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nearfield::test
{
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  using ::testing::Not;
  using ::testing::Property;
  using ::testing::Throws;
  using ::testing::ThrowsMessage;

  TEST(cuda_device, tells_in_one_line_why_there_is_none)
  {
    auto const problem = cuda_problem();
    EXPECT_EQ(gpus().empty(), !problem.empty()) << problem;
    EXPECT_THAT(problem, Not(HasSubstr("\n")));
    if (built_with_cuda()) return;
    EXPECT_THAT(problem, HasSubstr("configure with -DNEARFIELD_ENABLE_CUDA=ON"));
  }

  TEST(free_gpu_memory, is_some_or_an_error_that_says_why)
  {
    if (gpus().empty())
    {
      EXPECT_THROW((void)free_gpu_memory(), error);
      return;
    }
    EXPECT_GT(free_gpu_memory(), 0u);
    EXPECT_LE(free_gpu_memory(), gpus().front().memory_bytes);
  }

  TEST(check_cuda, passes_success)
  {
    EXPECT_NO_THROW(check_cuda(0, "cudaMalloc"));
  }

  TEST(check_cuda, names_the_place_and_the_failure)
  {
    auto const out_of_memory = []
    {
      check_cuda(2, "cudaMalloc of 8 positions");
    };
    EXPECT_THAT(out_of_memory,
                ThrowsMessage<error>(AllOf(HasSubstr("cudaMalloc of 8 positions failed"),
                                           HasSubstr(built_with_cuda() ? "out of memory" : "2"),
                                           Not(HasSubstr("\n")))));
  }

  TEST(check_cuda, keeps_the_code_and_tells_memory_from_other_failures)
  {
    auto const is_of = [](error_kind kind, int code)
    {
      return Throws<error>(AllOf(Property(&error::kind, kind), Property(&error::code, code)));
    };
    EXPECT_THAT(
        [] { check_cuda(2, "cudaMalloc"); }, // cudaErrorMemoryAllocation
        is_of(built_with_cuda() ? error_kind::out_of_memory : error_kind::not_available, 2));
    EXPECT_THAT(
        [] { check_cuda(700, "a kernel"); }, // cudaErrorIllegalAddress
        is_of(built_with_cuda() ? error_kind::cuda_failure : error_kind::not_available, 700));
  }

  TEST(device_memory, without_a_device_is_an_error)
  {
    device_array<double> const none;
    EXPECT_EQ(none.size(), 0u);
    EXPECT_EQ(none.data(), nullptr);
    EXPECT_EQ(none.stream(), nullptr);
    EXPECT_THROW(device_memory_of(nullptr), error);
    if (!gpus().empty()) GTEST_SKIP() << "there is one";
    auto const is_not_available = Throws<error>(Property(&error::kind, error_kind::not_available));
    EXPECT_THAT([] { synchronize(nullptr); }, is_not_available);
    EXPECT_THAT([] { set_device_memory(nullptr); }, is_not_available);
    EXPECT_THAT([] { memory_of_pool(); }, is_not_available);
    EXPECT_THAT([] { reset_pool_peak(); }, is_not_available);
    EXPECT_THAT([] { trim_pool(); }, is_not_available);
    EXPECT_THAT([] { device_array<double>(3); }, is_not_available);
    using columns = device_columns<double, 2>;
    EXPECT_THAT([] { columns(3); }, is_not_available);
  }
}
