// Near fields over cell lists and trees in boxes of any shape, against sums over all images within the cutoff, with and
// without excluded pairs.

#include <nearfield/kernels/sph.hpp>

#include "backends.hpp"
#include "exclusions.hpp"
#include "image_pairs.hpp"
#include "p2p/guarded.hpp"
#include "random_cells.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// The sums over the pairs of the definition, in double.
    template <class T, int Dim>
    std::vector<double> sums_of(sph_density<Dim> const& k, image_definition<T, Dim> const& pairs,
                                std::size_t n, std::vector<T> const& q, exclusions const& without)
    {
      std::vector<double> sums(n);
      for (auto const& p : pairs.full())
      {
        if (without.pairs.contains({p.i, p.j})) continue;
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

    /// A box, two clouds and their sums over all images within the cutoff.
    template <class T, int Dim>
    struct any_cell_case
    {
      cell<Dim> box;
      T cutoff;
      points<T, Dim> x, y;
      sph_density<Dim> k;
      std::vector<T> q, y_q;
      exclusions of_points, of_targets;
      std::vector<double> of_one, of_two;
      double enough = 0;

      any_cell_case(random_numbers& random, cell<Dim> const& given, T r, std::size_t most = 16)
          : box(given), cutoff(r), k{.h = r / 2}
      {
        detail::cell_frame<Dim> const frame(box);
        x = points_around<T, Dim>(random, frame, cutoff, 1 + random.below(most));
        y = points_around<T, Dim>(random, frame, cutoff, 1 + random.below(most));
        for (auto* const values : {&q, &y_q})
          for (std::size_t i = 0; i < (values == &q ? x : y).size(); ++i)
            values->push_back(static_cast<T>(random.uniform(1, 2)));
        image_definition<T, Dim> const one(box, x, x, cutoff), two(box, x, y, cutoff);
        if (random.below(2) == 0)
        {
          of_points = {random, x.size(), x.size(), true};
          of_targets = {random, x.size(), y.size(), false};
        }
        of_one = sums_of(k, one, x.size(), q, of_points);
        of_two = sums_of(k, two, x.size(), y_q, of_targets);
        double largest = k.h;
        for (auto const* sums : {&of_one, &of_two})
          for (double const sum : *sums) largest = std::max(largest, sum);
        double const rounding = std::max(one.rounding(), two.rounding()) / k.h;
        enough = 40 * largest * (1e-14 + 1e-5 * (sizeof(T) == 4) + 4 * rounding);
      }

      void expect(std::vector<T> const& out, std::vector<double> const& sums) const
      {
        for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(out[i], sums[i], enough) << i;
      }
      /// Of cell lists or trees.
      void expect_sums(auto const& one, auto const& two) const
      {
        threads pool(2);
        std::vector<T> out(x.size());
        for (auto const form : {pair_form::one_sided, pair_form::mutual})
        {
          SCOPED_TRACE(form == pair_form::mutual ? "mutual" : "one-sided");
          near_field_options const options{
              .form = form, .excluded_offsets = of_points.offsets, .excluded = of_points.sources};
          near_field(simd, k, one, x.view(), soa{q}, soa{out}, options);
          expect(out, of_one);
          near_field(simd.with(pool), k, one, x.view(), soa{q}, soa{out}, options);
          expect(out, of_one);
        }
        near_field(simd, k, two, x.view(), y.view(), soa{y_q}, soa{out}, of_targets.options());
        expect(out, of_two);
      }
    };

    template <class T, int Dim>
    void expect_sums_of_cells(std::uint64_t seed)
    {
      random_numbers random(seed);
      any_cell_case<T, Dim> const c(random, random_cell<Dim>(random, 2), 2);
      c.expect_sums(cell_list<T, Dim>(c.x.view(), c.cutoff, {.cell = c.box}),
                    cell_list<T, Dim>(c.x.view(), c.y.view(), c.cutoff, {.cell = c.box}));
    }

    /// Of trees with leaves at least a cutoff thick.
    template <class T, int Dim>
    void expect_sums_of_trees(std::uint64_t seed)
    {
      random_numbers random(seed);
      auto const box = random_cell<Dim>(random, 2);
      detail::cell_frame<Dim> const frame(box);
      double thinnest = 1e9;
      for (int a = 0; a < Dim; ++a)
        if (frame.periodic[a]) thinnest = std::min(thinnest, frame.thickness[a]);
      if (thinnest == 1e9) return; // no box
      int const level = static_cast<int>(random.below(4));
      any_cell_case<T, Dim> const c(random, box,
                                    static_cast<T>(.999 * std::ldexp(thinnest, -level)));
      tree_options<Dim> const options{.level = level, .cell = box};
      c.expect_sums(build_tree(c.x.view(), options), build_tree(c.x.view(), c.y.view(), options));
    }
  }

  TEST(any_cell_near_field, is_the_sum_over_all_images_within_the_cutoff)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(100); ++seed)
    {
      SCOPED_TRACE(seed);
      expect_sums_of_cells<double, 3>(seed);
      expect_sums_of_cells<double, 2>(seed);
      expect_sums_of_cells<float, 3>(seed);
      expect_sums_of_trees<double, 3>(seed);
      expect_sums_of_trees<double, 2>(seed);
      expect_sums_of_trees<float, 3>(seed);
      if (::testing::Test::HasFailure()) return;
    }
  }

  // Wide panels, and several groups of boxes that meet images of themselves.
  TEST(any_cell_near_field, of_hundreds_of_points_in_a_thin_box)
  {
    cell<3> const thin{.vectors = {{{1.5, 0, 0}, {.4, 30, 0}, {0, 2, 40}}},
                       .periodic = {true, true, true}};
    for (std::uint64_t seed = 0; seed < 4; ++seed)
    {
      random_numbers random(seed);
      any_cell_case<double, 3> const c(random, thin, 2, 700);
      c.expect_sums(cell_list<double, 3>(c.x.view(), c.cutoff, {.cell = c.box}),
                    cell_list<double, 3>(c.x.view(), c.y.view(), c.cutoff, {.cell = c.box}));
    }
  }
}
