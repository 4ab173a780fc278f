// The measure of --check must see an error that is planted; what it passes is in run_test.cpp.
#include "check_outputs.hpp"

#include "points.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace nearfield;
using namespace nearfield::app;
using namespace nearfield::test;

namespace
{
  // The sums of 20 points, all pairs, and the problem that they belong to.
  template <class T, int Dim>
  struct solved
  {
    named_points from;
    problem<T, Dim> on; // refers to them
    std::vector<std::vector<double>> outputs;

    explicit solved(any_interaction const& k)
        : from(points(k.info())), on(from, nullptr, {.level = 0})
    {
      auto sums = output_columns<T>(on, k);
      auto const out = pointers<T>(sums);
      on.with_points(
          [&](auto const& x, auto const&...) // one set
          { p2p_inner(scalar, k, x, on.inputs(), soa<T, run_time_columns>(out, on.size())); });
      outputs = in_double(std::move(sums));
    }

  private:
    static named_points points(interaction_info const& of)
    {
      std::size_t const n = 20;
      named_points from{"points", {.dim = Dim}};
      for (auto const& column : make_points<T, Dim>(cloud::uniform, n).columns)
        from.points.positions.emplace_back(column.begin(), column.end());
      random_numbers random(3);
      auto const add =
          [&](std::size_t columns, std::vector<std::vector<double>>& to, double least, double most)
      {
        for (std::size_t c = 0; c < columns; ++c)
          for (double& value : to.emplace_back(n)) value = random.uniform(least, most);
      };
      add(static_cast<std::size_t>(of.n_in), from.points.inputs, 1, 2);
      add(of.point_parameters.size(), from.points.parameters, 0.25, 0.5);
      return from;
    }
  };

  template <class T>
  struct check_measure : testing::Test
  {};
  using reals = testing::Types<float, double>;
  TYPED_TEST_SUITE(check_measure, reals);

  template <class T, int Dim>
  void expect_to_see_errors(any_interaction const& k)
  {
    SCOPED_TRACE(std::string(k.info().name) + " in " + std::to_string(Dim) + "D");
    solved<T, Dim> right(k);
    auto const report = check_outputs(right.on, k, right.outputs, 1000);
    EXPECT_EQ(report.targets, 20u);
    EXPECT_TRUE(report.passed()) << report.max_relative_error;
    for (auto& column : right.outputs)
      for (std::size_t const i : {0, 7, 19})
      {
        double& value = column[i];
        double const before = value, largest = *std::ranges::max_element(column, {}, [](double x)
                                                                         { return std::abs(x); });
        value += 500 * error_limit<T> * largest; // 1e-3 of it in float, 5e-11 in double
        EXPECT_FALSE(check_outputs(right.on, k, right.outputs, 1000).passed())
            << "output " << &column - right.outputs.data() << " of point " << i;
        value = std::numeric_limits<double>::quiet_NaN();
        EXPECT_FALSE(check_outputs(right.on, k, right.outputs, 1000).passed());
        value = before;
      }
  }
}

TYPED_TEST(check_measure, sees_a_small_error_in_any_output)
{
  for (interaction_info const& of : interaction_infos())
  {
    if (!of.is_built) continue;
    any_interaction const k(of.name, of.dim);
    of.dim == 2 ? expect_to_see_errors<TypeParam, 2>(k) : expect_to_see_errors<TypeParam, 3>(k);
  }
}
