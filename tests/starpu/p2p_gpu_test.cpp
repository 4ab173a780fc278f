// P2P tasks on handles of the user's own, on GPUs: right-hand sides, and handles of no and of one point.

#include "near_field_cases.hpp"

#include <nearfield/starpu/p2p.hpp>

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::handle;
  using K = val_grad_one_over_r<3>;

  constexpr int n_rhs = 3;

  /// Points with n_rhs right-hand sides, in the layout of handles.
  struct cluster
  {
    points<double, 3> x;
    points<double, n_rhs> q;
    std::vector<double> packed_x, packed_q, packed_out;
    std::array<reference_sums<K::n_out>, n_rhs> expected;
    handle hx, hq, hout;

    cluster(std::size_t n, std::uint64_t seed)
        : x(make_points<double, 3>(cloud::uniform, n, seed)),
          q(make_inputs<double, n_rhs>(n, seed)), packed_out(n * K::n_out * n_rhs, 1.)
    {
      for (auto const& column : x.columns)
        packed_x.insert(packed_x.end(), column.begin(), column.end());
      for (auto const& column : q.columns)
        packed_q.insert(packed_q.end(), column.begin(), column.end());
      hx = handle::of(packed_x.data(), packed_x.size());
      hq = handle::of(packed_q.data(), packed_q.size());
      hout = handle::of(packed_out.data(), packed_out.size());
      points<double, 3> const nobody;
      for (int rhs = 0; rhs < n_rhs; ++rhs)
        expected[rhs] =
            reference(K{}, x.view(), nobody.view(), soa<double const, 1>({nullptr}, 0), all_pairs);
    }

    [[nodiscard]] starpu::box_handles box() const { return {.x = hx, .q = hq, .out = hout}; }

    template <class Meets>
    void expect_from(cluster const& other, Meets&& meets)
    {
      for (int rhs = 0; rhs < n_rhs; ++rhs)
      {
        soa<double const, 1> const charges({other.q.columns[rhs].data()}, other.x.size());
        auto const more = reference(K{}, x.view(), other.x.view(), charges, meets);
        for (int o = 0; o < K::n_out; ++o)
          for (std::size_t i = 0; i < x.size(); ++i)
          {
            expected[rhs].value[o][i] += more.value[o][i];
            expected[rhs].scale[o][i] += more.scale[o][i];
          }
      }
    }

    /// What tasks have added to the outputs, which were 1.
    [[nodiscard]] double error()
    {
      hout = handle(); // brings them here
      double largest = 0;
      for (int rhs = 0; rhs < n_rhs; ++rhs)
      {
        points<double, K::n_out> got;
        for (int o = 0; o < K::n_out; ++o)
        {
          auto const first =
              packed_out.begin() + static_cast<std::ptrdiff_t>((rhs * K::n_out + o) * x.size());
          got.columns[o].assign(first, first + static_cast<std::ptrdiff_t>(x.size()));
        }
        auto sums = expected[rhs];
        add_initial(sums, 1.);
        largest = std::max(largest, error_of(writable(got), sums));
      }
      return largest;
    }
  };

  // none, one, fewer than a warp holds, several tiles
  constexpr std::size_t sizes[] = {0, 1, 20, 700};

  TEST(starpu_p2p_on_gpus, tasks_of_several_right_hand_sides_and_any_size_add_up)
  {
    for (std::size_t const n : sizes)
      for (std::size_t const m : sizes)
      {
        cluster a(n, 1), b(m, 2);
        starpu::p2p<K, double> p2p(K{}, {.backend = cuda});
        p2p.insert_inner(a.box());
        a.expect_from(a, other_points);
        p2p.insert_outer({.x = a.hx, .out = a.hout}, {.x = b.hx, .q = b.hq});
        a.expect_from(b, all_pairs);
        p2p.insert_outer_mutual(a.box(), b.box());
        a.expect_from(b, all_pairs);
        b.expect_from(a, all_pairs);
        ASSERT_NO_THROW(p2p.wait()) << n << " and " << m << " points";
        EXPECT_LE(a.error(), tolerance<double>) << n << " and " << m << " points";
        EXPECT_LE(b.error(), tolerance<double>) << n << " and " << m << " points";
      }
  }
}
