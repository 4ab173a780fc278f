// Near fields over trees in periodic boxes, against plain sums over the images.

#include "backends.hpp"
#include "p2p/step_cases.hpp"
#include "tree/periodic_cases.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/permutation.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace nearfield::test
{
  namespace
  {
    template <class K, class T>
    void expect_sums(K const& k, std::uint64_t seed)
    {
      constexpr int dim = K::dim;
      periodic_case<T, dim> const c(seed, 150);
      SCOPED_TRACE(testing::Message() << "case " << seed << ", " << c.name());
      auto const q = some_values<T, K::n_in>(c.x.size()), y_q = some_values<T, K::n_in>(c.y.size());
      auto const one = build_tree(c.x.view(), c.options);
      auto const two = build_tree(c.x.view(), c.y.view(), c.options);
      auto const of_one = periodic_reference(k, one, c.x, c.x, q.view());
      auto const of_two = periodic_reference(k, two, c.x, c.y, y_q.view());
      guarded<T, K::n_out> out(c.x.size());
      // a point's image is rounded too
      double const enough = 2 * tolerance<T>;
      auto const with = [&](auto where)
      {
        near_field(where, k, one, c.x.view(), q.view(), out.view());
        EXPECT_LE(error_of(out.view(), of_one), enough);
        near_field(where, k, one, c.x.view(), q.view(), out.view(), {.form = pair_form::mutual});
        EXPECT_LE(error_of(out.view(), of_one), enough) << "mutual";
        near_field(where, k, two, c.x.view(), c.y.view(), y_q.view(), out.view());
        EXPECT_LE(error_of(out.view(), of_two), enough) << "two sets";
      };
      with(scalar);
      with(simd);
    }
  }

  // 200 random clouds.
  TEST(periodic_near_field, is_the_sum_over_all_images_that_touch)
  {
    for (std::uint64_t seed = 0; seed < 50; ++seed)
    {
      expect_sums<one_over_r<3>, double>({}, seed);
      expect_sums<grad_one_over_r<3>, float>({}, seed + 100);
      expect_sums<dipole_tensor<3>, double>({}, seed + 200);
      expect_sums<grad_log_r, double>({}, seed + 300);
      if (::testing::Test::HasFailure()) return;
    }
  }

  // A regular interaction: a point meets its own images, but not itself.
  TEST(periodic_near_field, of_a_single_point_is_that_of_its_images)
  {
    double const x[] = {0.25}, y[] = {1.5}, q[] = {3};
    double out[] = {0}, mutual[] = {0};
    gaussian<2> const k{0.8};
    auto const tree = build_tree(soa{x, y}, {.period = {1, 2}});
    near_field(simd, k, tree, soa{x, y}, soa{q}, soa{out});
    near_field(simd, k, tree, soa{x, y}, soa{q}, soa{mutual}, {.form = pair_form::mutual});
    double sum = 0;
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        if (i != 0 || j != 0) sum += 3 * std::exp(-(i * i + 4. * j * j) / (0.8 * 0.8));
    EXPECT_NEAR(out[0], sum, 1e-14);
    EXPECT_NEAR(mutual[0], sum, 1e-14);
  }

  // Periodic on all axes, every leaf has the same neighbourhood: a lattice of equal charges has equal sums.
  TEST(periodic_near_field, of_a_lattice_is_the_same_everywhere)
  {
    points<double, 3> x;
    for (int i = 0; i < 512; ++i)
      x.push_back({(i % 8 + 0.5) / 8, (i / 8 % 8 + 0.5) / 4, (i / 64 + 0.5) / 8});
    std::vector<double> const q(x.size(), 1.);
    std::vector<double> out(x.size());
    for (tree_options<3> const& options :
         {tree_options<3>{.level = 2, .period = {1, 2, 1}},
          tree_options<3>{.level = 0, .period = {1, 2, 1}},
          tree_options<3>{.max_leaf_size = 8, .period = {1, 2, 1}}})
    {
      near_field(simd, gaussian<3>{0.03}, build_tree(x.view(), options), x.view(), soa{q},
                 soa{out});
      auto const [least, most] = std::ranges::minmax(out);
      EXPECT_GT(least, 0);
      EXPECT_NEAR(most, least, 1e-12 * most);
    }
  }
}
