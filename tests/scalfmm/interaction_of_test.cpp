#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/scalfmm.hpp>

#include "p2p/p2p_cases.hpp"
#include "scalfmm/group.hpp"

#include <xsimd/xsimd.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <type_traits>

namespace
{
  /// As a user of ScalFMM writes one: qualified functions of xsimd, points of its own container.
  struct users_val_grad
  {
    static constexpr std::size_t km = 1, kn = 4;
    template <class V>
    using matrix_type = std::array<V, kn * km>;
    template <class V>
    using vector_type = std::array<V, kn>;

    template <class V>
    vector_type<V> mutual_coefficient() const
    {
      return {V(1), V(-1), V(-1), V(-1)};
    }
    template <class V1, class V2>
    auto evaluate(scalfmm::container::point<V1, 3> const& x,
                  scalfmm::container::point<V2, 3> const& y) const noexcept
        -> std::enable_if_t<std::is_same_v<V1, V2>, matrix_type<V1>>
    {
      V1 const dx = x.at(0) - y.at(0), dy = x.at(1) - y.at(1), dz = x.at(2) - y.at(2);
      V1 const inverse = V1(1) / xsimd::sqrt(dx * dx + dy * dy + dz * dz);
      V1 const cube = inverse * inverse * inverse;
      return {inverse, -cube * dx, -cube * dy, -cube * dz};
    }
  };

  /// Two inputs, one output, 2D, regular, no mutual coefficient: K = [x - y | 1].
  struct users_linear
  {
    static constexpr std::size_t km = 2, kn = 1;
    template <class V>
    auto evaluate(scalfmm::container::point<V, 2> const& x,
                  scalfmm::container::point<V, 2> const& y) const noexcept
    {
      return std::array<V, 2>{x.at(0) - y.at(0) + V(factor) * (x.at(1) - y.at(1)), V(1)};
    }
    double factor = 1;
  };

  // --- interaction_of
  template <class V>
  using point3 = scalfmm::container::point<V, 3>;
  using val_grad = nearfield::scalfmm3::interaction_of<users_val_grad, point3>;
  // ---

  template <class V>
  using point2 = scalfmm::container::point<V, 2>;
  using linear = nearfield::scalfmm3::interaction_of<users_linear, point2>;
}

namespace nearfield::test
{
  template <>
  struct formula<val_grad>
  {
    static bool singular(val_grad const&) { return true; }
    static auto at(val_grad const&, long_vector<3> const& r)
    {
      return formula<val_grad_one_over_r<3>>::at({}, r);
    }
  };
  template <>
  struct formula<linear>
  {
    static bool singular(linear const&) { return false; }
    static long_matrix<1, 2> at(linear const& k, long_vector<2> const& r)
    {
      return {{{r[0] + static_cast<long double>(k.kernel.factor) * r[1], 1}}};
    }
  };

  namespace
  {
    static_assert(interaction<val_grad> && detail::has_way_back<val_grad>);
    static_assert(interaction<linear> && !detail::has_way_back<linear>);

    template <class T, class K, class Backend>
    void expect_sums(Backend backend, K const& k)
    {
      EXPECT_EQ(is_singular(k), formula<K>::singular(k));
      for (std::size_t const n : {0, 1, 15, 70})
      {
        SCOPED_TRACE(n);
        auto const x = some_points<T, K::dim>(cloud::coincident, n, 1);
        auto const y = some_points<T, K::dim>(cloud::uniform, 19, 2);
        auto const q = some_values<T, K::n_in>(n, 3);
        auto const y_q = some_values<T, K::n_in>(19, 4);
        auto const inner_sums = reference(k, x.view(), x.view(), q.view(), other_points);
        auto const x_sums = reference(k, x.view(), y.view(), y_q.view(), all_pairs);
        auto const y_sums = reference(k, y.view(), x.view(), q.view(), all_pairs);
        guarded<T, K::n_out> inner(n), outer(n);
        p2p_inner(backend, k, x.view(), q.view(), inner.view());
        p2p_outer(backend, k, x.view(), y.view(), y_q.view(), outer.view());
        EXPECT_LE(error_of(inner.view(), inner_sums), tolerance<T>);
        EXPECT_LE(error_of(outer.view(), x_sums), tolerance<T>);
        if constexpr (detail::has_way_back<K>)
        {
          guarded<T, K::n_out> both(n), x_out(n), y_out(19);
          p2p_inner_mutual(backend, k, x.view(), q.view(), both.view());
          p2p_outer_mutual(backend, k, x.view(), y.view(), q.view(), y_q.view(), x_out.view(),
                           y_out.view());
          EXPECT_LE(error_of(both.view(), inner_sums), tolerance<T>);
          EXPECT_LE(error_of(x_out.view(), x_sums), tolerance<T>);
          EXPECT_LE(error_of(y_out.view(), y_sums), tolerance<T>);
        }
      }
    }
  }

  TEST(interaction_of, matrix_kernel_of_a_user_runs_on_every_back_end)
  {
    expect_sums<float>(scalar, val_grad{});
    expect_sums<double>(scalar, val_grad{});
    expect_sums<float>(simd, val_grad{});
    expect_sums<double>(simd, val_grad{});
  }

  TEST(interaction_of, may_have_parameters_and_no_mutual_coefficient)
  {
    expect_sums<double>(scalar, linear{{.factor = 0.5}});
    expect_sums<double>(simd, linear{{.factor = 0.5}});
  }

  // There and back: the user's own formula, the library's loops, ScalFMM's leaves.
  TEST(interaction_of, becomes_a_matrix_kernel_again)
  {
    scalfmm3::matrix_kernel<val_grad> const mk;
    point3<double> const x{{0.5, 0.25, 1}}, y{{-0.5, 1, 0}};
    EXPECT_EQ(mk.mutual_coefficient<double>(), users_val_grad{}.mutual_coefficient<double>());
    auto const expected_entries = users_val_grad{}.evaluate(x, y);
    auto const entries = mk.evaluate(x, y);
    for (std::size_t n = 0; n < 4; ++n) EXPECT_DOUBLE_EQ(entries[n], expected_entries[n]);

    group<double, 3, 1, 4> g(1);
    p2p_inner(mk, g.leaves[2]);
    auto const sums =
        expected(mk.interaction, g, 2, 0, true, false, [](int, auto&) { return false; });
    EXPECT_LE(error_of(g.outputs<4>(2), sums), tolerance<double>);
  }
}
