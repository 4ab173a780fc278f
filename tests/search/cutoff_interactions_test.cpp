#include <nearfield/kernels/lennard_jones.hpp>
#include <nearfield/kernels/sph_density.hpp>

#include "backends.hpp"
#include "points.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/permutation.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

// A cutoff interaction over a cell list is the sum over the pairs within the cutoff.

namespace nearfield::test
{
  namespace
  {
    /// Points of a lattice, moved a little: distances that molecules could have, none at the cutoff.
    template <int Dim>
    points<double, Dim> fluid(int side)
    {
      random_numbers random(11);
      points<double, Dim> x;
      for (int i = 0; i < (Dim == 2 ? side * side : side * side * side); ++i)
      {
        std::array<double, Dim> at;
        for (int a = 0, rest = i; a < Dim; ++a, rest /= side)
          at[a] = rest % side + 0.5 + random.uniform(-0.1, 0.1);
        x.push_back(at);
      }
      return x;
    }

    /// The formulas of the documentation, from the distance.
    struct lennard_jones_formula
    {
      double sigma, epsilon, cutoff;
      [[nodiscard]] double value(double r) const
      {
        return r < cutoff ? 4 * epsilon * (std::pow(sigma / r, 12) - std::pow(sigma / r, 6)) : 0;
      }
      [[nodiscard]] double slope(double r) const
      {
        return r < cutoff
                   ? -24 * epsilon * (2 * std::pow(sigma / r, 12) - std::pow(sigma / r, 6)) / r
                   : 0;
      }
    };

    double spline(double r, double h, int dim)
    {
      double const pi = std::acos(-1.), q = r / h;
      double const s = dim == 2 ? 10 / (7 * pi * h * h) : 1 / (pi * h * h * h);
      return q < 1   ? s * (1 - 1.5 * q * q + 0.75 * q * q * q)
             : q < 2 ? s * 0.25 * std::pow(2 - q, 3)
                     : 0;
    }

    /// f(displacement, distance, output) summed over the nearest images of all others.
    template <int Dim, int NOut>
    std::array<std::vector<double>, NOut> sums(points<double, Dim> const& x,
                                               std::vector<double> const& q, double period, auto f)
    {
      std::array<std::vector<double>, NOut> out;
      for (auto& column : out) column = std::vector<double>(x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j)
        {
          if (i == j) continue;
          std::array<double, Dim> d;
          double r2 = 0;
          for (int a = 0; a < Dim; ++a)
          {
            d[a] = x.columns[a][i] - x.columns[a][j];
            if (period > 0) d[a] -= period * std::round(d[a] / period);
            r2 += d[a] * d[a];
          }
          for (int o = 0; o < NOut; ++o) out[o][i] += q[j] * f(d, std::sqrt(r2), o);
        }
      return out;
    }

    template <class K>
    void expect_sums(K const& k, double cutoff, auto formula)
    {
      constexpr int dim = K::dim, n_out = K::n_out;
      int const side = dim == 2 ? 14 : 8;
      auto const x = fluid<dim>(side);
      auto const q = make_values<double>(x.size());
      for (double const period : {0., double(side)})
      {
        auto const expected = sums<dim, n_out>(x, q, period, formula);
        cell_list_options<double, dim> options;
        options.period.fill(period);
        cell_list<double, dim> const cells(x.view(), cutoff, options);
        auto const sorted_q = gather(cells.target_order(), q);
        for (tested_backend const& backend : tested_backends())
          for (bool const mutual : {false, true})
          {
            column_set<double, n_out> out;
            for (auto& column : out.columns) column = std::vector<double>(x.size());
            soa<double const, dim> const at = cells.target_positions();
            soa<double const, 1> const charges{sorted_q};
            backend.run(
                [&](auto where)
                {
                  // the other instruction sets run the same code: one's own is compiled for one
                  if (mutual)
                    near_field_mutual(serial, where, k, cells.targets(), cells.half_interactions(),
                                      at, charges, out.view());
                  else
                    near_field(serial, where, k, cells.targets(), cells.interactions(), at, charges,
                               out.view());
                });
            for (int o = 0; o < n_out; ++o)
              for (std::size_t p = 0; p < x.size(); ++p)
                ASSERT_NEAR(out.columns[o][p], expected[o][cells.target_order()[p]], 1e-9)
                    << K::name << ", " << backend.name << ", period " << period << ", mutual "
                    << mutual << ", output " << o << ", position " << p;
          }
      }
    }

    template <int Dim>
    void expect_all_sums()
    {
      lennard_jones_formula const lj{0.9, 0.7, 2.3};
      expect_sums(lennard_jones_cutoff<Dim>{0.9, 0.7, 2.3}, 2.3,
                  [&](auto const&, double r, int) { return lj.value(r); });
      expect_sums(grad_lennard_jones_cutoff<Dim>{0.9, 0.7, 2.3}, 2.3,
                  [&](auto const& d, double r, int o) { return lj.slope(r) * d[o] / r; });
      expect_sums(sph_density<Dim>{1.1}, sph_density<Dim>{1.1}.cutoff(),
                  [](auto const&, double r, int) { return spline(r, 1.1, Dim); });
    }
  }

  TEST(cutoff_interactions, sum_over_the_pairs_within_the_cutoff_in_space)
  {
    expect_all_sums<3>();
  }

  TEST(cutoff_interactions, sum_over_the_pairs_within_the_cutoff_in_the_plane)
  {
    expect_all_sums<2>();
  }

  TEST(cutoff_interactions, are_zero_from_the_cutoff_on)
  {
    lennard_jones_cutoff<3> const lj{1, 1, 2};
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
