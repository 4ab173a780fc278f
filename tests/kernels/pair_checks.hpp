#pragma once

#include "backends.hpp"
#include "p2p/p2p_cases.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

/// \file
/// Single pairs of an interaction against its formula in long double, and what sums of them keep.

namespace nearfield::test
{
  /// K(r) of the formula, with the parameters of both points if it has any.
  template <class K>
  long_matrix<K::n_out, K::n_in> formula_at(K const& k, long_vector<K::dim> const& r,
                                            long_vector<detail::parameters_of<K>> const& i,
                                            long_vector<detail::parameters_of<K>> const& j)
  {
    if constexpr (detail::parameters_of<K> > 0)
      return formula<K>::at(k, r, i, j);
    else
      return formula<K>::at(k, r);
  }

  /// For each output the larger of |K| and its change with relative changes of r, for one input.
  template <class K>
  std::array<long double, K::n_out> size_of_pair(K const& k, long_vector<K::dim> const& r,
                                                 long_vector<detail::parameters_of<K>> const& i,
                                                 long_vector<detail::parameters_of<K>> const& j)
  {
    constexpr long double step = 1e-6L;
    auto const at = formula_at(k, r, i, j);
    std::array<long double, K::n_out> size{};
    for (int d = 0; d < K::dim; ++d)
    {
      auto moved = r;
      moved[d] *= 1 + step;
      auto const other = formula_at(k, moved, i, j);
      for (int o = 0; o < K::n_out; ++o) size[o] += std::abs(other[o][0] - at[o][0]) / step;
    }
    for (int o = 0; o < K::n_out; ++o) size[o] = std::max(size[o], std::abs(at[o][0]));
    return size;
  }

  /// A point of the sphere or circle of that radius.
  template <int Dim>
  std::array<double, Dim> point_at(random_numbers& random, double radius)
  {
    double const height = Dim == 3 ? random.uniform(-1, 1) : 0;
    double const angle = random.uniform(0, 2 * std::numbers::pi);
    double const across = radius * std::sqrt(1 - height * height);
    std::array<double, Dim> x;
    x[0] = across * std::cos(angle);
    x[1] = across * std::sin(angle);
    if constexpr (Dim == 3) x[2] = radius * height;
    return x;
  }

  /// Pairs one at a time, at distances from `from` to `to` and at those given, with parameters in [least, most): each
  /// is a target of one source and, in the mutual form, a source of one target. An error is measured by the size of its
  /// pair, and no less than `floor` of each output.
  template <class T, class K>
  void expect_pairs_of_formula(K const& k, double from, double to,
                               std::vector<double> const& distances = {},
                               std::array<double, 2> parameters = {0.5, 1.5}, long double floor = 0)
  {
    constexpr int n_parameters = detail::parameters_of<K>, n_x = detail::point_columns<K>;
    random_numbers random(3);
    std::size_t const n = 300 + distances.size();
    guarded<T, n_x> x(n), origin(1);
    for (std::size_t at = 0; at < n; ++at)
    {
      double const radius = at < distances.size()
                                ? distances[at]
                                : from * std::pow(to / from, double(at - distances.size()) / 299);
      auto const r = point_at<K::dim>(random, radius);
      for (int d = 0; d < K::dim; ++d) x.column(d)[at] = static_cast<T>(r[d]);
      for (int p = K::dim; p < n_x; ++p)
        x.column(p)[at] = static_cast<T>(random.uniform(parameters[0], parameters[1]));
    }
    for (int p = K::dim; p < n_x; ++p)
      origin.column(p)[0] = static_cast<T>(random.uniform(parameters[0], parameters[1]));
    guarded<T, 1> const one(1, T(1)), ones(n, T(1));
    auto const parameters_at = [&](guarded<T, n_x> const& points, std::size_t at)
    {
      long_vector<n_parameters> values;
      for (int p = 0; p < n_parameters; ++p)
        values[p] = static_cast<long double>(points.column(K::dim + p)[at]);
      return values;
    };
    for (tested_backend const& backend : tested_backends())
    {
      guarded<T, K::n_out> targets(n), sources(n), unused(1);
      backend.run(
          [&](auto where)
          {
            p2p_outer(where, k, x.view(), origin.view(), one.view(), targets.view());
            p2p_outer_mutual(where, k, origin.view(), x.view(), one.view(), ones.view(),
                             unused.view(), sources.view());
          });
      for (std::size_t at = 0; at < n; ++at)
      {
        long_vector<K::dim> r;
        for (int d = 0; d < K::dim; ++d) r[d] = static_cast<long double>(x.column(d)[at]);
        auto const i = parameters_at(x, at), j = parameters_at(origin, 0);
        auto const exact = formula_at(k, r, i, j);
        auto const size = size_of_pair(k, r, i, j);
        for (int o = 0; o < K::n_out; ++o)
        {
          auto const most = static_cast<double>(tolerance<T> * std::max(size[o], floor));
          ASSERT_NEAR(targets.column(o)[at], exact[o][0], most)
              << K::name << ", " << backend << ", |r| = " << norm(r) << ", output " << o;
          ASSERT_NEAR(sources.column(o)[at], exact[o][0], most)
              << K::name << ", " << backend << ", mutual, |r| = " << norm(r) << ", output " << o;
        }
      }
    }
  }

