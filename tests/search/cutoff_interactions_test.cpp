#include <nearfield/kernels/molecular.hpp>
#include <nearfield/kernels/sph.hpp>

#include "backends.hpp"
#include "points.hpp"
#include "reference.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/permutation.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

// A cutoff interaction over a cell list is the sum over the pairs within the cutoff: in double, from the
// positions as they are in the precision of the step.

namespace nearfield::test
{
  namespace
  {
    /// Nodes of a lattice, moved a little: distances that molecules could have.
    template <class T, int Dim>
    points<T, Dim> fluid(int side, double moved, double spacing = 1)
    {
      random_numbers random(11);
      points<T, Dim> x;
      for (int i = 0; i < (Dim == 2 ? side * side : side * side * side); ++i)
      {
        std::array<double, Dim> at;
        for (int a = 0, rest = i; a < Dim; ++a, rest /= side)
          at[a] = spacing * (rest % side + 0.5 + random.uniform(-moved, moved));
        x.push_back(at);
      }
      return x;
    }

    /// The formulas of the documentation from the distance. `value` does not end at the cutoff; `change`
    /// bounds |K| and r |dK/dr|, each term with its size: it times the relative error of r is that of K.
    template <int Dim>
    struct exact_lennard_jones
    {
      double sigma = 0.9, epsilon = 0.7, r_c = 2;
      lennard_jones<Dim, 1, lennard_jones_tail::cut> k{
          {.sigma = {sigma}, .epsilon = {epsilon}, .cutoff = {r_c}}};
      [[nodiscard]] double cutoff() const { return r_c; }
      [[nodiscard]] auto value(auto r, auto const& d, int o) const
      {
        auto const s6 = std::pow(sigma / r, 6);
        if (o == 0) return 2 * epsilon * (s6 * s6 - s6);
        auto const factor = 24 * epsilon * (2 * s6 * s6 - s6) / (r * r);
        if (o <= Dim) return factor * d[o - 1];
        int a = 0, b = o - Dim - 1; // row by row
        for (; b >= Dim - a; ++a) b -= Dim - a;
        return factor * d[a] * d[a + b] / 2;
      }
      [[nodiscard]] auto change(auto r, int o) const
      {
        auto const s6 = std::pow(sigma / r, 6);
        if (o == 0) return 2 * epsilon * (12 * s6 * s6 + 6 * s6);
        auto const of_force = 24 * epsilon * (26 * s6 * s6 + 7 * s6) / r;
        return o <= Dim ? of_force : of_force * r / 2;
      }
      static constexpr bool counts_points_at_one_place = false;
    };

    template <int Dim>
    struct exact_sph_density
    {
      sph_density<Dim> k{.h = 1};
      [[nodiscard]] double scale() const
      {
        double const pi = std::numbers::pi, h = k.h;
        return Dim == 2 ? 10 / (7 * pi * h * h) : 1 / (pi * h * h * h);
      }
      [[nodiscard]] double cutoff() const { return k.cutoff(); }
      [[nodiscard]] double value(double r, auto const&, int) const
      {
        double const q = r / k.h;
        return q < 1   ? scale() * (1 - 1.5 * q * q + 0.75 * q * q * q)
               : q < 2 ? scale() * 0.25 * std::pow(2 - q, 3)
                       : 0;
      }
      [[nodiscard]] double change(double, int) const { return 3 * scale(); }
      static constexpr bool counts_points_at_one_place = true;
    };

    struct sum_and_bound
    {
      double sum = 0, bound = 0;
    };

