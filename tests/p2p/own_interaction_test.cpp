#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/p2p/simd.hpp>

#include "backends.hpp"
#include "p2p/own_formulas.hpp"
#include "p2p/own_interactions.hpp"
#include "p2p/p2p_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

// A user's own interaction needs no registration: these are compiled here, for this file's instruction
// set, and for a GPU in own_interactions.cu.

namespace nearfield::test
{
  namespace
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
        auto const inner_sums = reference(k, x.view(), x.view(), q.view(), other_points);
        auto const x_sums = reference(k, x.view(), y.view(), y_q.view(), all_pairs);
        auto const y_sums = reference(k, y.view(), x.view(), q.view(), all_pairs);
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

  TEST(own_interaction, of_the_documentation_runs_on_every_back_end)
  {
    expect_own<float>(softened{.eps2 = 1e-3});
    expect_own<double>(softened{.eps2 = 1e-3});
  }

  TEST(own_interaction, is_singular_where_its_formula_is)
  {
    EXPECT_FALSE(is_singular(softened{.eps2 = 1e-3}));
    EXPECT_TRUE(is_singular(softened{.eps2 = 0}));
  }

  TEST(own_interaction, may_mix_parities_in_a_full_matrix)
  {
    expect_own<float>(mixed{});
    expect_own<double>(mixed{});
  }

  TEST(own_interaction, may_be_radial)
  {
    static_assert(detail::radial_interaction<inverse_square> &&
                  !detail::homogeneous_in_root<inverse_square>);
    expect_own<float>(inverse_square{});
    expect_own<double>(inverse_square{});
  }

  TEST(own_interaction, may_be_radial_and_regular)
  {
    static_assert(detail::radial_interaction<spring>);
    expect_own<float>(spring{.reach = 0.25});
    expect_own<double>(spring{.reach = 0.25});
  }

  // On a GPU the sums of teams stand side by side in shared memory.
  TEST(own_interaction, may_have_many_outputs)
  {
    expect_own<float>(outer_product{.eps2 = 1e-3});
    expect_own<double>(outer_product{.eps2 = 1e-3});
    expect_own_boxes<float>(outer_product{.eps2 = 1e-3});
    expect_own_boxes<double>(outer_product{.eps2 = 1e-3});
  }

  // A normal of each point: the way back is that of the other one.
  TEST(own_interaction, may_read_parameters_of_points)
  {
    static_assert(detail::radial_interaction<dipole> && detail::has_way_back<dipole>);
    expect_own<float>(dipole{});
    expect_own<double>(dipole{});
    expect_own_boxes<double>(dipole{});
  }

  TEST(own_interaction, with_parameters_may_be_regular)
  {
    static_assert(!detail::radial_interaction<blobs>);
    expect_own<float>(blobs{});
    expect_own<double>(blobs{});
    expect_own_boxes<float>(blobs{});
  }

  TEST(own_interaction, without_a_symmetry_has_no_mutual_kernel)
  {
    static_assert(detail::has_way_back<softened> && detail::has_way_back<mixed>);
    static_assert(detail::has_way_back<inverse_square>);
    static_assert(!detail::has_way_back<one_way>);
    EXPECT_EQ((kernels_of<double, one_way>(simd).mutual), nullptr);
    EXPECT_EQ((kernels_of<double, one_way>(scalar).mutual), nullptr);
    expect_own<float>(one_way{});
    expect_own<double>(one_way{});
  }
}
