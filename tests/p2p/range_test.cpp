#include <nearfield/p2p/p2p.hpp>

#include "backends.hpp"
#include "p2p/p2p_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// Distances of either sign with random digits, where r^2 and |r|^-power are normal numbers, up to
    /// both ends; less 13 binary places at the lower end of a power, for a loop may leave a factor of 16
    /// in the root. Around 1 the logarithm has no relative accuracy, so that is left out.
    template <class T>
    std::vector<T> distances(int power, std::size_t n)
    {
      double const lowest = std::log2(static_cast<double>(std::numeric_limits<T>::min()));
      double const highest = std::log2(static_cast<double>(std::numeric_limits<T>::max()));
      double const ends[] = {std::max(lowest / 2, power > 1 ? (13 - highest) / power : lowest / 2),
                             std::min(highest / 2, -lowest / power)};
      std::vector<T> result{static_cast<T>(std::exp2(ends[0]) * (1 + 1e-6)),
                            static_cast<T>(std::exp2(ends[1]) * (1 - 1e-6))};
      random_numbers random(7);
      while (result.size() < n)
      {
        double const exponent = random.uniform(ends[0], ends[1] - 1e-6);
        if (std::abs(exponent) < 1) continue;
        double const sign = random.uniform() < 0.5 ? -1 : 1;
        result.push_back(static_cast<T>(sign * std::exp2(exponent)));
      }
      return result;
    }

    template <class Case>
    class range_of : public ::testing::Test
    {};
    TYPED_TEST_SUITE(range_of, all_p2p_cases, p2p_case_names);
  }

  // Pairs one at a time, so that no larger term hides the error of a smaller one: every distance is a
  // target of one source, and every one a source of one target, in each lane of a pack.
  TYPED_TEST(range_of, every_pair_is_right_wherever_its_powers_are_normal_numbers)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    if constexpr (formula<K>::power > 0)
    {
      std::size_t const n = 2000;
      K const k = example<K>();
      for (int axis = 0; axis < K::dim; ++axis)
      {
        guarded<T, K::dim> x(n);
        std::vector<T> const r = distances<T>(formula<K>::power, n);
        for (std::size_t i = 0; i < n; ++i) x.column(axis)[i] = r[i];
        guarded<T, K::dim> const origin(1);
        guarded<T, K::n_in> const ones(n, T(1)), one(1, T(1));
        auto const from_origin = reference(k, x.view(), origin.view(), one.view(), all_pairs);
        for (tested_backend const& backend : tested_backends())
        {
          guarded<T, K::n_out> targets(n), sources(n), unused(1);
          guarded<T, K::n_in> const zero(1);
          backend.run(
              [&](auto where)
              {
                p2p_outer(where, k, x.view(), origin.view(), one.view(), targets.view());
                p2p_outer_mutual(where, k, origin.view(), one.view(), x.view(), ones.view(),
                                 unused.view(), sources.view());
              });
          EXPECT_LE(error_of(targets.view(), from_origin), tolerance<T>) << backend;
          EXPECT_LE(error_of(sources.view(), from_origin), tolerance<T>) << backend;
        }
      }
    }
    else
      GTEST_SKIP() << K::name << " has a length of its own";
  }

  // The seed of a root has errors of its own in every interval [4^k, 4^(k+1)): one of them in fine steps.
  TEST(range, roots_are_good_to_a_few_digits_of_the_last_place)
  {
    std::size_t const n = 20000;
    one_over_r<3> const k;
    guarded<double, 3> x(n);
    for (std::size_t i = 0; i < n; ++i)
      x.column(2)[i] = 1 + static_cast<double>(i) / static_cast<double>(n);
    guarded<double, 3> const origin(1);
    guarded<double, 1> const one(1, 1.), ones(n, 1.);
    auto const sums = reference(k, x.view(), origin.view(), one.view(), all_pairs);
    for (tested_backend const& backend : tested_backends())
    {
      guarded<double, 1> out(n), unused(1);
      backend.run(
          [&](auto where)
          {
            p2p_outer_mutual(where, k, origin.view(), one.view(), x.view(), ones.view(),
                             unused.view(), out.view());
          });
      EXPECT_LE(error_of(out.view(), sums), 2e-15) << backend;
    }
  }
}
