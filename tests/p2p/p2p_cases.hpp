#pragma once

#include "p2p/guarded.hpp"
#include "points.hpp"
#include "reference.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace nearfield::test
{
  /// A case of typed tests: an interaction in a precision.
  template <class K, class T>
  struct p2p_case
  {
    using interaction = K;
    using real = T;
  };

  namespace detail_of_cases
  {
    template <class... Ks>
    auto both_precisions(nearfield::detail::type_list<Ks...>)
        -> ::testing::Types<p2p_case<Ks, float>..., p2p_case<Ks, double>...>;
  }

  /// Each kind of map, radial or not, singular or not; any_interaction_test has all built-in interactions.
  using typed_interactions =
      detail::type_list<one_over_r<2>, one_over_r<3>, grad_one_over_r<2>, grad_one_over_r<3>,
                        val_grad_one_over_r<2>, val_grad_one_over_r<3>, r_over_r3<2>, r_over_r3<3>,
                        log_r, grad_log_r, gaussian<2>, gaussian<3>, dipole_tensor<2>,
                        dipole_tensor<3>>;

  using all_p2p_cases = decltype(detail_of_cases::both_precisions(typed_interactions{}));

  struct p2p_case_names
  {
    template <class Case>
    static std::string GetName(int)
    {
      using K = typename Case::interaction;
      return std::string(K::name) + "_" + std::to_string(K::dim) + "d_" +
             (sizeof(typename Case::real) == 4 ? "f32" : "f64");
    }
  };

  /// K with parameters that suit sets of points a few tenths wide.
  template <class K>
  K example()
  {
    if constexpr (std::is_same_v<K, gaussian<K::dim>>)
      return K{.sigma = 0.2};
    else
      return K{};
  }

  /// n points of a cloud scaled by 1/8, so that no logarithm of a distance is close to zero.
  template <class T, int Dim>
  guarded<T, Dim> some_points(cloud shape, std::size_t n, std::uint64_t seed = 1)
  {
    auto result = guarded<T, Dim>::copy_of(make_points<T, Dim>(shape, n, seed).columns, n);
    for (int d = 0; d < Dim; ++d)
      for (T& coordinate : result.column(d)) coordinate /= 8;
    return result;
  }

  /// The same for an interaction, whose parameters follow: numbers in [0.5, 1.5).
  template <class K, class T>
  guarded<T, detail::point_columns<K>> some_points_of(cloud shape, std::size_t n,
                                                      std::uint64_t seed = 1)
  {
    constexpr int n_x = detail::point_columns<K>;
    auto const points = make_points<T, K::dim>(shape, n, seed);
    std::array<std::vector<T>, n_x> columns;
    for (int c = 0; c < n_x; ++c)
    {
      bool const is_parameter = c >= K::dim;
      columns[c] = is_parameter ? make_values<T>(n, seed + 1000 * static_cast<std::uint64_t>(c))
                                : points.columns[c];
      for (T& x : columns[c]) x = is_parameter ? 1 + x / 2 : x / 8;
    }
    return guarded<T, n_x>::copy_of(columns, n);
  }

  /// N columns of n values in [-1, 1).
  template <class T, int N>
  guarded<T, N> some_values(std::size_t n, std::uint64_t seed = 2)
  {
    std::array<std::vector<T>, N> columns;
    for (int c = 0; c < N; ++c)
      columns[c] = make_values<T>(n, seed + 100 * static_cast<std::uint64_t>(c));
    return guarded<T, N>::copy_of(columns, n);
  }

  /// More sources than one panel holds.
  template <class K, class T>
  inline constexpr std::size_t more_than_a_panel =
      static_cast<std::size_t>(panel_bytes) / ((K::dim + K::n_in + K::n_out) * sizeof(T)) + 5;

  /// The value of outputs before a kernel adds to them.
  template <class T>
  inline constexpr T initial_output = T(0.375);
}
