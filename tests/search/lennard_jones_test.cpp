#include <nearfield/kernels/molecular.hpp>

#include "backends.hpp"
#include "complains_of.hpp"
#include "points.hpp"

#include <nearfield/p2p/check_interaction.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    constexpr double most_cutoff = 2.5;

    /// Types 0 and 1 interact, the third only with the first.
    lennard_jones_types<3> three_types()
    {
      return {.sigma = {1, .9, .8, .9, .85, 1, .8, 1, 1},
              .epsilon = {1, 1.2, .5, 1.2, .6, 1, .5, 1, 1},
              .cutoff = {most_cutoff, 2.2, 1.9, 2.2, 2.1, 0, 1.9, 0, 0},
              .switch_from = .8};
    }

    /// The energy of a pair of types a and b at a distance, as the documentation has it.
    long double energy_of(lennard_jones_tail tail, long double r, int a, int b)
    {
      auto const of = three_types();
      auto const at = static_cast<std::size_t>(3 * a + b);
      long double const cutoff = of.cutoff[at];
      if (r >= cutoff) return 0;
      auto const plain = [&](long double d)
      {
        long double const s6 = std::pow(static_cast<long double>(of.sigma[at]) / d, 6);
        return 4 * static_cast<long double>(of.epsilon[at]) * (s6 * s6 - s6);
      };
      if (tail == lennard_jones_tail::shifted) return plain(r) - plain(cutoff);
      long double const from = static_cast<long double>(of.switch_from) * cutoff;
      long double const t = (r - from) / (cutoff - from);
      if (tail == lennard_jones_tail::cut || t <= 0) return plain(r);
      return plain(r) * (1 - 10 * t * t * t + 15 * t * t * t * t - 6 * t * t * t * t * t);
    }

    /// Points of three types in a box, in which they meet the nearest image of each other.
    template <class T>
    struct mixture
    {
      static constexpr int side = 6;
      static constexpr double spacing = 1.1, period = side * spacing;
      points<T, 3> x;
      std::vector<T> type, q;

      mixture()
      {
        random_numbers random(5);
        for (int i = 0; i < side * side * side; ++i)
        {
          std::array<double, 3> at;
          for (int a = 0, rest = i; a < 3; ++a, rest /= side)
            at[a] = spacing * (rest % side + .5 + random.uniform(-.1, .1));
          x.push_back(at);
          type.push_back(static_cast<T>(random.below(3)));
        }
        q.assign(type.size(), 1);
      }
      [[nodiscard]] soa<T const, 4> view() const
      {
        return soa{x.columns[0], x.columns[1], x.columns[2], type};
      }
      /// out[o][i] by the definition; forces are differences of energies.
      [[nodiscard]] std::array<std::vector<double>, 10> sums(lennard_jones_tail tail,
                                                             bool is_periodic) const
      {
        std::array<std::vector<double>, 10> out;
        for (auto& column : out) column.assign(type.size(), 0);
        for (std::size_t i = 0; i < type.size(); ++i)
          for (std::size_t j = 0; j < type.size(); ++j)
          {
            if (i == j) continue;
            std::array<long double, 3> d;
            long double r2 = 0;
            for (std::size_t a = 0; a < 3; ++a)
            {
              auto const l = static_cast<long double>(period);
              d[a] = static_cast<long double>(x.columns[a][i]) -
                     static_cast<long double>(x.columns[a][j]);
              if (is_periodic) d[a] -= l * std::round(d[a] / l);
              r2 += d[a] * d[a];
            }
            int const a = static_cast<int>(type[i]), b = static_cast<int>(type[j]);
            long double const r = std::sqrt(r2), h = 1e-6L;
            long double const energy = energy_of(tail, r, a, b);
            if (energy == 0) continue;
            long double const slope =
                (energy_of(tail, r + h, a, b) - energy_of(tail, r - h, a, b)) / (2 * h);
            out[0][i] += static_cast<double>(energy / 2);
            for (std::size_t o = 1, c = 0; c < 3; ++c)
            {
              out[1 + c][i] -= static_cast<double>(slope * d[c] / r);
              for (std::size_t e = c; e < 3; ++e, ++o)
                out[3 + o][i] -= static_cast<double>(slope * d[c] * d[e] / r / 2);
            }
          }
        return out;
      }
    };

    template <class T>
    struct ten_columns
    {
      std::array<std::vector<T>, 10> column;
      explicit ten_columns(std::size_t n)
      {
        for (auto& c : column) c.assign(n, 0);
      }
      [[nodiscard]] soa<T, 10> view()
      {
        std::array<T*, 10> first;
        for (std::size_t o = 0; o < 10; ++o) first[o] = column[o].data();
        return {first, column[0].size()};
      }
      void expect(std::array<std::vector<double>, 10> const& sums) const
      {
        for (std::size_t o = 0; o < 10; ++o)
          for (std::size_t i = 0; i < column[o].size(); ++i)
            ASSERT_NEAR(column[o][i], sums[o][i], sizeof(T) == 4 ? 2e-3 : 1e-7) << o << " " << i;
      }
    };

    template <class T, lennard_jones_tail Tail>
    void expect_mixture()
    {
      mixture<T> const m;
      lennard_jones<3, 3, Tail> const k(three_types());
      auto const in_space = m.sums(Tail, false);
      for (tested_backend const& backend : tested_backends())
        backend.run(
            [&](auto where)
            {
              SCOPED_TRACE(backend.name);
              ten_columns<T> one_sided(m.q.size()), mutual(m.q.size());
              p2p_inner(where, k, m.view(), soa{m.q}, one_sided.view());
              one_sided.expect(in_space);
              p2p_inner_mutual(where, k, m.view(), soa{m.q}, mutual.view());
              mutual.expect(in_space);
            });
#if !defined(NEARFIELD_TEST_CUDA)
      auto const l = static_cast<T>(mixture<T>::period);
      cell_list<T, 3> const cells(m.x.view(), most_cutoff, {.period = {l, l, l}});
      auto const in_box = m.sums(Tail, true);
      for (auto const form : {pair_form::one_sided, pair_form::mutual})
      {
        ten_columns<T> out(m.q.size());
        near_field(simd, k, cells, m.view(), soa{m.q}, out.view(), {.form = form});
        out.expect(in_box);
      }
#endif
    }
  }

  TEST(lennard_jones, of_three_types_is_its_formula)
  {
    expect_mixture<double, lennard_jones_tail::cut>();
    expect_mixture<double, lennard_jones_tail::shifted>();
    expect_mixture<double, lennard_jones_tail::switched>();
    expect_mixture<float, lennard_jones_tail::switched>();
  }

