#pragma once

#include "points.hpp"
#include "reference.hpp"

#include <nearfield/kernels/stokes.hpp>
#include <nearfield/kernels/vortex.hpp>
#include <nearfield/simd/pack.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

/// \file
/// What the interactions of flows are, in long double, and what pairs of them are held against it. Gradients are
/// differences of velocities of eighth order, so they share nothing with the library's.

namespace nearfield::test
{
  /// The parameters of a point, and the formula at a pair, for interactions with and without.
  template <class K>
  using long_parameters = long_vector<detail::parameters_of<K>>;
  template <class K>
  auto formula_of_pair(long_vector<K::dim> const& r, long_parameters<K> const& target,
                       long_parameters<K> const& source)
  {
    if constexpr (detail::parameters_of<K> > 0)
      return formula<K>::at(K{}, r, target, source);
    else
      return formula<K>::at(K{}, r);
  }

  /// f(r + s e) for s around 0, differentiated there: `f` gives matrices, e has any length.
  template <class F, std::size_t Dim>
  auto along(F const& f, std::array<long double, Dim> const& r,
             std::array<long double, Dim> const& e, long double step)
  {
    static constexpr long double weight[] = {4 / 5.L, -1 / 5.L, 4 / 105.L, -1 / 280.L};
    decltype(f(r)) sum{};
    for (int n = 1; n <= 4; ++n)
    {
      auto after = r, before = r;
      for (std::size_t d = 0; d < Dim; ++d)
      {
        after[d] += n * step * e[d];
        before[d] -= n * step * e[d];
      }
      auto const a = f(after), b = f(before);
      for (std::size_t o = 0; o < a.size(); ++o)
        for (std::size_t i = 0; i < a[o].size(); ++i)
          sum[o][i] += weight[n - 1] * (a[o][i] - b[o][i]) / step;
    }
    return sum;
  }

  /// Rows 3 i + j: the derivative of row i of a velocity along axis j.
  template <class F>
  long_matrix<9, 3> gradient(F const& velocity, long_vector<3> const& r, long double length)
  {
    long_matrix<9, 3> result;
    for (int j = 0; j < 3; ++j)
    {
      long_vector<3> axis{};
      axis[j] = 1;
      auto const derivative = along(velocity, r, axis, 2e-3L * length);
      for (int i = 0; i < 3; ++i) result[3 * i + j] = derivative[i];
    }
    return result;
  }

  inline long double product(long_vector<3> const& a, long_vector<3> const& b)
  {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }

  /// The matrix of q -> q x r.
  inline long_matrix<3, 3> cross_matrix(long double g, long_vector<3> const& r)
  {
    return {{{0, g * r[2], -g * r[1]}, {-g * r[2], 0, g * r[0]}, {g * r[1], -g * r[0], 0}}};
  }

  /// A velocity and its derivative along alpha.
  template <class F>
  long_matrix<6, 3> with_stretching(F const& velocity, long_vector<3> const& r,
                                    long_vector<3> const& alpha, long double length)
  {
    auto const u = velocity(r);
    auto const s = along(velocity, r, alpha, 2e-3L * length / std::sqrt(product(alpha, alpha)));
    return {u[0], u[1], u[2], s[0], s[1], s[2]};
  }

  template <>
  struct formula<stokeslet>
  {
    static bool singular(stokeslet) { return true; }
    static long_matrix<3, 3> at(stokeslet, long_vector<3> const& r)
    {
      long double const d = norm(r);
      long_matrix<3, 3> k;
      for (int o = 0; o < 3; ++o)
        for (int i = 0; i < 3; ++i) k[o][i] = (o == i ? 1 / d : 0) + r[o] / d * (r[i] / d) / d;
      return k;
    }
  };

  template <>
  struct formula<stokeslet_pressure>
  {
    static bool singular(stokeslet_pressure) { return true; }
    static long_matrix<4, 3> at(stokeslet_pressure, long_vector<3> const& r)
    {
      long double const d = norm(r);
      auto const u = formula<stokeslet>::at({}, r);
      return {u[0], u[1], u[2], {2 * r[0] / d / d / d, 2 * r[1] / d / d / d, 2 * r[2] / d / d / d}};
    }
  };

