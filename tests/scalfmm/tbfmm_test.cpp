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

  namespace
  {
    /// fx, fy, fz = q_i grad_i, then the potential, each beside the initial 0.375.
    template <class Q>
    reference_sums<4> as_held(reference_sums<4> const& sums, Q const& q)
    {
      reference_sums<4> held;
      for (int c = 0; c < 4; ++c)
      {
        int const output = (c + 1) % 4;
        for (std::size_t i = 0; i < q.size(); ++i)
        {
          long double const factor = output == 0 ? 1 : q[0][i];
          held.value[c].push_back(factor * sums.value[output][i] + 0.375L);
          held.scale[c].push_back(std::abs(factor) * sums.scale[output][i] + 0.375L);
        }
      }
      return held;
    }
    guarded<double, 4> initial_results(std::size_t n)
    {
      guarded<double, 4> out(n);
      for (int c = 0; c < 4; ++c)
        for (double& value : out.column(c)) value = 0.375;
      return out;
    }
  }

  TEST(tbfmm, results_may_be_the_force_and_the_potential_of_its_own_kernels)
  {
    using K = val_grad_one_over_r<3>;
    tbfmm::kernel<far_field, K, tbfmm::results::force_then_value> const kernel(3);
    leaf_data const leaf;
    auto const x = some_points<double, 3>(cloud::uniform, 40, 1);
    auto const y = some_points<double, 3>(cloud::uniform, 19, 2);
    auto const q = some_values<double, 1>(40, 3), y_q = some_values<double, 1>(19, 4);
    auto const data = data_of<double, 4>(x, q), sources = data_of<double, 4>(y, y_q);
    auto inner = initial_results(40), one_way = initial_results(40);
    auto x_out = initial_results(40), y_out = initial_results(19);
    auto inner_rhs = results_of(inner), one_way_rhs = results_of(one_way);
    auto x_rhs = results_of(x_out), y_rhs = results_of(y_out);
    kernel.P2PInner(leaf, nullptr, data, inner_rhs, 40);
    kernel.P2PTsm(leaf, nullptr, sources, 19, leaf, nullptr, data, one_way_rhs, 40);
    kernel.P2P(leaf, nullptr, sources, y_rhs, 19, leaf, nullptr, data, x_rhs, 40);
    auto const x_sums = reference(K{}, x.view(), y.view(), y_q.view(), all_pairs);
    auto const y_sums = reference(K{}, y.view(), x.view(), q.view(), all_pairs);
    auto const own_sums = reference(K{}, x.view(), x.view(), q.view(), other_points);
    EXPECT_LE(error_of(inner.view(), as_held(own_sums, q.view())), tolerance<double>);
    EXPECT_LE(error_of(one_way.view(), as_held(x_sums, q.view())), tolerance<double>);
    EXPECT_LE(error_of(x_out.view(), as_held(x_sums, q.view())), tolerance<double>);
    EXPECT_LE(error_of(y_out.view(), as_held(y_sums, y_q.view())), tolerance<double>);
    EXPECT_TRUE(inner.is_intact() && one_way.is_intact() && x_out.is_intact() && y_out.is_intact());

    inner_rhs[1] = nullptr;
    EXPECT_THAT([&] { kernel.P2PInner(leaf, nullptr, data, inner_rhs, 40); },
                complains_of("column 1 is null", "40 values"));
  }

  namespace
  {
    template <class K, tbfmm::results Results>
    void expect_own_neighbour_is_refused()
    {
      tbfmm::kernel<far_field, K, Results> const kernel(3);
      auto const x = some_points<double, K::dim>(cloud::uniform, 5, 1);
      auto const q = some_values<double, K::n_in>(5, 3);
      auto const data = data_of<double, K::dim + K::n_in>(x, q);
      guarded<double, K::n_out> out(5);
      auto rhs = results_of(out);
      leaf_data const leaf;
      EXPECT_THAT([&] { kernel.P2P(leaf, nullptr, data, rhs, 5, leaf, nullptr, data, rhs, 5); },
                  complains_of("P2P", "overlaps column 0 of the neighbour's results"));
    }
  }

  TEST(tbfmm, a_leaf_that_is_its_own_neighbour_is_refused)
  {
    using tbfmm::results;
    expect_own_neighbour_is_refused<val_grad_one_over_r<3>, results::in_order>();
    expect_own_neighbour_is_refused<val_grad_one_over_r<3>, results::force_then_value>();
    expect_own_neighbour_is_refused<one_way, results::in_order>(); // two one-sided calls
  }

  namespace
  {
    /// A far field in a periodic space of 4 leaves an axis; the box is 4 x 8 or 4 x 8 x 12.
    template <long D>
    struct periodic_far_field
    {
      struct configuration
      {
        [[nodiscard]] std::array<double, 3> getBoxWidths() const { return {4, 8, 12}; }
      };
      struct SpaceIndexType
      {
        static constexpr bool IsPeriodic = true;
        static constexpr long Dim = D;
        explicit SpaceIndexType(configuration const&) {}
        [[nodiscard]] configuration getConfiguration() const { return {}; }
        [[nodiscard]] long getBoxLimitAtLeafLevel() const { return 4; }
        [[nodiscard]] std::array<long, D> getRelativePosFromNeighborIndex(long at) const
        {
          std::array<long, D> place;
          for (long d = D; d-- > 0; at /= 3) place[std::size_t(d)] = at % 3 - 1;
          return place;
        }
      };
      explicit periodic_far_field(configuration const&, int order_of_expansion = 0)
          : order(order_of_expansion)
      {}
      int order;
    };
    template <class K>
    using periodic_kernel = tbfmm::kernel<periodic_far_field<K::dim>, K>;
    struct placed_leaf
    {
      std::array<long, 3> boxCoord;
    };

    template <class K>
    void expect_images(K const& k, periodic_kernel<K> const& kernel)
    {
      std::size_t const n = 21, m = 18;
      auto const x = some_points<double, K::dim>(cloud::uniform, n, 1);
      auto const y = some_points<double, K::dim>(cloud::uniform, m, 2);
      auto const q = some_values<double, K::n_in>(n, 3), y_q = some_values<double, K::n_in>(m, 4);
      auto const targets = data_of<double, K::dim + K::n_in>(x, q);
      auto const sources = data_of<double, K::dim + K::n_in>(y, y_q);
      struct
      {
        std::array<long, 3> at, place;
        std::array<double, 3> shift;
      } const cases[] = {{{0, 3, 1}, {-1, 1, 1}, {-4, 8, 0}},
                         {{3, 0, 3}, {0, -1, 1}, {0, -8, 12}},
                         {{1, 2, 2}, {-1, 1, 1}, {0, 0, 0}}};
      for (auto const& [at, place, shift] : cases)
      {
        auto moved = some_points<double, K::dim>(cloud::uniform, m, 2);
        long position = 0;
        for (int d = 0; d < K::dim; ++d)
        {
          position = 3 * position + place[d] + 1;
          for (double& value : moved.column(d)) value += shift[d];
        }
        placed_leaf const target{at}, source{};
        guarded<double, K::n_out> one_way_out(n), x_out(n), y_out(m);
        auto one_way_rhs = results_of(one_way_out), x_rhs = results_of(x_out);
        auto y_rhs = results_of(y_out);
        kernel.P2PTsm(source, nullptr, sources, long(m), target, nullptr, targets, one_way_rhs,
                      long(n), position);
        kernel.P2P(source, nullptr, sources, y_rhs, long(m), target, nullptr, targets, x_rhs,
                   long(n), position);
        auto const x_sums = reference(k, x.view(), moved.view(), y_q.view(), all_pairs);
        auto const y_sums = reference(k, moved.view(), x.view(), q.view(), all_pairs);
        EXPECT_LE(error_of(one_way_out.view(), x_sums), tolerance<double>);
        EXPECT_LE(error_of(x_out.view(), x_sums), tolerance<double>);
        EXPECT_LE(error_of(y_out.view(), y_sums), tolerance<double>);
      }
    }
  }

  TEST(tbfmm, neighbours_in_a_periodic_space_are_met_at_their_images)
  {
    periodic_kernel<val_grad_one_over_r<3>> const kernel(periodic_far_field<3>::configuration{}, 5);
    auto const copy = kernel; // TBFMM copies one for each worker
    EXPECT_EQ(copy.order, 5);
    expect_images(val_grad_one_over_r<3>{}, copy);
    expect_images(one_way{},
                  periodic_kernel<one_way>(one_way{}, periodic_far_field<2>::configuration{}));
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
