#pragma once

#include "run.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/core/soa.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <sstream>
#include <vector>

/// \file
/// The reference sums of a row, and the comparison with them.

namespace bench
{
  /// The sum at one target, computed in double by plain loops: each output, and the sum of the magnitudes of
  /// its terms, to which errors are relative.
  template <class K>
  struct plain_sum
  {
    static constexpr int n_out = K::n_out;
    nearfield::vec<double, n_out> value{}, magnitude{};

    /// Adds the sources [range.begin, range.end) without source `self`.
    template <class T>
    void add(K const& k, std::array<T, K::dim> const& target, std::size_t self,
             nearfield::soa<T const, K::dim> const& x, nearfield::soa<T const, K::n_in> const& q,
             nearfield::interaction_list::range const& range)
    {
      bool const singular = nearfield::is_singular(k);
      // partial sums, so that rounding errors do not grow with the number of terms
      for (std::size_t begin = range.begin; begin < range.end; begin += 256)
      {
        nearfield::vec<double, K::n_out> part{}, part_magnitude{};
        std::size_t const end = std::min<std::size_t>(begin + 256, range.end);
        for (std::size_t j = begin; j < end; ++j)
        {
          if (j == self) continue;
          nearfield::vec<double, K::dim> r;
          for (int d = 0; d < K::dim; ++d) r[d] = double(target[d]) - double(x[d][j]);
          nearfield::vec<double, K::n_in> inputs;
          for (int c = 0; c < K::n_in; ++c) inputs[c] = q[c][j];
          // points of f32 may coincide
          if (singular && dot(r, r) == 0) continue;
          auto const term = nearfield::detail::evaluate(k, r).to(inputs);
          for (int o = 0; o < K::n_out; ++o)
          {
            part[o] += term[o];
            part_magnitude[o] += std::abs(term[o]);
          }
        }
        value += part;
        magnitude += part_magnitude;
      }
    }

    /// The relative error of an output; infinite for NaN.
    [[nodiscard]] double error(int o, double found) const
    {
      double const difference = std::abs(found - value[o]);
      if (difference == 0) return 0;
      double const relative = difference / magnitude[o];
      return std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative;
    }
  };

  /// The sampled targets: 100 of n.
  inline constexpr std::size_t n_samples = 100;
  inline std::size_t sample(std::size_t s, std::size_t n)
  {
    return (2 * s + 1) * n / (2 * n_samples);
  }

  /// For plain_sum::add: no source is left out.
  inline constexpr std::size_t no_self = -1;

  template <class T, int Dim>
  std::array<T, Dim> point(nearfield::soa<T const, Dim> const& x, std::size_t i)
  {
    std::array<T, Dim> result;
    for (int d = 0; d < Dim; ++d) result[d] = x[d][i];
    return result;
  }

  /// The sum at target i over all other points.
  template <class K, class T>
  plain_sum<K> sum_of_box(K const& k, std::size_t i, nearfield::soa<T const, K::dim> const& x,
                          nearfield::soa<T const, K::n_in> const& q)
  {
    plain_sum<K> sum;
    sum.add(k, point(x, i), i, x, q, {0, static_cast<nearfield::index_type>(x.size())});
    return sum;
  }

  /// The leaf of target i of a tree, in tree order.
  template <class Tree>
  nearfield::index_type leaf_of(Tree const& tree, std::size_t i)
  {
    auto const offsets = tree.targets().offsets;
    return static_cast<nearfield::index_type>(std::upper_bound(offsets.begin(), offsets.end(), i) -
                                              offsets.begin() - 1);
  }

  /// The sum at target i over the leaves it meets, for a tree of one set; all in tree order.
  template <class K, class T, class Tree>
  plain_sum<K> sum_of_tree(K const& k, std::size_t i, Tree const& tree,
                           nearfield::soa<T const, K::dim> const& x,
                           nearfield::soa<T const, K::n_in> const& q)
  {
    auto const box = leaf_of(tree, i);
    auto const list = tree.interactions();
    plain_sum<K> sum;
    sum.add(k, point(x, i), i, x, q, list.own[box]);
    for (auto const& range : list.neighbours(box)) sum.add(k, point(x, i), i, x, q, range);
    return sum;
  }

  /// Reports the largest error, and fails the row if it exceeds `tolerance`.
  inline void report_error(benchmark::State& state, double error, double tolerance)
  {
    state.counters["max_relative_error"] = error;
    if (error <= tolerance) return;
    std::ostringstream message;
    message << "max_relative_error is " << error << ", more than " << tolerance;
    fail(state, message.str());
  }

  /// A tolerance in units of eps: errors of CPU kernels stay below 10, those of GPU kernels in double below
  /// 450.
  template <class T>
  constexpr double tolerance(double roundings = 50)
  {
    return roundings * double(std::numeric_limits<T>::epsilon());
  }

  /// Compares the sampled outputs of n targets with sum_of(i); found(o, i) is output o of target i.
  template <class SumOf, class Found>
  void check_sums(benchmark::State& state, double tolerance, std::size_t n, SumOf const& sum_of,
                  Found const& found)
  {
    double largest = 0;
    for (std::size_t s = 0; s < n_samples; ++s)
    {
      std::size_t const i = sample(s, n);
      auto sum = sum_of(i);
      for (int o = 0; o < decltype(sum)::n_out; ++o)
        largest = std::max(largest, sum.error(o, found(o, i)));
    }
    report_error(state, largest, tolerance);
  }

  /// The same for a near field of K over the leaves of a tree of one set; points and outputs are in the caller's order.
  template <class K, class T, class Tree, class Points, class Outputs>
  void check_tree_sums(benchmark::State& state, double tolerance, Tree const& tree,
                       Points const& points, Outputs const& out)
  {
    auto const order = tree.target_order();
    auto const x = gather(order, points.positions());
    auto const q = gather(order, points.charges());
    check_sums(
        state, tolerance, order.size(),
        [&](std::size_t i) { return sum_of_tree<K, T>(K{}, i, tree, x.view(), q.view()); },
        [&](int o, std::size_t i) { return out.columns[o][order[i]]; });
  }
}
