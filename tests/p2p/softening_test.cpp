#include "backends.hpp"
#include "points.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// Every size leaves other lanes of the last pack empty, and those must not reach a result.
    template <class K>
    void expect_finite_in_f32(K const& k)
    {
      for (auto const& backend : tested_backends())
        for (std::size_t n = 1; n < 40; ++n)
        {
          auto const x = make_points<float, 3>(cloud::uniform, n);
          std::vector<float> const q(n, 1.F);
          std::array<std::vector<float>, K::n_out> out;
          std::array<float*, K::n_out> columns;
          for (int o = 0; o < K::n_out; ++o)
          {
            out[o].assign(n, 0.F);
            columns[o] = out[o].data();
          }
          backend.run([&](auto where)
                      { p2p_inner(where, k, x.view(), soa{q}, soa<float, K::n_out>{columns, n}); });
          for (auto const& column : out)
            for (float const value : column)
              ASSERT_TRUE(std::isfinite(value)) << backend << ", " << n << " points";
        }
    }

    TEST(softening, that_a_float_cannot_hold_is_singular)
    {
      // K(0) = eps^-3 is a double, and no float
      r_over_r3<3> const softened{.eps = 1e-13};
      EXPECT_FALSE(is_singular<double>(gaussian<3>{}));
      EXPECT_TRUE(is_singular<float>(r_over_r3<3>{}));
      expect_finite_in_f32(softened);
    }

    TEST(softening, narrow_gaussians_are_finite)
    {
      expect_finite_in_f32(gaussian<3>{.sigma = 1e-20});
    }

    TEST(near_field, of_moved_points_tests_the_ranges_when_told_to)
    {
      // two boxes that hold a point each, at one place
      std::vector<double> const x{1, 1}, y{2, 2}, q{1, 1};
      std::vector<index_type> const offsets{0, 1, 2}, list_offsets{0, 1, 2};
      std::vector<interaction_list::range> const own{{0, 1}, {1, 2}}, ranges{{1, 2}, {0, 1}};
      for (auto const& backend : tested_backends())
      {
        std::vector<double> out{5, 5};
        backend.run(
            [&](auto where)
            {
              near_field(where, one_over_r<2>{}, boxes{offsets},
                         interaction_list{own, list_offsets, ranges, {}}, soa{x, y}, soa{q},
                         soa{out}, {.ranges_may_coincide = true});
            });
        EXPECT_EQ(out, (std::vector<double>{0, 0})) << backend;
      }
    }

    TEST(near_field, refuses_offsets_and_own_ranges_that_do_not_fit)
    {
      std::vector<double> const x{1, 2}, y{2, 2}, q{1, 1};
      std::vector<double> out{0, 0};
      std::vector<index_type> const good{0, 1, 2}, past{0, 1, 3}, down{0, 3, 2};
      std::vector<interaction_list::range> const own{{0, 1}, {1, 2}}, swapped{{1, 2}, {0, 1}};
      std::vector<interaction_list::range> const ranges{{1, 2}, {0, 1}};
      auto const step = [&](std::vector<index_type> const& points,
                            std::vector<interaction_list::range> const& mine,
                            std::vector<index_type> const& list)
      {
        near_field(scalar, one_over_r<2>{}, boxes{points}, interaction_list{mine, list, ranges, {}},
                   soa{x, y}, soa{q}, soa{out});
      };
      EXPECT_NO_THROW(step(good, own, good));
      EXPECT_THROW(step(good, own, past), error);
      EXPECT_THROW(step(good, own, down), error);
      EXPECT_THROW(step(down, own, good), error);
      EXPECT_THROW(step(good, swapped, good), error);
    }
  }
}
