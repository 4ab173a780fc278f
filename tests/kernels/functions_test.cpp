#include <nearfield/p2p/backend.hpp>
#include <nearfield/simd/pack.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

// Functions of packs of the instruction set that this file is compiled for, beside long double.

namespace nearfield::test
{
  namespace
  {
    /// Whether this machine has the instruction set of this file.
    bool runs_here()
    {
      constexpr std::string_view mine = NEARFIELD_ISA_NAME;
      bool found = mine == "sse2" || mine == "neon64" || mine == "scalar";
      for (isa const which : available_isas()) found = found || name_of(which) == mine;
      return found;
    }

    template <class T>
    class functions_of : public ::testing::Test
    {
    protected:
      void SetUp() override
      {
        if (!runs_here()) GTEST_SKIP() << "no " << NEARFIELD_ISA_NAME;
      }

      using V = pack<T, xsimd::default_arch, 2>;
      static constexpr bool is_float = std::is_same_v<T, float>;
      static constexpr int width = math<V>::width;

      /// f of one number, the same in each lane.
      template <class F>
      static T at(F const& f, T x)
      {
        T lanes[width];
        math<V>::store(lanes, f(V(x)));
        return lanes[width - 1];
      }

      /// The largest error over [from, to], in units of epsilon: relative, or absolute.
      template <class F, class Exact>
      static double error(F const& f, Exact const& exact, double from, double to,
                          bool relative = true)
      {
        constexpr int n = 100000;
        double worst = 0;
        for (int i = 0; i < n; i += width)
        {
          T x[width], y[width];
          for (int lane = 0; lane < width; ++lane)
            x[lane] = static_cast<T>(from + (to - from) * (i + lane + 0.37) / n);
          math<V>::store(y, f(math<V>::load(x)));
          for (int lane = 0; lane < width; ++lane)
          {
            long double const right = exact(static_cast<long double>(x[lane]));
            long double const off = std::abs(static_cast<long double>(y[lane]) - right);
            double const size = static_cast<double>(off / (relative ? std::abs(right) : 1));
            worst = size <= worst ? worst : size; // NaN stays
          }
        }
        return worst / static_cast<double>(std::numeric_limits<T>::epsilon());
      }
    };
    using of_reals = ::testing::Types<float, double>;
    TYPED_TEST_SUITE(functions_of, of_reals);

    constexpr auto of_exp = [](auto const& x)
    {
      return nearfield::exp(x);
    };
    constexpr auto of_log = [](auto const& x)
    {
      return nearfield::log(x);
    };
    constexpr auto of_erf = [](auto const& x)
    {
      return nearfield::erf(x);
    };
    constexpr auto of_erfc = [](auto const& x)
    {
      return nearfield::erfc(x);
    };
    constexpr auto of_erfcx = [](auto const& x)
    {
      return nearfield::erfcx(x);
    };
    constexpr auto of_sin = [](auto const& x)
    {
      return nearfield::sin(x);
    };
    constexpr auto of_cos = [](auto const& x)
    {
      return nearfield::cos(x);
    };
    constexpr auto sine_of_both = []<class V>(V const& x)
    {
      V sine, cosine;
      nearfield::sin_cos(x, sine, cosine);
      return sine;
    };
    constexpr auto cosine_of_both = []<class V>(V const& x)
    {
      V sine, cosine;
      nearfield::sin_cos(x, sine, cosine);
      return cosine;
    };
    constexpr auto long_exp = [](long double x)
    {
      return std::exp(x);
    };
    constexpr auto long_erfc = [](long double x)
    {
      return std::erfc(x);
    };
    constexpr auto long_erf = [](long double x)
    {
      return std::erf(x);
    };
    constexpr auto long_sin = [](long double x)
    {
      return std::sin(x);
    };
    constexpr auto long_cos = [](long double x)
    {
      return std::cos(x);
    };
  }

