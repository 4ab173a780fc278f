#include <nearfield/core/math.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>

namespace nearfield::test
{
  template <class T>
  struct scalar_math : ::testing::Test
  {};
  using reals = ::testing::Types<float, double>;
  TYPED_TEST_SUITE(scalar_math, reals);

  TYPED_TEST(scalar_math, is_that_of_the_standard_library)
  {
    using T = TypeParam;
    T const x = T(1.7);
    EXPECT_EQ(nearfield::sqrt(x), std::sqrt(x));
    EXPECT_EQ(nearfield::exp(x), std::exp(x));
    EXPECT_EQ(nearfield::log(x), std::log(x));
    static_assert(std::is_same_v<detail::real_of<T>, T>);
  }

  TYPED_TEST(scalar_math, takes_reciprocal_roots_of_all_normal_numbers)
  {
    using T = TypeParam;
    using limits = std::numeric_limits<T>;
    for (T x : {limits::min(), T(1e-20), T(0.3), T(1), T(7e12), limits::max()})
    {
      long double const exact = 1 / std::sqrt(static_cast<long double>(x));
      long double const tolerance = 1.5L * limits::epsilon() * exact;
      EXPECT_NEAR(static_cast<long double>(nearfield::rsqrt(x)), exact, tolerance) << x;
      EXPECT_NEAR(math<T>::scaled_rsqrt(x) / math<T>::root_scale, exact, tolerance) << x;
    }
    EXPECT_EQ(nearfield::rsqrt(T(0)), limits::infinity());
  }
}