  template <>
  struct formula<grad_stokeslet>
  {
    static bool singular(grad_stokeslet) { return true; }
    static long_matrix<9, 3> at(grad_stokeslet, long_vector<3> const& r)
    {
      return gradient([](auto const& x) { return formula<stokeslet>::at({}, x); }, r, norm(r));
    }
  };

  template <>
  struct formula<stresslet>
  {
    static bool singular(stresslet) { return true; }
    static long_matrix<3, 3> at(stresslet, long_vector<3> const& r, long_vector<3> const&,
                                long_vector<3> const& normal)
    {
      long double const d = norm(r), c = -6 * (product(r, normal) / d) / (d * d);
      long_matrix<3, 3> k;
      for (int o = 0; o < 3; ++o)
        for (int i = 0; i < 3; ++i) k[o][i] = c * (r[o] / d) * (r[i] / d);
      return k;
    }
  };

  template <>
  struct formula<stresslet_pressure>
  {
    static bool singular(stresslet_pressure) { return true; }
    static long_matrix<4, 3> at(stresslet_pressure, long_vector<3> const& r,
                                long_vector<3> const& target, long_vector<3> const& normal)
    {
      long double const d = norm(r), d3 = d * d * d, along_normal = product(r, normal) / d;
      auto const u = formula<stresslet>::at({}, r, target, normal);
      long_vector<3> p;
      for (int i = 0; i < 3; ++i) p[i] = (4 * normal[i] - 12 * (r[i] / d) * along_normal) / d3;
      return {u[0], u[1], u[2], p};
    }
  };

  template <class K>
    requires std::is_base_of_v<biot_savart, K>
  struct formula<K>
  {
    static bool singular(K) { return true; }
    static long_matrix<3, 3> at(K, long_vector<3> const& r)
    {
      long double const d = norm(r);
      return cross_matrix(1 / d / d / d, r);
    }
  };

  template <>
  struct formula<grad_biot_savart>
  {
    static bool singular(grad_biot_savart) { return true; }
    static long_matrix<9, 3> at(grad_biot_savart, long_vector<3> const& r)
    {
      return gradient([](auto const& x) { return formula<biot_savart>::at({}, x); }, r, norm(r));
    }
  };

  template <>
  struct formula<biot_savart_stretching>
  {
    static bool singular(biot_savart_stretching) { return true; }
    static long_matrix<6, 3> at(biot_savart_stretching, long_vector<3> const& r,
                                long_vector<3> const& alpha, long_vector<3> const&)
    {
      return with_stretching([](auto const& x) { return formula<biot_savart>::at({}, x); }, r,
                             alpha, norm(r));
    }
  };

  template <>
  struct formula<regularised_stokeslet>
  {
    static bool singular(regularised_stokeslet) { return false; }
    static long_matrix<3, 3> at(regularised_stokeslet, long_vector<3> const& r,
                                long_vector<1> const&, long_vector<1> const& eps)
    {
      long double const e2 = eps[0] * eps[0], d2 = product(r, r), s = std::sqrt(d2 + e2);
      long_matrix<3, 3> k;
      for (int o = 0; o < 3; ++o)
        for (int i = 0; i < 3; ++i)
          k[o][i] = ((o == i ? d2 + 2 * e2 : 0) + r[o] * r[i]) / (s * s) / s;
      return k;
    }
  };