    /// The sum over the nearest images, and how far a step in T may be from it. At a distance of the cutoff
    /// within rounding the step decides, and its sum may have the pair or not; where the coordinates
    /// leave `nothing_to_round`, it may not have it at the cutoff itself.
    template <class T, int Dim>
    sum_and_bound exact_sum(auto const& exact, points<T, Dim> const& x, std::vector<T> const& q,
                            double period, bool nothing_to_round, std::size_t i, int o)
    {
      double const eps = std::numeric_limits<T>::epsilon();
      double const shell = nothing_to_round ? 0 : 4 * eps * (exact.cutoff() + period);
      sum_and_bound result;
      for (std::size_t j = 0; j < x.size(); ++j)
      {
        if (i == j) continue;
        std::array<double, Dim> d;
        double r2 = 0;
        for (int a = 0; a < Dim; ++a)
        {
          d[a] = double(x.columns[a][i]) - double(x.columns[a][j]);
          if (period > 0) d[a] -= period * std::round(d[a] / period);
          r2 += d[a] * d[a];
        }
        double const r = std::sqrt(r2);
        if (r >= exact.cutoff() + shell || (r == 0 && !exact.counts_points_at_one_place)) continue;
        double const term = q[j] * exact.value(r, d, o);
        if (r < exact.cutoff()) result.sum += term;
        if (r >= exact.cutoff() - shell && !nothing_to_round) result.bound += std::abs(term);
        // an image is rounded when it is moved by the period
        double const error_of_r = period > 0 && r > 0 ? 2 * eps * period / r : 0;
        result.bound += std::abs(q[j]) * exact.change(r, o) * (tolerance<T> + error_of_r);
      }
      return result;
    }

    template <class T, int Dim>
    void expect_sums(auto const& exact, points<T, Dim> const& x, double period,
                     bool nothing_to_round = false)
    {
      auto const& k = exact.k;
      constexpr int n_out = std::remove_cvref_t<decltype(k)>::n_out;
      auto const q = make_values<T>(x.size());
      cell_list_options<T, Dim> options;
      options.period.fill(T(period));
      cell_list<T, Dim> const cells(x.view(), exact.cutoff(), options);
      auto const sorted_q = gather(cells.target_order(), q);
      std::array<std::vector<sum_and_bound>, n_out> expected;
      for (int o = 0; o < n_out; ++o)
        for (index_type const i : cells.target_order())
          expected[o].push_back(exact_sum(exact, x, q, period, nothing_to_round, i, o));

      for (tested_backend const& backend : tested_backends())
        for (bool const mutual : {false, true})
        {
          column_set<T, n_out> out;
          for (auto& column : out.columns) column = std::vector<T>(x.size());
          soa<T const, Dim> const at = cells.target_positions();
          soa<T const, 1> const charges{sorted_q};
          backend.run(
              [&](auto where)
              {
                // the other instruction sets run the same code: one's own is compiled for one
                if (mutual)
                  near_field(where, k, cells.targets(), cells.half_interactions(), at, charges,
                             out.view(), {.form = pair_form::mutual});
                else
                  near_field(where, k, cells.targets(), cells.interactions(), at, charges,
                             out.view());
              });
          for (int o = 0; o < n_out; ++o)
            for (std::size_t p = 0; p < x.size(); ++p)
              ASSERT_NEAR(out.columns[o][p], expected[o][p].sum, expected[o][p].bound)
                  << k.name << ", " << backend.name << ", period " << period << ", mutual "
                  << mutual << ", output " << o << ", position " << p;
        }
    }

    template <class T, int Dim>
    void expect_sums_of(auto const& exact)
    {
      int const side = Dim == 2 ? 14 : 7;
      for (double const period : {0., double(side)})
      {
        auto x = fluid<T, Dim>(side, 0.1);
        expect_sums(exact, x, period);
        // points at one place
        for (std::size_t i = 0; i + 5 < x.size(); i += 5)
          for (auto& column : x.columns) column[i + 1] = column[i];
        expect_sums(exact, x, period);
        // many at the cutoff, to the bit
        expect_sums(exact, fluid<T, Dim>(side, 0), period, true);
      }
      // and within rounding
      expect_sums(exact, fluid<T, Dim>(side, 0, exact.cutoff() / 3), 0);
    }