  TYPED_TEST(functions_of, exp_is_right_to_the_last_digit)
  {
    EXPECT_LE(this->error(of_exp, long_exp, this->is_float ? -87.3 : -708.3,
                          this->is_float ? 88.7 : 709.7),
              1);
    EXPECT_LE(this->error(of_exp, long_exp, -1, 1), 1);
    using limits = std::numeric_limits<TypeParam>;
    TypeParam const most = std::log(limits::max()), infinite = limits::infinity();
    EXPECT_EQ(this->at(of_exp, TypeParam(0)), 1);
    EXPECT_EQ(this->at(of_exp, infinite), infinite);
    EXPECT_EQ(this->at(of_exp, most + 1), infinite);
    EXPECT_EQ(this->at(of_exp, limits::max()), infinite);
    EXPECT_EQ(this->at(of_exp, -infinite), 0);
    EXPECT_EQ(this->at(of_exp, -limits::max()), 0);
    EXPECT_LE(this->at(of_exp, std::log(limits::min()) - 1), limits::min());
    EXPECT_TRUE(std::isnan(this->at(of_exp, limits::quiet_NaN())));
  }

  TYPED_TEST(functions_of, log_is_right_to_the_last_digit)
  {
    auto const exact = [](long double x)
    {
      return std::log(x);
    };
    EXPECT_LE(this->error(of_log, exact, 1e-3, 0.9), 1);
    EXPECT_LE(this->error(of_log, exact, 1.1, 1e30), 1);
  }

  // erfc falls to 1e-300 at 26.2, and in float to 1e-38 at 9.
  TYPED_TEST(functions_of, erfc_keeps_its_digits_where_it_is_tiny)
  {
    double const end = this->is_float ? 9.1 : 26.2;
    EXPECT_LE(this->error(of_erfc, long_erfc, 0, end), 8);
    EXPECT_LE(this->error(of_erfc, long_erfc, 5, 7), 8);
    EXPECT_LE(this->error(of_erfc, long_erfc, -6, 0), 8);
    EXPECT_LE(this->error(of_erfc, long_erfc, 0, 1e-3), 8);
    EXPECT_LE(this->error(
                  of_erfcx, [](long double x) { return std::exp(x * x) * std::erfc(x); }, 0, end),
              8);
    using limits = std::numeric_limits<TypeParam>;
    EXPECT_EQ(this->at(of_erfc, limits::infinity()), 0);
    EXPECT_EQ(this->at(of_erfc, limits::max()), 0);
    EXPECT_EQ(this->at(of_erfc, -limits::max()), 2);
    EXPECT_TRUE(std::isnan(this->at(of_erfc, limits::quiet_NaN())));
  }

  TYPED_TEST(functions_of, erf_keeps_its_digits_near_zero)
  {
    EXPECT_LE(this->error(of_erf, long_erf, -6, 6), 4);
    EXPECT_LE(this->error(of_erf, long_erf, 0, 1e-3), 4);
    EXPECT_LE(this->error(of_erf, long_erf, 0, 1e-20), 4);
    using limits = std::numeric_limits<TypeParam>;
    EXPECT_EQ(this->at(of_erf, TypeParam(0)), 0);
    EXPECT_EQ(this->at(of_erf, limits::max()), 1);
    EXPECT_EQ(this->at(of_erf, -limits::infinity()), -1);
    EXPECT_TRUE(std::isnan(this->at(of_erf, limits::quiet_NaN())));
  }

  TYPED_TEST(functions_of, sin_and_cos_keep_their_digits)
  {
    EXPECT_LE(this->error(of_sin, long_sin, -3.1, 3.1), 2);
    EXPECT_LE(this->error(of_sin, long_sin, -1000, 1000), 4);
    EXPECT_LE(this->error(of_cos, long_cos, -1000, 1000), 4);
  }

  TYPED_TEST(functions_of, sin_cos_is_right_in_units_of_one)
  {
    // as far as a product of the whole numbers with the first part of pi / 2 is exact without fma
    double const far = this->is_float ? 1000 : 1e6;
    for (double const end : {1e-3, 1., 100., far})
    {
      EXPECT_LE(this->error(sine_of_both, long_sin, -end, end, false), 3) << end;
      EXPECT_LE(this->error(cosine_of_both, long_cos, -end, end, false), 3) << end;
    }
    EXPECT_LE(this->error(sine_of_both, long_sin, 0, 3), 3);
    // to the end of what it takes: an error of eps |x|
    double const end = this->is_float ? 2e6 : 1e15;
    EXPECT_LE(this->error(sine_of_both, long_sin, -end, end, false), end);
    EXPECT_LE(this->error(cosine_of_both, long_cos, -end, end, false), end);
    EXPECT_TRUE(std::isnan(this->at(sine_of_both, std::numeric_limits<TypeParam>::quiet_NaN())));
  }
}