  template <>
  struct formula<rpy>
  {
    static bool singular(rpy) { return false; }
    /// 8 pi mu times the tensors of Zuk et al., as they are printed.
    static long_matrix<3, 3> at(rpy, long_vector<3> const& r, long_vector<1> const& target,
                                long_vector<1> const& source)
    {
      long double const a = target[0], b = source[0], d = norm(r), difference2 = (a - b) * (a - b);
      long double of_identity = 4 / (3 * std::max(a, b)), of_direction = 0;
      if (d > a + b)
      {
        of_identity = (1 + (a * a + b * b) / (3 * d * d)) / d;
        of_direction = (1 - (a * a + b * b) / (d * d)) / d;
      }
      else if (d > std::abs(a - b))
      {
        long double const outer = difference2 + 3 * d * d, inner = difference2 - d * d;
        long double const d3 = d * d * d;
        of_identity = 4 / (3 * a * b) * (16 * d3 * (a + b) - outer * outer) / (32 * d3);
        of_direction = 4 / (3 * a * b) * 3 * inner * inner / (32 * d3);
      }
      long_matrix<3, 3> k{};
      for (int o = 0; o < 3; ++o)
        for (int i = 0; i < 3; ++i)
          k[o][i] = (o == i ? of_identity : 0) +
                    (of_direction == 0 ? 0 : of_direction * (r[o] / d) * (r[i] / d));
      return k;
    }
  };

  template <>
  struct formula<log_stokeslet>
  {
    static bool singular(log_stokeslet) { return true; }
    static long_matrix<2, 2> at(log_stokeslet, long_vector<2> const& r)
    {
      long double const d = norm(r), l = std::log(d);
      return {{{r[0] / d * r[0] / d - l, r[0] / d * r[1] / d},
               {r[1] / d * r[0] / d, r[1] / d * r[1] / d - l}}};
    }
  };

  /// The factor g of the velocity g q x r of a blob at |r|^2, which may be negative near 0.
  inline long double factor_of(detail::algebraic_core, long double r2, long double sigma)
  {
    long double const s2 = sigma * sigma, d2 = r2 + s2;
    return (1 + 1.5L * s2 / d2) / (d2 * std::sqrt(d2));
  }
  inline long double factor_of(detail::gaussian_core, long double r2, long double sigma)
  {
    long double const t = r2 / (sigma * sigma), root = std::sqrt(2 / std::acos(-1.L));
    if (t > 1)
    {
      long double const rho = std::sqrt(t), d = std::sqrt(r2);
      return (std::erf(rho / std::sqrt(2.L)) - root * rho * std::exp(-t / 2)) / (d * d * d);
    }
    long double sum = 0, term = root;
    for (int k = 0; k < 25; ++k, term *= -t / (2 * k)) sum += term / (2 * k + 3);
    return sum / (sigma * sigma * sigma);
  }

  /// The derivative of g q x r along a vector: g q x e + 2 (r.e) dg/d|r|^2 q x r, the last one by differences.
  template <class Core>
  long_matrix<3, 3> change_of_blob(long_vector<3> const& r, long double sigma,
                                   long_vector<3> const& e)
  {
    using number = std::array<long double, 1>;
    auto const factor = [&](number const& r2) -> long_matrix<1, 1>
    {
      return {{{factor_of(Core{}, r2[0], sigma)}}};
    };
    number const r2{product(r, r)};
    long double const slope = along(factor, r2, number{1}, 2e-3L * (r2[0] + sigma * sigma))[0][0];
    auto change = cross_matrix(factor(r2)[0][0], e);
    auto const other = cross_matrix(2 * slope * product(r, e), r);
    for (int o = 0; o < 3; ++o)
      for (int i = 0; i < 3; ++i) change[o][i] += other[o][i];
    return change;
  }

