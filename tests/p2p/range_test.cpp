#include <nearfield/p2p/p2p.hpp>

#include "backends.hpp"
#include "p2p/p2p_cases.hpp"

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
    struct range
    {
      double from, to;
    };

    /// From which to which |r| K is right in precision T: the table of docs/conventions.md, copied by hand.
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

    /// Distances of either sign in the range: its ends, the powers of ten, and others with random
    /// digits up to n.
    template <class T>
    std::vector<T> distances(range within, std::size_t n)
    {
      double const from =
          std::log10(std::max(within.from, static_cast<double>(std::numeric_limits<T>::min())));
      double const to = std::log10(within.to);
      std::vector<T> result{static_cast<T>(within.from), static_cast<T>(within.to)};
      for (int power = static_cast<int>(std::ceil(from)); power <= to; ++power)
        result.push_back(static_cast<T>(std::pow(10., power)));
      random_numbers random(7);
      while (result.size() < n)
        result.push_back(static_cast<T>(std::pow(10., random.uniform(from, to))));
      for (T& r : result) r = random.uniform() < 0.5 ? -r : r;
      return result;
    }

    /// The size of a term as docs/conventions.md has it: max(|K_oi|, sum_d |r_d dK_oi/dr_d|) |q_i|,
    /// and no less than what underflow may cost; here for one pair and ones as inputs.
    template <class T, class K>
    std::array<long double, K::n_out> size_of_term(K const& k, long_vector<K::dim> const& r)
    {
      constexpr long double step = 1e-6L;
      constexpr long double least = std::numeric_limits<T>::min() / tolerance<T>;
      auto const map = formula<K>::at(k, r);
      long_matrix<K::n_out, K::n_in> change{};
      for (int d = 0; d < K::dim; ++d)
      {
        auto moved = r;
        moved[d] *= 1 + step;
        auto const other = formula<K>::at(k, moved);
        for (int o = 0; o < K::n_out; ++o)
          for (int c = 0; c < K::n_in; ++c)
            change[o][c] += std::abs(other[o][c] - map[o][c]) / step;
      }
      std::array<long double, K::n_out> size{};
      for (int o = 0; o < K::n_out; ++o)
        for (int c = 0; c < K::n_in; ++c)
          size[o] += std::max({std::abs(map[o][c]), change[o][c], least});
      return size;
    }

    // Pairs one at a time, so that no larger term hides the error of a smaller one: every distance is
    // a target of one source, and every one a source of one target, in each lane of a pack. Along
    // each axis, and where the first entry of a dipole tensor is zero.
    template <class T, class K>
    void expect_right_pairs(K const& k, range within)
    {
      std::size_t const n = 2000;
      std::vector<T> const r = distances<T>(within, n);
      guarded<T, K::dim> const origin(1);
      guarded<T, K::n_in> const ones(n, T(1)), one(1, T(1));
      for (int direction = 0; direction <= K::dim; ++direction)
      {
        guarded<T, K::dim> x(n);
        for (std::size_t i = 0; i < n; ++i)
          if (direction < K::dim)
            x.column(direction)[i] = r[i];
          else
          {
            x.column(0)[i] = r[i] * T(std::sqrt(1. / 3));
            x.column(1)[i] = r[i] * T(std::sqrt(2. / 3));
          }
        auto expected = reference(k, x.view(), origin.view(), one.view(), all_pairs);
        for (std::size_t i = 0; i < n; ++i)
        {
          long_vector<K::dim> at;
          for (int d = 0; d < K::dim; ++d) at[d] = static_cast<long double>(x.view()[d][i]);
          auto const size = size_of_term<T>(k, at);
          for (int o = 0; o < K::n_out; ++o) expected.scale[o][i] = size[o];
        }
        for (tested_backend const& backend : tested_backends())
        {
          guarded<T, K::n_out> targets(n), sources(n), unused(1);
          backend.run(
              [&](auto where)
              {
                p2p_outer(where, k, x.view(), origin.view(), one.view(), targets.view());
                p2p_outer_mutual(where, k, origin.view(), x.view(), one.view(), ones.view(),
                                 unused.view(), sources.view());
              });
          EXPECT_LE(error_of(targets.view(), expected), tolerance<T>) << backend;
          EXPECT_LE(error_of(sources.view(), expected), tolerance<T>) << backend;
        }
      }
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
