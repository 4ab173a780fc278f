#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/kernels/builtin.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

/// \file
/// What every computed sum is held against: a plain loop with a wider accumulator, over formulas that
/// are written here from the mathematics and share nothing with the library's.

namespace nearfield::test
{
  template <int Dim>
  using long_vector = std::array<long double, Dim>;

  /// entries[o][i] = K_oi
  template <int NOut, int NIn>
  using long_matrix = std::array<std::array<long double, NIn>, NOut>;

  template <std::size_t Dim>
  long double norm(std::array<long double, Dim> const& r)
  {
    long double sum = 0;
    for (long double const component : r) sum += component * component;
    return std::sqrt(sum);
  }

  /// The formula of K: `at(k, r)`, or `at(k, r, target, source)` with the parameters of both, for r != 0 where K is
  /// singular, and `singular(k)`. A user's own interaction specialises it.
  template <class K>
  struct formula;

  template <int Dim>
  struct formula<one_over_r<Dim>>
  {
    static bool singular(one_over_r<Dim>) { return true; }
    static long_matrix<1, 1> at(one_over_r<Dim>, long_vector<Dim> const& r)
    {
      return {{{1 / norm(r)}}};
    }
  };

  template <int Dim>
  struct formula<grad_one_over_r<Dim>>
  {
    static bool singular(grad_one_over_r<Dim>) { return true; }
    static long_matrix<Dim, 1> at(grad_one_over_r<Dim>, long_vector<Dim> const& r)
    {
      long double const d = norm(r);
      long_matrix<Dim, 1> k;
      for (int o = 0; o < Dim; ++o) k[o][0] = -r[o] / (d * d * d);
      return k;
    }
  };

  template <int Dim>
  struct formula<val_grad_one_over_r<Dim>>
  {
    static bool singular(val_grad_one_over_r<Dim>) { return true; }
    static long_matrix<1 + Dim, 1> at(val_grad_one_over_r<Dim>, long_vector<Dim> const& r)
    {
      long double const d = norm(r);
      long_matrix<1 + Dim, 1> k;
      k[0][0] = 1 / d;
      for (int o = 0; o < Dim; ++o) k[1 + o][0] = -r[o] / (d * d * d);
      return k;
    }
  };

  template <int Dim>
  struct formula<r_over_r3<Dim>>
  {
    static bool singular(r_over_r3<Dim> const& k) { return k.eps == 0; }
    static long_matrix<Dim, 1> at(r_over_r3<Dim> const& k, long_vector<Dim> const& r)
    {
      long double const eps = k.eps;
      long double const d2 = norm(r) * norm(r) + eps * eps;
      long_matrix<Dim, 1> result;
      for (int o = 0; o < Dim; ++o) result[o][0] = r[o] / (d2 * std::sqrt(d2));
      return result;
    }
  };

  template <>
  struct formula<log_r>
  {
    static bool singular(log_r) { return true; }
    static long_matrix<1, 1> at(log_r, long_vector<2> const& r) { return {{{std::log(norm(r))}}}; }
  };

  template <>
  struct formula<grad_log_r>
  {
    static bool singular(grad_log_r) { return true; }
    static long_matrix<2, 1> at(grad_log_r, long_vector<2> const& r)
    {
      long double const d = norm(r);
      return {{{r[0] / (d * d)}, {r[1] / (d * d)}}};
    }
  };

  template <int Dim>
  struct formula<gaussian<Dim>>
  {
    static bool singular(gaussian<Dim> const&) { return false; }
    static long_matrix<1, 1> at(gaussian<Dim> const& k, long_vector<Dim> const& r)
    {
      long double const ratio = norm(r) / static_cast<long double>(k.sigma);
      return {{{std::exp(-ratio * ratio)}}};
    }
  };

  template <int Dim>
  struct formula<dipole_tensor<Dim>>
  {
    static bool singular(dipole_tensor<Dim>) { return true; }
    static long_matrix<Dim, Dim> at(dipole_tensor<Dim>, long_vector<Dim> const& r)
    {
      long double const d = norm(r);
      long_matrix<Dim, Dim> k;
      for (int o = 0; o < Dim; ++o)
        for (int i = 0; i < Dim; ++i)
          k[o][i] = (3 * (r[o] / d) * (r[i] / d) - (o == i ? 1 : 0)) / (d * d * d);
      return k;
    }
  };

