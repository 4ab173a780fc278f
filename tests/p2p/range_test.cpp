#include <nearfield/p2p/p2p.hpp>

#include "p2p/p2p_cases.hpp"
#include "p2p/ranges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// From which to which |r| K is right in precision T: the table of docs/kernels.md, copied by hand.
    template <class K, class T>
    constexpr range stated_range()
    {
      constexpr int dim = K::dim;
      constexpr bool is_float = std::is_same_v<T, float>;
      if constexpr (std::is_same_v<K, one_over_r<dim>> || std::is_same_v<K, log_r>)
        return is_float ? range{1.1e-19, 1.8e19} : range{1.5e-154, 1.3e154};
      else if constexpr (std::is_same_v<K, grad_log_r>)
        return is_float ? range{1.1e-19, 9e18} : range{1.2e-153, 6.7e153};
      else if constexpr (std::is_same_v<K, dipole_tensor<dim>>)
        return is_float ? range{2.2e-13, 4.3e12} : range{2.7e-103, 3.5e102};
      else if constexpr (std::is_same_v<K, gaussian<dim>>)
        return is_float ? range{0, 9.3 * example<K>().sigma} : range{0, 26.6 * example<K>().sigma};
      else
        return is_float ? range{3e-13, 4.3e12} : range{3e-102, 3.5e102};
    }

    template <class Case>
    class range_of : public ::testing::Test
    {};
    TYPED_TEST_SUITE(range_of, all_p2p_cases, p2p_case_names);
  }

  TYPED_TEST(range_of, every_pair_is_right_wherever_the_documents_say_so)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    expect_right_pairs<T>(example<K>(), stated_range<K, T>());
  }

  template <class T>
  class range_in : public ::testing::Test
  {};
  using reals = ::testing::Types<float, double>;
  TYPED_TEST_SUITE(range_in, reals);

  TYPED_TEST(range_in, softened_r_over_r3_has_no_lower_end)
  {
    using T = TypeParam;
    range const within = stated_range<r_over_r3<3>, T>();
    for (double const eps : {2 * within.from, 1e-3, 1., 1e5})
      expect_right_pairs<T>(r_over_r3<3>{.eps = eps}, {0, within.to});
  }

  TYPED_TEST(range_in, val_grad_one_over_r_keeps_its_value_where_its_gradient_is_out_of_range)
  {
    using T = TypeParam;
    std::size_t const n = 2000;
    auto const r = distances<T>(stated_range<one_over_r<3>, T>(), n);
    guarded<T, 3> x(n);
    std::ranges::copy(r, x.column(2).begin());
    guarded<T, 3> const origin(1);
    guarded<T, 1> const one(1, T(1));
    auto const values = reference(one_over_r<3>{}, x.view(), origin.view(), one.view(), all_pairs);
    for (tested_backend const& backend : tested_backends())
    {
      guarded<T, 4> out(n);
      backend.run(
          [&](auto where)
          {
            p2p_outer(where, val_grad_one_over_r<3>{}, x.view(), origin.view(), one.view(),
                      out.view());
          });
      EXPECT_LE(error_of(out.template view<1>(0), values), tolerance<T>) << backend;
    }
  }

  // What is no normal number may be zero, subnormal or the least normal number, and nothing else.
  TYPED_TEST(range_in, gaussian_goes_to_zero_where_it_leaves_the_normal_numbers)
  {
    using T = TypeParam;
    T const least = std::numeric_limits<T>::min();
    double const end = std::sqrt(-std::log(static_cast<double>(least)));
    std::vector<T> r;
    for (int i = -1000; i <= 2000; ++i) r.push_back(static_cast<T>(end + 1e-3 * i));
    for (double const factor : {2., 10., 100., 1e4, 1e5, 1e9, 1e10, 1e18, 1e19, 1e30, 1e37})
      r.push_back(static_cast<T>(end * factor));
    r.push_back(std::numeric_limits<T>::max());
    guarded<T, 3> x(r.size());
    std::ranges::copy(r, x.column(1).begin());
    guarded<T, 3> const origin(1);
    guarded<T, 1> const one(1, T(1));
    for (tested_backend const& backend : tested_backends())
    {
      guarded<T, 1> out(r.size());
      backend.run(
          [&](auto where)
          { p2p_outer(where, gaussian<3>{}, x.view(), origin.view(), one.view(), out.view()); });
      for (std::size_t i = 0; i < r.size(); ++i)
      {
        auto const exact = std::exp(-static_cast<long double>(r[i]) * r[i]);
        auto const rounding = 2 * exact * static_cast<long double>(r[i]) * r[i] * tolerance<T>;
        ASSERT_NEAR(out.view()[0][i], exact, least + rounding) << backend << ", r = " << r[i];
        ASSERT_GE(out.view()[0][i], 0) << backend << ", r = " << r[i];
      }
    }
  }

  // The seed of a root has errors of its own in every interval [4^k, 4^(k+1)): one of them in fine steps.
  TEST(range, roots_are_good_to_a_few_digits_of_the_last_place)
  {
    std::size_t const n = 20000;
    one_over_r<3> const k;
    guarded<double, 3> x(n);
    for (std::size_t i = 0; i < n; ++i)
      x.column(2)[i] = 1 + static_cast<double>(i) / static_cast<double>(n);
    guarded<double, 3> const origin(1);
    guarded<double, 1> const one(1, 1.), ones(n, 1.);
    auto const sums = reference(k, x.view(), origin.view(), one.view(), all_pairs);
    for (tested_backend const& backend : tested_backends())
    {
      guarded<double, 1> out(n), unused(1);
      backend.run(
          [&](auto where)
          {
            p2p_outer_mutual(where, k, origin.view(), x.view(), one.view(), ones.view(),
                             unused.view(), out.view());
          });
      EXPECT_LE(error_of(out.view(), sums), 2e-15) << backend;
    }
  }
}
