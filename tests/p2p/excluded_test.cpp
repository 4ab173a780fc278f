// Excluded pairs of near fields, against sums of all pairs but these.

#include "backends.hpp"
#include "complains_of.hpp"
#include "points.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// |r|^-12 and its product with the first coordinate, which is odd.
    template <int Dim>
    struct steep
    {
      static constexpr int dim = Dim, n_in = 1, n_out = 2, flops = 20;
      static constexpr std::array symmetry{parity::even, parity::odd};
      static constexpr auto name = "steep";

      template <class V>
      NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> mat<V, 2, 1>
      {
        V const i2 = inv_r * inv_r, i6 = i2 * i2 * i2, i12 = i6 * i6;
        return {{{i12}, {i12 * r[0]}}};
      }
    };

    /// Molecules of three atoms so close that K overflows in float, mixed; atoms of a molecule exclude each other.
    template <class T, int Dim>
    struct molecules
    {
      static constexpr int side = Dim == 2 ? 9 : 5;
      points<T, Dim> x;
      std::vector<T> q;
      std::vector<index_type> molecule;
      std::vector<std::uint64_t> offsets{0};
      std::vector<index_type> excluded;

      molecules()
      {
        random_numbers random(3);
        std::vector<std::array<double, Dim>> centres;
        for (int m = 0; m < (Dim == 2 ? side * side : side * side * side); ++m)
        {
          std::array<double, Dim> at;
          for (int a = 0, rest = m; a < Dim; ++a, rest /= side)
            at[a] = (rest % side + .5 + random.uniform(-.2, .2)) / side;
          centres.push_back(at);
        }
        for (int atom = 0; atom < 3; ++atom)
          for (std::size_t m = 0; m < centres.size(); ++m)
          {
            auto at = centres[m];
            at[0] += 1e-4 * atom;
            x.push_back(at);
            q.push_back(static_cast<T>(random.uniform(.5, 1)));
            molecule.push_back(static_cast<index_type>(m));
          }
        for (std::size_t i = 0; i < x.size(); ++i)
        {
          // one direction is enough, and both do no harm
          for (std::size_t j = molecule[i] % 2 == 0 ? 0 : i; j < x.size(); ++j)
            if (j != i && molecule[i] == molecule[j])
              excluded.push_back(static_cast<index_type>(j));
          offsets.push_back(excluded.size());
        }
      }
      [[nodiscard]] near_field_options options(pair_form form) const
      {
        return {.form = form, .excluded_offsets = offsets, .excluded = excluded};
      }
      void expect_sums(std::array<std::vector<T>, 2> const& out) const
      {
        for (std::size_t i = 0; i < x.size(); ++i)
        {
          std::array<double, 2> sum{}, size{};
          for (std::size_t j = 0; j < x.size(); ++j)
          {
            if (molecule[i] == molecule[j]) continue;
            double r2 = 0;
            for (auto const& c : x.columns) r2 += std::pow(double(c[i]) - double(c[j]), 2);
            double const value = q[j] / std::pow(r2, 6),
                         other = value * (double(x.columns[0][i]) - double(x.columns[0][j]));
            sum[0] += value;
            sum[1] += other;
            size[0] += value;
            size[1] += value * std::sqrt(r2);
          }
          for (std::size_t o = 0; o < 2; ++o)
            ASSERT_NEAR(out[o][i], sum[o], 300 * std::numeric_limits<T>::epsilon() * size[o])
                << "output " << o << " of point " << i;
        }
      }
    };

    template <class Kind>
    class excluded_pairs_of : public testing::Test
    {};
    template <class T, int Dim>
    struct excluded_kind
    {
      using real = T;
      static constexpr int dim = Dim;
    };
    using excluded_kinds = testing::Types<excluded_kind<float, 2>, excluded_kind<float, 3>,
                                          excluded_kind<double, 2>, excluded_kind<double, 3>>;
    TYPED_TEST_SUITE(excluded_pairs_of, excluded_kinds);
  }

  TYPED_TEST(excluded_pairs_of, are_left_out_and_not_subtracted)
  {
    using T = typename TypeParam::real;
    constexpr int Dim = TypeParam::dim;
    molecules<T, Dim> const of;
    steep<Dim> const k;
    // all points meet all
    cell_list<T, Dim> const cells(of.x.view(), T(.7));
    auto const tree = build_tree(of.x.view(), tree_options<Dim>{.level = 1});
    threads on(2);
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      SCOPED_TRACE(form == pair_form::mutual ? "mutual" : "one-sided");
      std::array<std::vector<T>, 2> first;
      auto const expect = [&](auto const& where, auto const& leaves)
      {
        std::array<std::vector<T>, 2> out;
        for (auto& column : out) column.resize(of.x.size(), T(7));
        near_field(where, k, leaves, of.x.view(), soa{of.q}, soa{out[0], out[1]}, of.options(form));
        of.expect_sums(out);
        return out;
      };
      for (auto const& backend : tested_backends())
        backend.run(
            [&](auto where)
            {
              expect(where, cells);
              expect(where, tree);
            });
      auto const on_threads = expect(simd.with(on), tree);
      if (form == pair_form::one_sided)
      {
        EXPECT_EQ(on_threads, expect(simd, tree)) << "bits depend on threads";
      }
      EXPECT_EQ(on_threads, expect(simd.with(on), tree)) << "bits depend on time";
    }
  }

  TYPED_TEST(excluded_pairs_of, several_right_hand_sides_and_lists_in_order)
  {
    using T = typename TypeParam::real;
    constexpr int Dim = TypeParam::dim;
    molecules<T, Dim> const of;
    steep<Dim> const k;
    std::vector<T> twice;
    for (T const q : of.q) twice.push_back(2 * q);
    // one leaf of all points, whose order is that of the columns
    std::vector<index_type> const first{0, static_cast<index_type>(of.x.size())};
    std::vector<index_type> const none{0, 0};
    leaf_list const leaves({first}, {none, {}});
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      std::array<std::vector<T>, 2> a, b;
      for (auto* const out : {&a, &b})
        for (auto& column : *out) column.resize(of.x.size());
      near_field(simd, k, leaves, of.x.view(), soa{of.q, twice}, soa{a[0], a[1], b[0], b[1]},
                 of.options(form));
      of.expect_sums(a);
      for (auto& column : b)
        for (T& value : column) value /= 2;
      of.expect_sums(b);
      near_field(simd, k, leaves.targets(),
                 form == pair_form::mutual ? leaves.half_interactions() : leaves.interactions(),
                 of.x.view(), soa{of.q}, soa{a[0], a[1]}, of.options(form));
      of.expect_sums(a);
    }
  }

  TEST(excluded_pairs, must_be_there)
  {
    molecules<double, 3> const of;
    cell_list<double, 3> const cells(of.x.view(), .7);
    std::vector<double> value(of.x.size()), odd(of.x.size());
    auto const sums =
        [&](std::vector<std::uint64_t> const& offsets, std::vector<index_type> const& excluded)
    {
      near_field(simd, steep<3>{}, cells, of.x.view(), soa{of.q}, soa{value, odd},
                 {.excluded_offsets = offsets, .excluded = excluded});
    };
    EXPECT_THAT([&] { sums({0, 1}, {1}); },
                complains_of("near_field: .excluded_offsets has 2 values; give 376"));
    std::vector<std::uint64_t> offsets(of.x.size() + 1, 1);
    EXPECT_THAT([&] { sums(offsets, {1}); }, complains_of("must ascend from 0 to 1"));
    offsets[0] = 0;
    EXPECT_THAT([&] { sums(offsets, {375}); },
                complains_of("value 0 of .excluded is 375, and there are 375 points"));
  }
}
