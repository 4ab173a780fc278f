#include "backends.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/p2p.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// The relative error of the sum of 1/r over sources at these distances, seen by one target.
    double error_of_sum(tested_backend const& backend, std::vector<float> const& distances)
    {
      std::size_t const n = distances.size();
      std::vector<float> const zero(n, 0.F), q(n, 1.F);
      std::array<float, 1> const origin{};
      std::array<float, 1> out{};
      soa<float const, 3> const target{{origin.data(), origin.data(), origin.data()}, 1};
      soa<float const, 3> const sources{{distances.data(), zero.data(), zero.data()}, n};
      backend.run([&](auto where)
                  { p2p_outer(where, one_over_r<3>{}, target, sources, soa{q}, soa{out}); });
      double sum = 0;
      for (float const r : distances) sum += 1 / static_cast<double>(r);
      return std::abs(static_cast<double>(out[0]) - sum) / sum;
    }

    constexpr double limit = 2e-6;

    TEST(long_sums, of_equal_terms_keep_the_limit_of_f32)
    {
      for (auto const& backend : tested_backends())
        for (std::size_t const n : {300, 2000, 100000})
          for (float const r : {1.F, 0.7F, 0.3F})
            EXPECT_LE(error_of_sum(backend, std::vector<float>(n, r)), limit)
                << backend << ", " << n << " sources at " << r;
    }

    TEST(long_sums, beside_a_term_that_outweighs_them_keep_the_limit_of_f32)
    {
      // the worst is a term just above a power of two, whose unit in the last place is little more than two others
      for (auto const& backend : tested_backends())
        for (std::size_t const n : {300, 2000, 100000})
          for (std::size_t const at : {std::size_t{0}, std::size_t{5}, n / 2, n - 1})
          {
            double worst = 0;
            for (double r = 1e-4; r > 5e-9; r /= 1.19)
            {
              std::vector<float> distances(n, 0.9F);
              distances[at] = static_cast<float>(r);
              worst = std::max(worst, error_of_sum(backend, distances));
            }
            EXPECT_LE(worst, limit) << backend << ", source " << at << " of " << n << " is near";
          }
    }
  }
}
