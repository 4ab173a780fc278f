// Near fields over cell lists in boxes of any shape, against sums over all images within the cutoff.

#include <nearfield/kernels/sph_density.hpp>

#include "backends.hpp"
#include "image_pairs.hpp"
#include "p2p/guarded.hpp"
#include "random_cells.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// The sums over the pairs of the definition, in double.
    template <class T, int Dim>
    std::vector<double> sums_of(sph_density<Dim> const& k, image_definition<T, Dim> const& pairs,
                                std::size_t n, std::vector<T> const& q)
    {
      std::vector<double> sums(n);
      for (auto const& p : pairs.full())
      {
        double sum = 0;
        for (T const d : pairs.difference(p.i, p.j, p.image)) sum += double(d) * double(d);
        double const x = std::sqrt(sum) / k.h;
        double const value = x < 1   ? 1 - 1.5 * x * x + .75 * x * x * x
                             : x < 2 ? .25 * std::pow(2 - x, 3)
                                     : 0;
        sums[p.i] += value * double(q[p.j]);
      }
      double const pi = std::acos(-1.);
      for (double& sum : sums)
        sum *= Dim == 2 ? 10 / (7 * pi * k.h * k.h) : 1 / (pi * k.h * k.h * k.h);
      return sums;
    }

    template <class T, int Dim>
    void expect_sums(std::uint64_t seed)
    {
      random_numbers random(seed);
      T const cutoff = 2;
      auto const box = random_cell<Dim>(random, cutoff);
      detail::cell_frame<Dim> const frame(box);
      auto const x = points_around<T, Dim>(random, frame, cutoff, 1 + random.below(16));
      auto const y = points_around<T, Dim>(random, frame, cutoff, 1 + random.below(16));
      sph_density<Dim> const k{.h = cutoff / 2};
      std::vector<T> q, y_q, out(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) q.push_back(static_cast<T>(random.uniform(1, 2)));
      for (std::size_t j = 0; j < y.size(); ++j)
        y_q.push_back(static_cast<T>(random.uniform(1, 2)));
      image_definition<T, Dim> const one(box, x, x, cutoff), two(box, x, y, cutoff);
      auto const of_one = sums_of(k, one, x.size(), q), of_two = sums_of(k, two, x.size(), y_q);
      auto const expect = [&](std::vector<double> const& sums, image_definition<T, Dim> const& of)
      {
        double largest = 0;
        for (double const sum : sums) largest = std::max(largest, sum);
        double const enough =
            (1e-14 + 1e-5 * (sizeof(T) == 4) + 4 * of.rounding() / k.h) * 40 * (largest + k.h);
        for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(out[i], sums[i], enough) << i;
      };
      threads pool(2);
      cell_list<T, Dim> const cells(x.view(), cutoff, {.cell = box});
      for (auto const form : {pair_form::one_sided, pair_form::mutual})
      {
        SCOPED_TRACE(form == pair_form::mutual ? "mutual" : "one-sided");
        near_field(simd, k, cells, x.view(), soa{q}, soa{out}, {.form = form});
        expect(of_one, one);
        near_field(simd.with(pool), k, cells, x.view(), soa{q}, soa{out}, {.form = form});
        expect(of_one, one);
      }
      cell_list<T, Dim> const of_both(x.view(), y.view(), cutoff, {.cell = box});
      near_field(simd, k, of_both, x.view(), y.view(), soa{y_q}, soa{out});
      expect(of_two, two);
    }
  }

  TEST(any_cell_near_field, is_the_sum_over_all_images_within_the_cutoff)
  {
    for (std::uint64_t seed = 0; seed < 100; ++seed)
    {
      SCOPED_TRACE(seed);
      expect_sums<double, 3>(seed);
      expect_sums<double, 2>(seed);
      expect_sums<float, 3>(seed);
      if (::testing::Test::HasFailure()) return;
    }
  }
}
