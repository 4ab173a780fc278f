#include <nearfield/p2p/simd.hpp>
#include <nearfield/tbfmm.hpp>

#include "complains_of.hpp"
#include "p2p/own_formulas.hpp"
#include "p2p/p2p_cases.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace nearfield::test
{
  namespace
  {
    /// The far field of a kernel class of TBFMM, whose P2P must not be called.
    struct far_field
    {
      struct SpaceIndexType
      {
        static constexpr bool IsPeriodic = false;
      };
      explicit far_field(int order_of_expansion) : order(order_of_expansion) {}
      void P2P() const { FAIL(); }
      int order;
    };
    struct leaf_data
    {};

    template <class T, int N, class Guarded>
    std::array<T const*, N> data_of(Guarded const& x, auto const& q)
    {
      std::array<T const*, N> data;
      constexpr int dim = decltype(x.view())::n_columns;
      for (int c = 0; c < N; ++c) data[c] = c < dim ? x.view()[c] : q.view()[c - dim];
      return data;
    }
    template <class T, int N>
    std::array<T*, N> results_of(guarded<T, N>& out)
    {
      std::array<T*, N> data;
      for (int c = 0; c < N; ++c) data[c] = out.view()[c];
      return data;
    }

    template <class T, class K>
    void expect_three_ways(K const& k)
    {
      constexpr int n_data = K::dim + K::n_in;
      tbfmm::kernel<far_field, K> const kernel(k, 7);
      EXPECT_EQ(kernel.order, 7);
      leaf_data const leaf;
      for (std::size_t const n : {0, 1, 33})
      {
        std::size_t const m = 19;
        auto const x = some_points<T, K::dim>(cloud::uniform, n, 1);
        auto const y = some_points<T, K::dim>(cloud::uniform, m, 2);
        auto const q = some_values<T, K::n_in>(n, 3);
        auto const y_q = some_values<T, K::n_in>(m, 4);
        auto const targets = data_of<T, n_data>(x, q), sources = data_of<T, n_data>(y, y_q);
        auto const count = static_cast<long>(n), sources_count = static_cast<long>(m);

        guarded<T, K::n_out> inner(n), one_way_out(n), x_out(n), y_out(m);
        auto inner_rhs = results_of(inner), one_way_rhs = results_of(one_way_out);
        auto x_rhs = results_of(x_out), y_rhs = results_of(y_out);
        kernel.P2PInner(leaf, nullptr, targets, inner_rhs, count);
        kernel.P2PTsm(leaf, nullptr, sources, sources_count, leaf, nullptr, targets, one_way_rhs,
                      count, 13L);
        kernel.P2P(leaf, nullptr, sources, y_rhs, sources_count, leaf, nullptr, targets, x_rhs,
                   count);
        auto const x_sums = reference(k, x.view(), y.view(), y_q.view(), all_pairs);
        auto const y_sums = reference(k, y.view(), x.view(), q.view(), all_pairs);
        auto const own_sums = reference(k, x.view(), x.view(), q.view(), other_points);
        EXPECT_LE(error_of(inner.view(), own_sums), tolerance<T>);
        EXPECT_LE(error_of(one_way_out.view(), x_sums), tolerance<T>);
        EXPECT_LE(error_of(x_out.view(), x_sums), tolerance<T>);
        EXPECT_LE(error_of(y_out.view(), y_sums), tolerance<T>);
        EXPECT_TRUE(inner.is_intact() && x_out.is_intact() && y_out.is_intact());
      }
    }
  }

  TEST(tbfmm, p2p_of_a_kernel_class_adds_the_outputs_in_order)
  {
    expect_three_ways<double>(val_grad_one_over_r<3>{});
    expect_three_ways<float>(gaussian<2>{.sigma = 0.2});
    expect_three_ways<double>(dipole_tensor<3>{});
    expect_three_ways<double>(one_way{});
  }

  // TBFMM's own: fx, fy, fz = q_i grad_i, then the potential.
  TEST(tbfmm, results_may_be_the_force_and_the_potential_of_its_own_kernels)
  {
    tbfmm::kernel<far_field, val_grad_one_over_r<3>, tbfmm::results::force_then_value> const kernel(
        3);
    auto const x = some_points<double, 3>(cloud::uniform, 40, 1);
    auto const q = some_values<double, 1>(40, 3);
    auto const data = data_of<double, 4>(x, q);
    guarded<double, 4> out(40);
    for (double& value : out.column(3)) value = 0.375;
    auto rhs = results_of(out);
    kernel.P2PInner(leaf_data{}, nullptr, data, rhs, 40);
    auto sums = reference(val_grad_one_over_r<3>{}, x.view(), x.view(), q.view(), other_points);
    reference_sums<4> held;
    for (int d = 0; d < 3; ++d)
    {
      held.value[d] = sums.value[1 + d];
      held.scale[d] = sums.scale[1 + d];
      for (std::size_t i = 0; i < 40; ++i)
      {
        held.value[d][i] *= static_cast<long double>(q.view()[0][i]);
        held.scale[d][i] *= std::abs(static_cast<long double>(q.view()[0][i]));
      }
    }
    held.value[3] = sums.value[0], held.scale[3] = sums.scale[0];
    for (std::size_t i = 0; i < 40; ++i) held.value[3][i] += 0.375L, held.scale[3][i] += 0.375L;
    EXPECT_LE(error_of(out.view(), held), tolerance<double>);

    rhs[1] = nullptr;
    EXPECT_THAT([&] { kernel.P2PInner(leaf_data{}, nullptr, data, rhs, 40); },
                complains_of("column 1 is null", "40 values"));
  }

  TEST(tbfmm, null_columns_are_refused)
  {
    tbfmm::kernel<far_field, one_over_r<2>> const kernel(3);
    std::array<double, 2> values{};
    std::array<double const*, 3> const data{values.data(), nullptr, values.data()};
    std::array<double*, 1> rhs{values.data()};
    EXPECT_THAT([&] { kernel.P2PInner(leaf_data{}, nullptr, data, rhs, 2); },
                complains_of("x", "column 1 is null"));
  }
}