  template <class Core>
  struct formula_of_blob
  {
    static bool singular(auto const&) { return false; }
    template <class K, std::size_t P>
    static long_matrix<K::n_out, 3> at(K const&, long_vector<3> const& r,
                                       std::array<long double, P> const& target,
                                       std::array<long double, P> const& source)
    {
      long_matrix<K::n_out, 3> result;
      auto const u = cross_matrix(factor_of(Core{}, product(r, r), source[0]), r);
      if constexpr (K::n_out == 9)
        for (int j = 0; j < 3; ++j)
        {
          long_vector<3> axis{};
          axis[j] = 1;
          auto const change = change_of_blob<Core>(r, source[0], axis);
          for (int i = 0; i < 3; ++i) result[3 * i + j] = change[i];
        }
      else
        std::copy(u.begin(), u.end(), result.begin());
      if constexpr (K::n_out == 6)
      {
        auto const s = change_of_blob<Core>(r, source[0], {target[1], target[2], target[3]});
        std::copy(s.begin(), s.end(), result.begin() + 3);
      }
      return result;
    }
  };
  template <>
  struct formula<gaussian_vortex> : formula_of_blob<detail::gaussian_core>
  {};
  template <>
  struct formula<grad_gaussian_vortex> : formula_of_blob<detail::gaussian_core>
  {};
  template <>
  struct formula<gaussian_vortex_stretching> : formula_of_blob<detail::gaussian_core>
  {};
  template <>
  struct formula<algebraic_vortex> : formula_of_blob<detail::algebraic_core>
  {};
  template <>
  struct formula<grad_algebraic_vortex> : formula_of_blob<detail::algebraic_core>
  {};
  template <>
  struct formula<algebraic_vortex_stretching> : formula_of_blob<detail::algebraic_core>
  {};

  template <>
  struct formula<point_vortex>
  {
    static bool singular(point_vortex) { return true; }
    static long_matrix<2, 1> at(point_vortex, long_vector<2> const& r)
    {
      long double const d = norm(r);
      return {{{-r[1] / d / d}, {r[0] / d / d}}};
    }
  };

  template <>
  struct formula<lamb_oseen>
  {
    static bool singular(lamb_oseen) { return false; }
    static long_matrix<2, 1> at(lamb_oseen, long_vector<2> const& r, long_vector<1> const&,
                                long_vector<1> const& sigma)
    {
      long double const d2 = norm(r) * norm(r), y = d2 / (2 * sigma[0] * sigma[0]);
      long double const g = d2 == 0 ? 1 / (2 * sigma[0] * sigma[0]) : -std::expm1(-y) / d2;
      return {{{-g * r[1]}, {g * r[0]}}};
    }
  };
}

namespace nearfield::test
{
  /// Distances and, if there are any, parameters of points.
  struct pair_range
  {
    double from, to;
    std::array<double, 2> parameters{0.5, 1.5};
  };

