#include <nearfield/p2p/p2p.hpp>

#include "backends.hpp"
#include "p2p/guarded.hpp"
#include "p2p/p2p_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

// Boxes of 1 to 20 points, with themselves and with others: on both sides of small_box_points, and of all packs.
// Columns lie between NaN, or begin or end at a page that cannot be touched, and the bits are the same.

namespace nearfield::test
{
  namespace
  {
    template <class T, int N>
    fenced_columns<T, N> fenced_copy(guarded<T, N> const& from, fence side)
    {
      fenced_columns<T, N> result(from.size(), side, T(0));
      for (int c = 0; c < N; ++c) std::ranges::copy(from.column(c), result.view()[c]);
      return result;
    }

    template <class T, int N>
    bool same_bits(soa<T, N> const& a, soa<T, N> const& b)
    {
      for (int c = 0; c < N; ++c)
        if (std::memcmp(a[c], b[c], a.size() * sizeof(T)) != 0) return false;
      return true;
    }

    /// What the four forms add for targets x and sources y.
    template <class Columns>
    struct results
    {
      Columns inner, inner_mutual, outer, x_mutual, y_mutual;

      template <class Where, class K, class X, class Q>
      void add(Where where, K const& k, X const& x, Q const& x_q, X const& y, Q const& y_q)
      {
        p2p_inner(where, k, x, x_q, inner.view());
        p2p_inner_mutual(where, k, x, x_q, inner_mutual.view());
        p2p_outer(where, k, x, y, y_q, outer.view());
        p2p_outer_mutual(where, k, x, y, x_q, y_q, x_mutual.view(), y_mutual.view());
      }
    };

    template <class Case>
    class small_boxes_of : public ::testing::Test
    {
    protected:
      using K = typename Case::interaction;
      using T = typename Case::real;
      static constexpr T initial = initial_output<T>;
      K const k = example<K>();

      void expect(std::size_t n, std::size_t m) const
      {
        SCOPED_TRACE(testing::Message() << n << " targets, " << m << " sources");
        auto const x = some_points<T, K::dim>(cloud::coincident, n, 1);
        auto const y = some_points<T, K::dim>(cloud::coincident, m, 2);
        auto const x_q = some_values<T, K::n_in>(n, 3), y_q = some_values<T, K::n_in>(m, 4);
        auto const sums = [&](auto const& targets, auto const& sources, auto const& q, auto pairs)
        {
          auto result = reference(k, targets.view(), sources.view(), q.view(), pairs);
          add_initial(result, initial);
          return result;
        };
        auto const inner = sums(x, x, x_q, other_points), outer = sums(x, y, y_q, all_pairs),
                   back = sums(y, x, x_q, all_pairs);
        for (tested_backend const& backend : tested_backends())
        {
          SCOPED_TRACE(backend);
          using free_columns = guarded<T, K::n_out>;
          results<free_columns> out{free_columns(n, initial), free_columns(n, initial),
                                    free_columns(n, initial), free_columns(n, initial),
                                    free_columns(m, initial)};
          backend.run([&](auto where)
                      { out.add(where, k, x.view(), x_q.view(), y.view(), y_q.view()); });
          EXPECT_LE(error_of(out.inner.view(), inner), tolerance<T>);
          EXPECT_LE(error_of(out.inner_mutual.view(), inner), tolerance<T>);
          EXPECT_LE(error_of(out.outer.view(), outer), tolerance<T>);
          EXPECT_LE(error_of(out.x_mutual.view(), outer), tolerance<T>);
          EXPECT_LE(error_of(out.y_mutual.view(), back), tolerance<T>);
          EXPECT_TRUE(out.inner.is_intact() && out.inner_mutual.is_intact() &&
                      out.outer.is_intact() && out.x_mutual.is_intact() &&
                      out.y_mutual.is_intact());
          for (fence const side : {fence::before, fence::after})
          {
            auto const at = [&](auto const& columns)
            {
              return fenced_copy(columns, side);
            };
            auto const near_x = at(x), near_y = at(y);
            auto const near_x_q = at(x_q), near_y_q = at(y_q);
            using near_columns = fenced_columns<T, K::n_out>;
            results<near_columns> near{
                near_columns(n, side, initial), near_columns(n, side, initial),
                near_columns(n, side, initial), near_columns(n, side, initial),
                near_columns(m, side, initial)};
            backend.run(
                [&](auto where)
                {
                  near.add(where, k, soa<T const, K::dim>(near_x.view()),
                           soa<T const, K::n_in>(near_x_q.view()),
                           soa<T const, K::dim>(near_y.view()),
                           soa<T const, K::n_in>(near_y_q.view()));
                });
            EXPECT_TRUE(same_bits(near.inner.view(), out.inner.view()));
            EXPECT_TRUE(same_bits(near.inner_mutual.view(), out.inner_mutual.view()));
            EXPECT_TRUE(same_bits(near.outer.view(), out.outer.view()));
            EXPECT_TRUE(same_bits(near.x_mutual.view(), out.x_mutual.view()));
            EXPECT_TRUE(same_bits(near.y_mutual.view(), out.y_mutual.view()));
          }
        }
      }
    };
    // radial or not, singular or not, one output or several
    using small_box_cases =
        ::testing::Types<p2p_case<one_over_r<3>, float>, p2p_case<one_over_r<3>, double>,
                         p2p_case<val_grad_one_over_r<3>, float>,
                         p2p_case<val_grad_one_over_r<2>, double>, p2p_case<log_r, float>,
                         p2p_case<gaussian<2>, double>, p2p_case<dipole_tensor<3>, double>>;
    TYPED_TEST_SUITE(small_boxes_of, small_box_cases, p2p_case_names);
  }

  TYPED_TEST(small_boxes_of, have_the_same_right_sums_wherever_their_columns_lie)
  {
    for (std::size_t n = 1; n <= 20; ++n)
      for (std::size_t m = 1; m <= 20; ++m) this->expect(n, m);
  }
}