  /// value = sum_j K_ij q_j, and scale = sum_j |K_ij| |q_j| that errors are measured by.
  template <int NOut>
  struct reference_sums
  {
    std::array<std::vector<long double>, NOut> value, scale;
  };

  /// The sums over the pairs for which meets(i, j). A pair at distance zero contributes zero to a
  /// singular interaction.
  template <class K, class X, class Y, class Q, class Meets>
  auto reference(K const& k, soa<X, detail::point_columns<K>> const& targets,
                 soa<Y, detail::point_columns<K>> const& sources, soa<Q, K::n_in> const& q,
                 Meets&& meets)
  {
    constexpr int n_parameters = detail::parameters_of<K>;
    auto const map_at = [&](long_vector<K::dim> const& r, std::size_t i, std::size_t j)
    {
      if constexpr (n_parameters == 0)
        return formula<K>::at(k, r);
      else
      {
        long_vector<n_parameters> of_target, of_source;
        for (int p = 0; p < n_parameters; ++p)
        {
          of_target[p] = static_cast<long double>(targets[K::dim + p][i]);
          of_source[p] = static_cast<long double>(sources[K::dim + p][j]);
        }
        return formula<K>::at(k, r, of_target, of_source);
      }
    };
    reference_sums<K::n_out> sums;
    bool const singular = formula<K>::singular(k);
    for (int o = 0; o < K::n_out; ++o)
    {
      sums.value[o].assign(targets.size(), 0);
      sums.scale[o].assign(targets.size(), 0);
    }
    for (std::size_t i = 0; i < targets.size(); ++i)
      for (std::size_t j = 0; j < sources.size(); ++j)
      {
        if (!meets(i, j)) continue;
        long_vector<K::dim> r;
        bool apart = false;
        for (int d = 0; d < K::dim; ++d)
        {
          r[d] = static_cast<long double>(targets[d][i]) - static_cast<long double>(sources[d][j]);
          apart = apart || r[d] != 0;
        }
        if (singular && !apart) continue;
        auto const map = map_at(r, i, j);
        for (int o = 0; o < K::n_out; ++o)
          for (int c = 0; c < K::n_in; ++c)
          {
            long double const term = map[o][c] * static_cast<long double>(q[c][j]);
            sums.value[o][i] += term;
            sums.scale[o][i] += std::abs(term);
          }
      }
    return sums;
  }

  /// Every i meets every j.
  inline constexpr auto all_pairs = [](std::size_t, std::size_t)
  {
    return true;
  };
  /// Every i meets every other.
  inline constexpr auto other_points = [](std::size_t i, std::size_t j)
  {
    return i != j;
  };

  /// What the outputs held before counts as one more term of each sum.
  template <class T, int NOut>
  void add_initial(reference_sums<NOut>& sums, T initial)
  {
    for (int o = 0; o < NOut; ++o)
      for (std::size_t i = 0; i < sums.value[o].size(); ++i)
      {
        sums.value[o][i] += static_cast<long double>(initial);
        sums.scale[o][i] += std::abs(static_cast<long double>(initial));
      }
  }

  /// max over targets and components of |got - reference| / scale: infinite where a sum without terms
  /// is not zero, or where got is not a number.
  template <class T, int NOut>
  double error_of(soa<T, NOut> const& got, reference_sums<NOut> const& sums)
  {
    long double worst = 0;
    for (int o = 0; o < NOut; ++o)
      for (std::size_t i = 0; i < got.size(); ++i)
      {
        long double const distance =
            std::abs(static_cast<long double>(got[o][i]) - sums.value[o][i]);
        long double const ratio = distance == 0 ? 0 : distance / sums.scale[o][i];
        if (!(ratio <= worst))
          worst = std::isnan(ratio) ? std::numeric_limits<long double>::infinity() : ratio;
      }
    return static_cast<double>(worst);
  }

  /// The error that a sum may have, of the precision T.
  template <class T>
  inline constexpr double tolerance = std::is_same_v<T, float> ? 2e-6 : 1e-13;
}