  /// The outputs from `first` on are the gradient of output 0 times `sign`: against differences of the formula.
  template <class K>
  void expect_gradient(K const& k, std::vector<double> const& distances, int sign = 1,
                       std::array<double, 2> parameters = {0.5, 1.5})
  {
    constexpr int n_parameters = detail::parameters_of<K>;
    random_numbers random(4);
    for (double const radius : distances)
    {
      auto const r = point_at<K::dim>(random, radius);
      auto pair = detail::unit_pair<K>(vec<double, K::dim>{});
      long_vector<K::dim> at;
      long_vector<n_parameters> i, j;
      for (int d = 0; d < K::dim; ++d) at[d] = pair.r[d] = r[d];
      if constexpr (n_parameters > 0)
        for (int p = 0; p < n_parameters; ++p)
        {
          i[p] = pair.target[p] = random.uniform(parameters[0], parameters[1]);
          j[p] = pair.source[p] = random.uniform(parameters[0], parameters[1]);
        }
      auto const found = detail::evaluate(k, pair).to({1});
      long double const h = 1e-5L * norm(at);
      long double largest = 0;
      std::array<long double, K::dim> slope;
      for (int d = 0; d < K::dim; ++d)
      {
        auto const value = [&](int steps)
        {
          auto moved = at;
          moved[d] += steps * h;
          return formula_at(k, moved, i, j)[0][0];
        };
        slope[d] = (8 * (value(1) - value(-1)) - (value(2) - value(-2))) / (12 * h); // fourth order
        largest = std::max(largest, std::abs(slope[d]));
      }
      for (int d = 0; d < K::dim; ++d)
        ASSERT_NEAR(found[1 + d], sign * slope[d], 1e-9 * static_cast<double>(largest) + 1e-12)
            << K::name << ", |r| = " << radius << ", axis " << d;
    }
  }

  /// sum_i q_i out_i of the outputs [first, first + dim) is zero, in both forms.
  template <class K>
  void expect_no_net_force(K const& k, guarded<double, detail::point_columns<K>> const& x,
                           guarded<double, 1> const& q, int first = 1)
  {
    for (tested_backend const& backend : tested_backends())
    {
      guarded<double, K::n_out> one_sided(x.size()), mutual(x.size());
      backend.run(
          [&](auto where)
          {
            p2p_inner(where, k, x.view(), q.view(), one_sided.view());
            p2p_inner_mutual(where, k, x.view(), q.view(), mutual.view());
          });
      for (auto const* out : {&one_sided, &mutual})
        for (int d = 0; d < K::dim; ++d)
        {
          double sum = 0, size = 0;
          for (std::size_t i = 0; i < x.size(); ++i)
          {
            double const term = q.column(0)[i] * out->column(first + d)[i];
            sum += term;
            size += std::abs(term);
          }
          EXPECT_GT(size, 0);
          EXPECT_NEAR(sum, 0, 1e-12 * size) << K::name << ", " << backend << ", axis " << d;
        }
    }
  }
}