#if !defined(NEARFIELD_TEST_CUDA)
  TEST(lennard_jones, is_well_made)
  {
    lennard_jones<3> const argon({.sigma = {.9}, .epsilon = {.7}, .cutoff = {4}});
    EXPECT_EQ(check_interaction(simd, argon), "");
    lennard_jones<2, 1, lennard_jones_tail::switched> const flat(
        {.sigma = {.9}, .epsilon = {.7}, .cutoff = {4}, .switch_from = .5});
    EXPECT_EQ(check_interaction(scalar, flat), "");
    lennard_jones<3, 3> const mixture(three_types());
    EXPECT_EQ(check_interaction(simd, mixture, {.parameters = {0, 3}, .whole_parameters = true}),
              "");
  }

  TEST(lennard_jones, is_not_summed_over_cells_that_hold_fewer_pairs)
  {
    mixture<float> const m;
    lennard_jones<3, 3> const k(three_types());
    ten_columns<float> out(m.q.size());
    auto const sum = [&](double cutoff)
    {
      cell_list<float, 3> const cells(m.x.view(), cutoff);
      near_field(simd, k, cells, m.view(), soa{m.q}, out.view());
    };
    EXPECT_NO_THROW(sum(most_cutoff));
    EXPECT_THAT([&] { sum(2.4); }, complains_of("cutoff of the interaction is 2.5", "2.4"));
  }

  TEST(lennard_jones, refuses_matrices_that_make_no_sense)
  {
    using two = lennard_jones<3, 2>;
    lennard_jones_types<2> good{
        .sigma = {1, 2, 2, 1}, .epsilon = {1, 1, 1, 1}, .cutoff = {3, 3, 3, 0}};
    EXPECT_NO_THROW(two{good});
    auto bad = good;
    bad.sigma[1] = 3;
    EXPECT_THAT([&] { two{bad}; }, complains_of("sigma of types 0 and 1 is 3"));
    bad = good;
    bad.cutoff[3] = -1;
    EXPECT_THAT([&] { two{bad}; }, complains_of("cutoff of types 1 and 1 is -1"));
    bad = good;
    bad.switch_from = 1;
    EXPECT_THAT([&] { two{bad}; }, complains_of("switch_from is 1"));
  }
#endif
}
