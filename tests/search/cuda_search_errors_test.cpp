// What the search on a GPU says where there is none.

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/search/cuda.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace nearfield::test
{
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  using ::testing::Property;
  using ::testing::Throws;

  TEST(cuda_search, says_why_there_is_no_gpu)
  {
    if (cuda_problem().empty()) GTEST_SKIP() << "there is a GPU";
    std::vector<double> const x{1, 2}, y{3, 4};
    auto const says_why = Throws<error>(AllOf(Property(&error::what, HasSubstr(cuda_problem())),
                                              Property(&error::kind, error_kind::not_available)));
    auto const build = [&]
    {
      cuda_cell_list(cuda, soa{x, y}, 0.5, {.period = {10, 0}});
    };
    EXPECT_THAT(build, says_why);
    EXPECT_THAT([&] { cuda_cell_list(cuda, soa{x, y}, soa{x, y}, 0.5); }, says_why);
  }
}
