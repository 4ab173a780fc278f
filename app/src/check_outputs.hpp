#pragma once

#include "problem.hpp"

#include <nearfield/core/interaction.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace nearfield::app
{
  struct check_report
  {
    std::size_t targets = 0;
    /// max over targets and outputs of |got - ref| / sum_j S_j; S_j: see term_sizes and docs/conventions.md
    double max_relative_error = 0;
    double limit = 0;

    [[nodiscard]] bool passed() const { return max_relative_error <= limit; }
  };

  /// The largest permitted error of a run.
  template <class T>
  inline constexpr double error_limit = sizeof(T) == 4 ? 2e-6 : 1e-13;

  namespace detail
  {
    template <class K>
    using wide_columns = std::array<vec<long double, K::n_out>, K::n_in>;

    /// K(r), column by column: one for each input.
    template <class K>
    wide_columns<K> columns_of(K const& k, vec<long double, K::dim> const& r)
    {
      auto const map = nearfield::detail::evaluate(k, r);
      wide_columns<K> columns;
      for (int c = 0; c < K::n_in; ++c)
      {
        vec<long double, K::n_in> unit{};
        unit[c] = 1;
        columns[c] = map.to(unit);
      }
      return columns;
    }

    /// max(|K|, sum_d |r_d dK/dr_d|) for every entry. The second term is the change of K per relative change
    /// of each r_d. It, not |K|, bounds the effect of rounding r for an entry that cancels (a dipole), crosses
    /// zero (a logarithm) or falls steeply (a Gaussian).
    template <class K>
    wide_columns<K> term_sizes(K const& k, vec<long double, K::dim> const& r,
                               wide_columns<K> const& columns)
    {
      constexpr long double step = 0x1p-20L;
      wide_columns<K> sizes{};
      for (int d = 0; d < K::dim; ++d)
      {
        auto moved = r;
        moved[d] *= 1 + step;
        auto const there = columns_of(k, moved);
        for (int c = 0; c < K::n_in; ++c)
          for (int o = 0; o < K::n_out; ++o)
            sizes[c][o] += std::abs(there[c][o] - columns[c][o]) / step;
      }
      for (int c = 0; c < K::n_in; ++c)
        for (int o = 0; o < K::n_out; ++o)
          sizes[c][o] = std::max(sizes[c][o], std::abs(columns[c][o]));
      return sizes;
    }
  }

  /// Compares the outputs at n targets, evenly spaced in the caller's order, with plain sums in long
  /// double over the same pairs, from positions and inputs rounded to T.
  template <class T, class K>
  check_report check_outputs(problem<T, K::dim> const& on, K const& k,
                             std::vector<std::vector<double>> const& outputs, std::size_t n)
  {
    using wide = long double;
    auto const x = on.targets();
    auto const y = on.sources();
    auto const& inputs = on.inputs();
    auto const list = on.leaves().interactions();
    auto const offsets = on.leaves().targets().offsets;
    auto const source_order = on.leaves().source_order();
    auto const place = inverse(on.leaves().target_order());
    bool const one_set = !on.has_two_sets();
    bool const singular = is_singular<T>(k);
    // K and K q may underflow to zero below the normal numbers of T
    wide const least = wide(std::numeric_limits<T>::min()) / error_limit<T>;
    struct term_sums
    {
      vec<wide, K::n_out> value{}, size{};
    };
    std::vector<term_sums> sums(inputs.size() / K::n_in); // one for each right-hand side

    check_report report;
    report.targets = std::min(n, x.size());
    report.limit = error_limit<T>;
    for (std::size_t m = 0; m < report.targets; ++m)
    {
      auto const i =
          static_cast<std::size_t>(static_cast<std::uint64_t>(m) * x.size() / report.targets);
      auto const box = static_cast<index_type>(
          std::upper_bound(offsets.begin(), offsets.end(), place[i]) - offsets.begin() - 1);
      // one evaluation of K for all right-hand sides
      std::fill(sums.begin(), sums.end(), term_sums{});
      auto const image_of = [&](T value, source_range const& range, int d)
      {
        return static_cast<T>(value + static_cast<T>(list.shifts[range.shift][std::size_t(d)]));
      };
      auto const add_range = [&](source_range const& range)
      {
        for (index_type at = range.begin; at < range.end; ++at)
        {
          index_type const j = source_order[at];
          if (one_set && j == i && range.shift == 0) continue;
          vec<wide, K::dim> r;
          for (int d = 0; d < K::dim; ++d) // an image is rounded to T, as a point is
            r[d] = wide(x[d][i]) - wide(range.shift == 0 ? y[d][j] : image_of(y[d][j], range, d));
          if (singular && dot(r, r) == 0) continue;
          auto const columns = detail::columns_of(k, r);
          auto const sizes = detail::term_sizes(k, r, columns);
          for (std::size_t rhs = 0; rhs < sums.size(); ++rhs)
            for (int c = 0; c < K::n_in; ++c)
            {
              wide const charge = inputs[rhs * K::n_in + c][j], magnitude = std::abs(charge);
              for (int o = 0; o < K::n_out; ++o)
              {
                sums[rhs].value[o] += columns[c][o] * charge;
                sums[rhs].size[o] +=
                    std::max(sizes[c][o] * magnitude, least * std::max<wide>(magnitude, 1));
              }
            }
        }
      };
      add_range(list.own[box]);
      for (source_range const& range : list.neighbours(box)) add_range(range);

      for (std::size_t rhs = 0; rhs < sums.size(); ++rhs)
        for (int o = 0; o < K::n_out; ++o)
        {
          wide const difference =
              std::abs(wide(outputs[rhs * K::n_out + o][i]) - sums[rhs].value[o]);
          auto const relative =
              static_cast<double>(difference == 0 ? 0 : difference / sums[rhs].size[o]);
          // true for NaN too, which must not pass as a small error
          if (!(relative <= report.max_relative_error))
            report.max_relative_error =
                std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative;
        }
    }
    return report;
  }
}
