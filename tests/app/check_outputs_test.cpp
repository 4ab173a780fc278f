// The measure of --check must see an error that is planted; what it passes is in run_test.cpp.
#include "check_outputs.hpp"

#include "points.hpp"
#include "reference.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

using namespace nearfield;
using namespace nearfield::app;
using namespace nearfield::test;

namespace
{
  // Right sums of 20 points, all pairs, and the problem that they belong to.
  template <class T, class K>
  struct solved
  {
    named_points from;
    problem<T, K::dim> on; // refers to them
    std::vector<std::vector<double>> outputs;

    explicit solved(K const& k) : from(points()), on(from, nullptr, {.level = 0})
    {
      std::array<T const*, K::n_in> q;
      for (int c = 0; c < K::n_in; ++c) q[c] = on.inputs()[c];
      auto const sums = reference(k, on.targets(), on.sources(),
                                  soa<T const, K::n_in>(q, on.size()), other_points);
      for (auto const& column : sums.value) outputs.emplace_back(column.begin(), column.end());
    }

  private:
    static named_points points()
    {
      std::size_t const n = 20;
      named_points from{"points", {.dim = K::dim}};
      for (auto const& column : make_points<T, K::dim>(cloud::uniform, n).columns)
        from.points.positions.emplace_back(column.begin(), column.end());
      random_numbers random(3);
      for (int c = 0; c < K::n_in; ++c)
      {
        auto& column = from.points.inputs.emplace_back(n);
        for (double& q : column) q = random.uniform(1, 2);
      }
      return from;
    }
  };

  template <class T>
  struct check_measure : testing::Test
  {};
  using reals = testing::Types<float, double>;
  TYPED_TEST_SUITE(check_measure, reals);
}

TYPED_TEST(check_measure, sees_a_small_error_in_any_output)
{
  using T = TypeParam;
  nearfield::detail::builtin_interactions::for_each(
      []<class K>()
      {
        K const k{};
        solved<T, K> right(k);
        auto const report = check_outputs(right.on, k, right.outputs, 1000);
        EXPECT_EQ(report.targets, 20u);
        EXPECT_TRUE(report.passed()) << K::name << ": " << report.max_relative_error;
        for (int o = 0; o < K::n_out; ++o)
          for (std::size_t const i : {0, 7, 19})
          {
            double& value = right.outputs[static_cast<std::size_t>(o)][i];
            double const before = value;
            value *= 1 + 500 * error_limit<T>; // 1e-3 in float, 5e-11 in double
            EXPECT_FALSE(check_outputs(right.on, k, right.outputs, 1000).passed())
                << K::name << ", output " << o << " of point " << i;
            value = std::numeric_limits<double>::quiet_NaN();
            EXPECT_FALSE(check_outputs(right.on, k, right.outputs, 1000).passed()) << K::name;
            value = before;
          }
      });
}
