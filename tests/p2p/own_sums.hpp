#pragma once

#include "backends.hpp"
#include "p2p/p2p_cases.hpp"
#include "sizes.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

/// \file
/// Sums of an interaction that the test's own file compiles, in every form on every back-end, beside its formula.

namespace nearfield::test
{
  /// Boxes of different sizes, each of which meets itself only.
  template <class T, class K>
  void expect_own_boxes(K const& k)
  {
    std::vector<index_type> const offsets{0, 32, 50, 100, 117, 245, 250};
    std::vector<index_type> const no_ranges(offsets.size(), 0);
    std::vector<interaction_list::range> own;
    for (std::size_t b = 0; b + 1 < offsets.size(); ++b)
      own.push_back({.begin = offsets[b], .end = offsets[b + 1]});
    auto const x = some_points_of<K, T>(cloud::uniform, offsets.back(), 1);
    auto const q = some_values<T, K::n_in>(x.size(), 2);
    auto const box_of = [&](std::size_t i)
    {
      return std::ranges::upper_bound(offsets, i) - offsets.begin();
    };
    auto const sums = reference(k, x.view(), x.view(), q.view(), [&](std::size_t i, std::size_t j)
                                { return i != j && box_of(i) == box_of(j); });
    for (tested_backend const& backend : tested_backends())
      backend.run(
          [&](auto where)
          {
            SCOPED_TRACE(backend.name);
            guarded<T, K::n_out> one_sided(x.size()), mutual(x.size());
            interaction_list const list{own, no_ranges, {}, {}};
            near_field(where, k, {offsets}, list, x.view(), q.view(), one_sided.view());
            near_field(where, k, {offsets}, list, x.view(), q.view(), mutual.view(),
                       {.form = pair_form::mutual});
            EXPECT_LE(error_of(one_sided.view(), sums), tolerance<T>);
            EXPECT_LE(error_of(mutual.view(), sums), tolerance<T>);
          });
  }

  template <class T, class K>
  void expect_own(K const& k)
  {
    EXPECT_EQ(is_singular(k), formula<K>::singular(k));
    for (std::size_t const n : tested_sizes)
    {
      auto const x = some_points_of<K, T>(cloud::coincident, n, 1);
      auto const y = some_points_of<K, T>(cloud::uniform, 19, 2);
      auto const q = some_values<T, K::n_in>(n, 3);
      auto const y_q = some_values<T, K::n_in>(19, 4);
      auto const inner_sums = reference_of_sizes(k, x.view(), x.view(), q.view(), other_points);
      auto const x_sums = reference_of_sizes(k, x.view(), y.view(), y_q.view(), all_pairs);
      auto const y_sums = reference_of_sizes(k, y.view(), x.view(), q.view(), all_pairs);
      auto const expect = [&](auto where, std::string const& backend)
      {
        SCOPED_TRACE(testing::Message() << K::name << ", " << n << " points, " << backend);
        guarded<T, K::n_out> inner(n), outer(n);
        p2p_inner(where, k, x.view(), q.view(), inner.view());
        p2p_outer(where, k, x.view(), y.view(), y_q.view(), outer.view());
        EXPECT_LE(error_of(inner.view(), inner_sums), tolerance<T>);
        EXPECT_LE(error_of(outer.view(), x_sums), tolerance<T>);
        EXPECT_TRUE(inner.is_intact() && outer.is_intact());
        if constexpr (detail::has_way_back<K>)
        {
          guarded<T, K::n_out> both(n), x_out(n), y_out(19);
          p2p_inner_mutual(where, k, x.view(), q.view(), both.view());
          p2p_outer_mutual(where, k, x.view(), y.view(), q.view(), y_q.view(), x_out.view(),
                           y_out.view());
          EXPECT_LE(error_of(both.view(), inner_sums), tolerance<T>);
          EXPECT_LE(error_of(x_out.view(), x_sums), tolerance<T>);
          EXPECT_LE(error_of(y_out.view(), y_sums), tolerance<T>);
          EXPECT_TRUE(both.is_intact() && x_out.is_intact() && y_out.is_intact());
        }
      };
      for (tested_backend const& backend : tested_backends())
        backend.run([&](auto where) { expect(where, backend.name); });
    }
  }
}
