// A kernel that fails ends the process's use of the device: this test is a program of its own, and not one for
// compute-sanitizer.

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace nearfield::test
{
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  using ::testing::Not;
  using ::testing::ThrowsMessage;

  TEST(cuda_launch, that_fails_is_told_by_the_next_function_and_by_all_that_follow)
  {
    std::vector<double> host(3, 1.);
    device_columns<double, 1> const q(soa<double const, 1>{host});
    device_columns<double, 1> out(soa<double const, 1>{host});
    auto const nowhere = reinterpret_cast<double const*>(std::uintptr_t(64));     // NOLINT
    auto const elsewhere = reinterpret_cast<double const*>(std::uintptr_t(4096)); // NOLINT
    soa<double const, 2> const x{std::array{nowhere, elsewhere}, 3};
    one_over_r<2> const k;
    p2p_inner(cuda, k, x, q.view(), out.view());
    EXPECT_THAT(
        [&] { out.copy_to(soa<double, 1>{host}); },
        ThrowsMessage<error>(AllOf(HasSubstr("device_array: cuda"),
                                   HasSubstr("illegal memory access"), Not(HasSubstr("\n")))));
    EXPECT_EQ(host, std::vector<double>(3, 1.));
    EXPECT_THAT([&] { p2p_inner(cuda, k, x, q.view(), out.view()); },
                ThrowsMessage<error>(HasSubstr("p2p_inner failed")));
    EXPECT_THAT([&] { p2p_inner_mutual(cuda, k, x, q.view(), out.view()); },
                ThrowsMessage<error>(HasSubstr("p2p_inner_mutual failed")));
    EXPECT_THROW(device_array<double>(3), error);
  }
}
