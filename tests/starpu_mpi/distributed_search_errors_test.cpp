#include "clouds.hpp"

#include "starpu/environment.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu_mpi/radius_search.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu_mpi::distributed_cells;

  TEST(distributed_search, throws_the_same_error_on_all_ranks)
  {
    int const bad = size_of_world() - 1;
    auto all = make_points<double, 2>(cloud::uniform, 50, 1 + std::uint64_t(rank_of_world()));
    auto const message_for =
        [&](double cutoff, distributed_cells<double, 2>::options_type const& options)
    {
      return message_of(
          [&] { distributed_cells const mine(MPI_COMM_WORLD, all.view(), cutoff, options); });
    };
    EXPECT_THAT(message_for(0, {}), testing::StartsWith("rank 0: cell_list: the cutoff is 0; "));
    EXPECT_THAT(message_for(0.4, {.period = {0, 1e-6}}),
                testing::HasSubstr("the box is 1e-06 thick along axis 1, so that more than 65535"));
    EXPECT_THAT(
        message_for(0.4, {.period = {0, 1}, .cell = cell<2>::of_lengths(std::array{0., 1.})}),
        testing::HasSubstr("both .cell and .period are given"));
    EXPECT_THAT(message_for(0.1, {.first_number = std::uint64_t(0) - 9}),
                testing::HasSubstr("first_number is 18446744073709551607"));
    auto const total = static_cast<std::uint64_t>(50 * size_of_world());
    EXPECT_EQ(message_for(0.1, {.first_number = std::uint64_t(0) - total}), "nothing was thrown");
    std::vector<double> const few(rank_of_world() == bad ? 3 : 50);
    distributed_cells const good(MPI_COMM_WORLD, all.view(), 0.1);
    EXPECT_THAT(message_of([&] { (void)good.known_values(few); }),
                testing::StartsWith("rank " + std::to_string(bad) +
                                    ": known_values: 3 values for 50 points"));
    if (rank_of_world() == bad) all.columns[1][7] = 1e12;
    EXPECT_THAT(message_for(0.1, {.period = {0, 1}}),
                testing::StartsWith("rank " + std::to_string(bad) +
                                    ": cell_list: point 7 of the points, ("));
    if (rank_of_world() == bad) all.columns[1][7] = std::nan("");
    EXPECT_THAT(message_for(0.1, {}),
                testing::StartsWith("rank " + std::to_string(bad) +
                                    ": cell_list: coordinate 1 of point 7 of the points is nan"));
  }
}
