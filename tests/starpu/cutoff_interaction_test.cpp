// The fused consumer of a radius search as tasks: a near field over a cell list, of an interaction that is
// zero beyond the cutoff. Compiled for CPU workers, and with NEARFIELD_TEST_CUDA for GPUs.

#include "one_runtime.hpp"
#include "points.hpp"

#include <nearfield/kernels/sph.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace nearfield::test
{
  namespace
  {

    template <class T>
    class starpu_cutoff_interaction : public ::testing::Test
    {};
    using reals = ::testing::Types<float, double>;
    TYPED_TEST_SUITE(starpu_cutoff_interaction, reals);

    /// A lattice in the box [0, side) whose points moved a little: none is near another, or near the cutoff.
    template <class T>
    points<T, 3> fluid(int side)
    {
      random_numbers random(5);
      points<T, 3> x;
      for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j)
          for (int k = 0; k < side; ++k)
            x.push_back({i + random.uniform(0.4, 0.6), j + random.uniform(0.4, 0.6),
                         k + random.uniform(0.4, 0.6)});
      return x;
    }
  }

  namespace
  {
    template <class T>
    void expect_sums_over_pairs(std::array<T, 3> const& period)
    {
      auto const x = fluid<T>(16);
      std::size_t const n = x.size();
      auto const q = make_values<T>(n);
      sph_density<3> k;
      k.h = 1.15;
      cell_list<T, 3> const cells(x.view(), k.cutoff(), {.period = period});

      std::vector<double> expected(n), terms(n);
      radius_search(simd, cells,
                    visit{[&](index_type i, index_type j, T r2)
                          {
                            double const s = std::sqrt(double(r2)) / k.h;
                            double const value =
                                k.at_zero() * (s < 1 ? 1 - 1.5 * s * s + 0.75 * s * s * s
                                                     : 0.25 * std::pow(2 - s, 3));
                            expected[i] += value * double(q[j]);
                            expected[j] += value * double(q[i]);
                            terms[i] += k.at_zero() * std::abs(double(q[j]));
                            terms[j] += k.at_zero() * std::abs(double(q[i]));
                          }});

      auto const groups = group_leaves(cells, {.leaves_per_group = 100});
      ASSERT_GT(groups.size(), 5u);
      for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
      {
        std::vector<T> out(n, T(-7));
        starpu::near_field step{one_runtime(), k,        groups,        x.view(),
                                soa{q},        soa{out}, {.form = form}};
        step.submit();
        step.wait();
        // where x + L is rounded, so is r
        double const eps = double(std::numeric_limits<T>::epsilon()) * (period[0] > 0 ? 10 : 1);
        for (std::size_t i = 0; i < n; ++i)
          ASSERT_NEAR(out[i], expected[i], 100 * eps * terms[i]) << i << ", form " << int(form);
#if defined(NEARFIELD_TEST_CUDA)
        EXPECT_THAT(step.statistics(),
                    testing::Each(testing::Field(&starpu::monitor::worker_tasks::implementation,
                                                 std::string("cuda"))));
#endif
      }
    }
  }

  // All points are inside when the groups are made; update() finds some that were wrapped.
  TYPED_TEST(starpu_cutoff_interaction, follows_points_that_are_wrapped)
  {
    using T = TypeParam;
    auto x = fluid<T>(8);
    std::size_t const n = x.size();
    auto const q = make_values<T>(n);
    sph_density<3> k;
    k.h = 1.15;
    T const length = 8;
    for (T& at : x.columns[0]) at -= T(0.4); // the least is just above 0
    cell_list<T, 3> cells(x.view(), k.cutoff(), {.period = {length, length, length}, .skin = 0.4});
    auto const groups = group_leaves(cells, {.leaves_per_group = 100});
    std::vector<T> out(n), expected(n);
    starpu::near_field step{one_runtime(), k, groups, x.view(), soa{q}, soa{out}};
    step.submit();
    step.wait();
    for (T& at : x.columns[0])
    {
      at -= T(0.1);
      if (at < 0) at += length;
    }
    ASSERT_FALSE(cells.update(x.view()));
    step.positions_changed();
    step.submit();
    step.wait();
    near_field(scalar, k, cells, x.view(), soa{q}, soa{expected});
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_NEAR(out[i], expected[i],
                  1e4 * std::numeric_limits<T>::epsilon() * (1 + std::abs(expected[i])))
          << i;
  }

  TYPED_TEST(starpu_cutoff_interaction, sums_over_the_pairs_of_a_radius_search)
  {
    expect_sums_over_pairs<TypeParam>({});
    expect_sums_over_pairs<TypeParam>({16, 0, 16});
  }
}
