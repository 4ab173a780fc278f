#include <nearfield/p2p/p2p.hpp>

#include "backends.hpp"
#include "p2p/guarded.hpp"
#include "p2p/p2p_cases.hpp"

#include <gtest/gtest.h>

#include <cstddef>

// Every column ends, or begins, at a page that cannot be touched: a kernel that reads or writes outside
// its views ends the program. The sentinels around the columns of the other tests find what stays nearer.

namespace nearfield::test
{
  namespace
  {
    template <class K, class T>
    void expect_inside(fence side)
    {
      K const k{};
      for (std::size_t const n : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100, 700})
      {
        fenced_columns<T, K::dim> const x(n, side, T(0)), y(n, side, T(1));
        for (int d = 0; d < K::dim; ++d)
          for (std::size_t i = 0; i < n; ++i) x.view()[d][i] = T(i * (1 + d));
        fenced_columns<T, K::n_in> const q(n, side, T(1));
        fenced_columns<T, K::n_out> const a(n, side, T(0)), b(n, side, T(0)), c(n, side, T(0));
        guarded<T, K::n_out> expected(n);
        p2p_inner(scalar, k, x.view(), q.view(), expected.view());
        for (tested_backend const& backend : tested_backends())
        {
          fenced_columns<T, K::n_out> const inner(n, side, T(0));
          backend.run(
              [&](auto where)
              {
                p2p_inner(where, k, x.view(), q.view(), inner.view());
                p2p_inner_mutual(where, k, x.view(), q.view(), a.view());
                p2p_outer(where, k, x.view(), y.view(), q.view(), a.view());
                p2p_outer_mutual(where, k, x.view(), y.view(), q.view(), q.view(), b.view(),
                                 c.view());
              });
          for (int o = 0; o < K::n_out; ++o)
            for (std::size_t i = 0; i < n; ++i)
              EXPECT_NEAR(inner.view()[o][i], expected.column(o)[i],
                          1e-5 * (1 + std::abs(static_cast<double>(expected.column(o)[i]))))
                  << backend << ", " << n << " points";
        }
      }
    }

    template <class Case>
    class bounds_of : public ::testing::Test
    {};
    using bounds_cases =
        ::testing::Types<p2p_case<one_over_r<2>, float>, p2p_case<val_grad_one_over_r<3>, float>,
                         p2p_case<one_over_r<3>, double>, p2p_case<dipole_tensor<3>, double>,
                         p2p_case<gaussian<2>, double>>;
    TYPED_TEST_SUITE(bounds_of, bounds_cases, p2p_case_names);
  }

  TYPED_TEST(bounds_of, nothing_after_a_column_is_touched)
  {
    expect_inside<typename TypeParam::interaction, typename TypeParam::real>(fence::after);
  }

  TYPED_TEST(bounds_of, nothing_before_a_column_is_touched)
  {
    expect_inside<typename TypeParam::interaction, typename TypeParam::real>(fence::before);
  }

  TEST(fences, end_a_program_that_touches_them)
  {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    fenced<double> const after(5, fence::after, 1.), before(5, fence::before, 1.);
    double const volatile* const end = after.data() + 5;
    double const volatile* const start = before.data();
    EXPECT_EQ(end[-1], 1);
    EXPECT_EQ(start[0], 1);
    EXPECT_DEATH(static_cast<void>(end[0]), "");
    EXPECT_DEATH(static_cast<void>(start[-1]), "");
  }
}
