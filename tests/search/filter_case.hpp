#pragma once

#include "search/random_case.hpp"

#include <nearfield/search/radius_search.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

/// \file
/// What filters are tested with.

namespace nearfield::test
{
  /// A random filter of a random list.
  template <class T>
  struct filter_case
  {
    T cutoff;
    bool closed, one_set, has_rows;
    std::vector<index_type> types, query_types;
    std::vector<T> matrix, radii, query_radii;
    cutoff_by by{};
    std::vector<std::uint64_t> offsets;
    std::vector<index_type> excluded, rows;
    std::set<std::pair<index_type, index_type>> is_excluded;

    template <int Dim>
    filter_case(random_case<T, Dim> const& of, std::uint64_t seed)
        : filter_case(T(of.cutoff), of.options.closed, of.x.size(), of.y.size(), of.one_set, seed)
    {}
    /// Of n targets and, unless they are one set, of n_sources.
    filter_case(T longest, bool is_closed, std::size_t n, std::size_t n_sources, bool is_one_set,
                std::uint64_t seed)
        : cutoff(longest), closed(is_closed), one_set(is_one_set)
    {
      random_numbers random(seed);
      std::size_t const m = one_set ? n : n_sources;
      auto const length = [&]
      {
        return random.below(4) == 0 ? T(0) : T(random.uniform(0, cutoff));
      };
      if (random.below(2) == 0)
      {
        index_type const n_types = 1 + static_cast<index_type>(random.below(3));
        matrix.resize(n_types * n_types);
        for (index_type a = 0; a < n_types; ++a)
          for (index_type b = a; b < n_types; ++b)
            matrix[a * n_types + b] = matrix[b * n_types + a] = length();
        for (std::size_t j = 0; j < m; ++j)
          types.push_back(static_cast<index_type>(random.below(n_types)));
        for (std::size_t i = 0; i < n && !one_set; ++i)
          query_types.push_back(static_cast<index_type>(random.below(n_types)));
      }
      if (random.below(2) == 0)
      {
        by = std::array{cutoff_by::sum, cutoff_by::larger, cutoff_by::own}[random.below(3)];
        T const share = by == cutoff_by::sum ? T(0.5) : T(1);
        for (std::size_t j = 0; j < m; ++j) radii.push_back(share * length());
        for (std::size_t i = 0; i < n && !one_set; ++i) query_radii.push_back(share * length());
      }
      if (random.below(2) == 0)
      {
        offsets.push_back(0);
        for (index_type i = 0; i < n; ++i)
        {
          for (std::uint64_t left = random.below(4); left > 0; --left)
          {
            auto const j = static_cast<index_type>(random.below(m));
            excluded.push_back(j);
            is_excluded.emplace(i, j);
            if (one_set) is_excluded.emplace(j, i);
          }
          offsets.push_back(excluded.size());
        }
      }
      has_rows = random.below(3) == 0;
      if (has_rows)
        for (std::uint64_t left = random.below(2 + n / 3); left > 0; --left)
          rows.push_back(static_cast<index_type>(random.below(n)));
    }

    [[nodiscard]] pair_filter<T> filter() const
    {
      pair_filter<T> which{.types = types,
                           .query_types = query_types,
                           .type_cutoffs = matrix,
                           .radii = radii,
                           .query_radii = query_radii,
                           .by = by,
                           .excluded_offsets = offsets,
                           .excluded = excluded};
      if (has_rows) which.rows = rows;
      return which;
    }
    [[nodiscard]] bool has_half() const
    {
      return one_set && !has_rows && (radii.empty() || by != cutoff_by::own);
    }
    [[nodiscard]] bool counts(index_type i, index_type j, T r2) const
    {
      auto const is_within = [&](T of)
      {
        return of > 0 && (closed ? r2 <= of * of : r2 < of * of);
      };
      if (!matrix.empty())
      {
        auto const n = static_cast<index_type>(std::lround(std::sqrt(double(matrix.size()))));
        if (!is_within(matrix[(one_set ? types : query_types)[i] * n + types[j]])) return false;
      }
      if (!radii.empty())
      {
        T const a = (one_set ? radii : query_radii)[i], b = radii[j];
        if (!is_within(by == cutoff_by::sum ? a + b : by == cutoff_by::larger ? std::max(a, b) : a))
          return false;
      }
      if (has_rows && std::ranges::find(rows, i) == rows.end()) return false;
      return !is_excluded.contains({i, j});
    }
  };
}