    /// Pairs one at a time along the last axis, at the ends of the range and at powers of ten between.
    template <class T>
    void expect_right_pairs(auto const& exact, double from, double to)
    {
      auto const& k = exact.k;
      constexpr int dim = std::remove_cvref_t<decltype(k)>::dim;
      constexpr int n_out = std::remove_cvref_t<decltype(k)>::n_out;
      points<T, dim> x, origin;
      origin.push_back({});
      std::array<double, dim> at{};
      for (int power = -300; power <= 300; ++power)
        if (double const r = std::pow(10., power); r > from && r < to)
        {
          at[dim - 1] = r;
          x.push_back(at);
        }
      for (double const r : {from, 0.3, 0.999, 1., 1.001, 1.5, 1.9999, to})
      {
        at[dim - 1] = -r;
        x.push_back(at);
      }
      std::vector<T> const one{1};
      for (tested_backend const& backend : tested_backends())
      {
        column_set<T, n_out> out;
        for (auto& column : out.columns) column = std::vector<T>(x.size());
        backend.run([&](auto where)
                    { p2p_outer(where, k, x.view(), origin.view(), soa{one}, out.view()); });
        for (std::size_t i = 0; i < x.size(); ++i)
        {
          std::array<long double, dim> d{};
          d[dim - 1] = static_cast<long double>(x.columns[dim - 1][i]);
          long double const r = std::abs(d[dim - 1]);
          for (int o = 0; o < n_out; ++o)
            ASSERT_NEAR(out.columns[o][i], exact.value(r, d, o), tolerance<T> * exact.change(r, o))
                << k.name << ", " << backend.name << ", r = " << d[dim - 1] << ", output " << o;
        }
      }
    }

    template <class Real>
    class cutoff_interactions : public testing::Test
    {};
    using reals = testing::Types<float, double>;
    TYPED_TEST_SUITE(cutoff_interactions, reals);
  }

  TYPED_TEST(cutoff_interactions, lennard_jones_is_the_sum_within_the_cutoff)
  {
    expect_sums_of<TypeParam, 2>(exact_lennard_jones<2>{});
    expect_sums_of<TypeParam, 3>(exact_lennard_jones<3>{});
  }

  TYPED_TEST(cutoff_interactions, sph_density_is_the_sum_within_the_cutoff)
  {
    expect_sums_of<TypeParam, 2>(exact_sph_density<2>{});
    expect_sums_of<TypeParam, 3>(exact_sph_density<3>{});
  }

  // A thread of a GPU tests 32 sources at a time for the cutoff, and a cell has hundreds.
  TYPED_TEST(cutoff_interactions, serve_many_points_a_cell)
  {
    expect_sums(exact_sph_density<3>{}, fluid<TypeParam, 3>(10, 0.1, 0.25), 0);
  }

  // In a small unit of length (sigma / 1)^12 is no float.
  TYPED_TEST(cutoff_interactions, may_have_any_unit_of_length)
  {
    using T = TypeParam;
    auto const x = fluid<T, 3>(6, 0.1, 1e4);
    expect_sums(exact_lennard_jones<3>{.sigma = 0.9e4, .r_c = 2e4}, x, 0);
  }

  TYPED_TEST(cutoff_interactions, are_right_wherever_the_documents_say_so)
  {
    using T = TypeParam;
    bool const is_float = sizeof(T) == 4;
    expect_right_pairs<T>(
        exact_lennard_jones<3>{.sigma = 1, .epsilon = 1, .r_c = is_float ? 1e7 : 1e52},
        is_float ? 2.4e-3 : 1.3e-22, is_float ? 8e4 : 4.2e38);
    expect_right_pairs<T>(exact_sph_density<3>{}, 1e-30, 1e30);
  }

  TEST(cutoff_interactions, are_zero_from_the_cutoff_on)
  {
    exact_lennard_jones<3> const lennard_jones;
    auto const& lj = lennard_jones.k;
    sph_density<2> const density{1};
    auto const value = [](auto const& k, auto const& r)
    {
      return detail::evaluate(k, r).to({1})[0];
    };
    EXPECT_EQ(value(lj, vec<double, 3>{2, 0, 0}), 0);
    EXPECT_NE(value(lj, vec<double, 3>{1.9999, 0, 0}), 0);
    EXPECT_EQ(value(density, vec<double, 2>{0, 2}), 0);
    EXPECT_GT(value(density, vec<double, 2>{0, 1.99}), 0);
    EXPECT_DOUBLE_EQ(value(density, vec<double, 2>{0, 0}), density.at_zero());
    EXPECT_TRUE(is_singular(lj));
    EXPECT_FALSE(is_singular(density));
  }
}
