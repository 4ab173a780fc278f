#pragma once

#include "by_name.hpp"

#include <nearfield/kernels/any_interaction.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

/// \file
/// Sums of an interaction that is known by its name, and plain sums to compare them with.

namespace nearfield::test
{
  using wide = long double;

  /// The pair of one point with another: K, or the change of it by a relative change of r.
  struct pair_of
  {
    any_interaction const& k;
    std::vector<wide> r, target, source;

    [[nodiscard]] std::vector<wide> matrix(std::vector<wide> const& at) const
    {
      auto const n = static_cast<std::size_t>(k.info().n_in * k.info().n_out);
      std::vector<wide> entries(n);
      k.erased().type->matrix(k.erased().value, at.data(), target.data(), source.data(),
                              entries.data());
      return entries;
    }
    /// max(|K|, sum_d |r_d dK/dr_d|), which bounds the effect of rounding.
    [[nodiscard]] std::vector<wide> sizes() const
    {
      constexpr wide step = 0x1p-20L;
      auto const here = matrix(r);
      std::vector<wide> changes(here.size()), all(here.size());
      for (std::size_t d = 0; d < r.size(); ++d)
      {
        auto moved = r;
        moved[d] *= 1 + step;
        auto const there = matrix(moved);
        for (std::size_t e = 0; e < here.size(); ++e)
          changes[e] += std::abs(there[e] - here[e]) / step;
      }
      for (std::size_t e = 0; e < here.size(); ++e)
        all[e] = std::max(changes[e], std::abs(here[e]));
      return all;
    }
  };

  /// A pair of point i of x with point j of y.
  template <class T>
  pair_of between(any_interaction const& k, run_time_set<T> const& x, std::size_t i,
                  run_time_set<T> const& y, std::size_t j)
  {
    pair_of pair{k, {}, {}, {}};
    auto const dim = static_cast<std::size_t>(k.info().dim);
    for (std::size_t c = 0; c < x.memory.size(); ++c)
      if (c < dim)
        pair.r.push_back(wide(x.memory[c][i]) - y.memory[c][j]);
      else
      {
        pair.target.push_back(x.memory[c][i]);
        pair.source.push_back(y.memory[c][j]);
      }
    return pair;
  }

  /// Expects `before` plus plain sums over all pairs in out; `is_one_set`: without i = j.
  template <class T>
  void expect_sums(any_interaction const& k, run_time_set<T> const& x, run_time_set<T> const& y,
                   run_time_set<T> const& q, run_time_set<T> const& out, bool is_one_set, T before)
  {
    auto const n_in = static_cast<std::size_t>(k.info().n_in),
               n_out = static_cast<std::size_t>(k.info().n_out);
    double const limit = sizeof(T) == 4 ? 4e-6 : 2e-13;
    for (std::size_t i = 0; i < x.memory[0].size(); i += 3)
    {
      std::vector<wide> sums(out.memory.size(), before), sizes(out.memory.size(), std::abs(before));
      for (std::size_t j = 0; j < y.memory[0].size(); ++j)
      {
        if (is_one_set && i == j) continue;
        auto const pair = between(k, x, i, y, j);
        auto const entries = pair.matrix(pair.r), of_entries = pair.sizes();
        for (std::size_t c = 0; c < out.memory.size(); ++c)
          for (std::size_t in = 0; in < n_in; ++in)
          {
            std::size_t const e = c % n_out * n_in + in;
            wide const charge = q.memory[c / n_out * n_in + in][j];
            sums[c] += entries[e] * charge;
            sizes[c] += of_entries[e] * std::abs(charge);
          }
      }
      for (std::size_t c = 0; c < out.memory.size(); ++c)
        ASSERT_NEAR(double(out.memory[c][i]), double(sums[c]), limit * double(sizes[c]))
            << "output " << c << " of point " << i;
    }
  }

  class every_interaction : public ::testing::TestWithParam<std::size_t>
  {
  protected:
    [[nodiscard]] interaction_info const& info() const { return interaction_infos()[GetParam()]; }
    /// With parameters that suit the points.
    [[nodiscard]] any_interaction example() const { return example_of(info()); }
  };
}