  /// The errors of pairs at distances of every size in the range, in every lane of V, and of their way back. Of each pair
  /// the error of an output is measured by what its terms are worth (docs/conventions.md).
  template <class V, class K>
  void expect_pairs_in(K const& k, pair_range const& within)
  {
    using T = detail::real_of<V>;
    constexpr int dim = K::dim, width = math<V>::width, n_parameters = detail::parameters_of<K>;
    constexpr long double least = std::numeric_limits<T>::min() / tolerance<T>;
    random_numbers random(3);
    long double worst = 0;
    for (int sample = 0; sample < 2400; sample += width)
    {
      T x[dim + 2 * n_parameters][width];
      for (int lane = 0; lane < width; ++lane)
      {
        double const length = std::exp(random.uniform(std::log(within.from), std::log(within.to)));
        double direction[dim], sum = 0;
        for (double& d : direction)
        {
          d = random.below(8) == 0 ? 1e-3 : random.uniform(-1, 1);
          sum += d * d;
        }
        for (int d = 0; d < dim; ++d)
          x[d][lane] = static_cast<T>(length * (direction[d] / std::sqrt(sum)));
        for (int p = 0; p < 2 * n_parameters; ++p)
          x[dim + p][lane] =
              static_cast<T>(random.uniform(within.parameters[0], within.parameters[1]));
      }
      detail::pair_at<K, V> pair;
      for (int d = 0; d < dim; ++d) pair.r[d] = math<V>::load(x[d]);
      if constexpr (n_parameters > 0)
        for (int p = 0; p < n_parameters; ++p)
        {
          pair.target[p] = math<V>::load(x[dim + p]);
          pair.source[p] = math<V>::load(x[dim + n_parameters + p]);
        }
      auto const map = detail::evaluate(k, pair);
      for (int way = 0; way < 2; ++way)
      {
        T got[K::n_out][K::n_in][width];
        for (int i = 0; i < K::n_in; ++i)
        {
          vec<V, K::n_in> q{};
          for (int c = 0; c < K::n_in; ++c) q[c] = V(c == i ? 1. : 0.);
          auto const column = way == 0 ? map.to(q) : detail::apply_back<K>(map, q);
          for (int o = 0; o < K::n_out; ++o) math<V>::store(got[o][i], column[o]);
        }
        for (int lane = 0; lane < width; ++lane)
        {
          long_vector<dim> r;
          long_parameters<K> target, source;
          for (int d = 0; d < dim; ++d) r[d] = way == 0 ? x[d][lane] : -x[d][lane];
          for (int p = 0; p < n_parameters; ++p)
          {
            target[p] = x[dim + p][lane];
            source[p] = x[dim + n_parameters + p][lane];
          }
          if (way == 1) std::swap(target, source);
          auto const exact = formula_of_pair<K>(r, target, source);
          long_matrix<K::n_out, K::n_in> change{};
          for (int d = 0; d < dim; ++d)
          {
            constexpr long double step = 1e-6L;
            auto moved = r;
            moved[d] *= 1 + step;
            auto const other = formula_of_pair<K>(moved, target, source);
            for (int o = 0; o < K::n_out; ++o)
              for (int i = 0; i < K::n_in; ++i)
                change[o][i] += std::abs(other[o][i] - exact[o][i]) / step;
          }
          for (int o = 0; o < K::n_out; ++o)
          {
            long double size = least, error = 0;
            for (int i = 0; i < K::n_in; ++i)
            {
              size += std::max(std::abs(exact[o][i]), change[o][i]);
              long double const off = std::abs(exact[o][i] - got[o][i][lane]);
              error = std::isnan(off) ? std::numeric_limits<long double>::infinity()
                                      : std::max(error, off);
            }
            if (error / size > worst) worst = error / size;
            ASSERT_LE(error / size, tolerance<T>)
                << K::name << ", output " << o << ", way " << way << ", |r| = " << norm(r);
          }
        }
      }
    }
    ::testing::Test::RecordProperty(K::name + std::string(sizeof(T) == 4 ? "_f32" : "_f64"),
                                    std::to_string(worst / std::numeric_limits<T>::epsilon()));
  }

  /// The same of numbers and of packs, in both precisions.
  template <class K>
  void expect_pairs(K const& k, pair_range const& of_float, pair_range const& of_double)
  {
    SCOPED_TRACE(K::name);
    expect_pairs_in<float>(k, of_float);
    expect_pairs_in<double>(k, of_double);
    expect_pairs_in<pack<float, xsimd::default_arch, 1>>(k, of_float);
    expect_pairs_in<pack<double, xsimd::default_arch, 2>>(k, of_double);
  }

  /// The matrix of a pair as the library computes it in long double.
  template <class K>
  auto matrix_of(K const& k, long_vector<K::dim> const& r, long_parameters<K> const& target = {},
                 long_parameters<K> const& source = {})
  {
    detail::pair_at<K, long double> pair;
    for (int d = 0; d < K::dim; ++d) pair.r[d] = r[d];
    if constexpr (detail::parameters_of<K> > 0)
      for (int p = 0; p < detail::parameters_of<K>; ++p)
      {
        pair.target[p] = target[p];
        pair.source[p] = source[p];
      }
    auto const map = detail::evaluate(k, pair);
    long_matrix<K::n_out, K::n_in> result;
    for (int i = 0; i < K::n_in; ++i)
    {
      vec<long double, K::n_in> q{};
      q[i] = 1;
      auto const column = map.to(q);
      for (int o = 0; o < K::n_out; ++o) result[o][i] = column[o];
    }
    return result;
  }

  /// A point of the cube [-1, 1).
  template <int Dim>
  long_vector<Dim> random_vector(random_numbers& random)
  {
    long_vector<Dim> x;
    for (auto& c : x) c = random.uniform(-1, 1);
    return x;
  }
}
