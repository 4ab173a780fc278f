#include <nearfield/kernels/builtin.hpp>

#include "p2p/p2p_cases.hpp"
#include "points.hpp"
#include "reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace nearfield::test
{
  namespace
  {
    template <class Case>
    class formula_of : public ::testing::Test
    {};
    TYPED_TEST_SUITE(formula_of, all_p2p_cases, p2p_case_names);

    template <class T, int N>
    vec<T, N> unit(int i)
    {
      vec<T, N> q{};
      q[i] = T(1);
      return q;
    }
  }

  TYPED_TEST(formula_of, is_the_documented_one_entry_by_entry)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    K const k = example<K>();
    random_numbers random(1);
    for (int sample = 0; sample < 200; ++sample)
    {
      vec<T, K::dim> r;
      long_vector<K::dim> exact;
      for (int d = 0; d < K::dim; ++d) exact[d] = r[d] = static_cast<T>(random.uniform(-0.5, 0.5));
      auto const map = detail::evaluate(k, r);
      auto const expected = formula<K>::at(k, exact);
      long double largest = 0;
      for (auto const& row : expected)
        for (long double const entry : row) largest = std::max(largest, std::abs(entry));
      // a hundred roundings; the logarithm takes those of |r| near 1 in full
      double const bound =
          100 * std::numeric_limits<T>::epsilon() * static_cast<double>(largest + 1e-30L);
      for (int i = 0; i < K::n_in; ++i)
      {
        auto const column = map * unit<T, K::n_in>(i);
        for (int o = 0; o < K::n_out; ++o)
          ASSERT_NEAR(static_cast<double>(column[o]), static_cast<double>(expected[o][i]), bound)
              << "K_" << o << i;
      }
    }
  }

  TYPED_TEST(formula_of, goes_back_as_K_of_minus_r)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    static_assert(detail::has_way_back<K>);
    K const k = example<K>();
    vec<T, K::dim> r, minus_r;
    for (int d = 0; d < K::dim; ++d) minus_r[d] = -(r[d] = T(0.25) * T(d + 1));
    auto const there = detail::evaluate(k, r), reversed = detail::evaluate(k, minus_r);
    for (int i = 0; i < K::n_in; ++i)
    {
      auto const back = detail::apply_back<K>(there, unit<T, K::n_in>(i));
      auto const expected = reversed.to(unit<T, K::n_in>(i));
      for (int o = 0; o < K::n_out; ++o) EXPECT_EQ(back[o], expected[o]) << "K_" << o << i;
    }
  }

  TYPED_TEST(formula_of, is_singular_where_it_is_documented)
  {
    using K = typename TypeParam::interaction;
    EXPECT_EQ(is_singular(example<K>()), formula<K>::singular(example<K>()));
  }

  // The loop leaves a constant factor in the root: the outputs must scale with it as they state.
  TYPED_TEST(formula_of, scales_with_the_root_as_it_states)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    if constexpr (detail::homogeneous_in_root<K>)
    {
      K const k = example<K>();
      vec<T, K::dim> r{};
      for (int d = 0; d < K::dim; ++d) r[d] = T(d + 1);
      vec<T, 1> const one{T(1)};
      auto const small = k(r, T(0.25)).to(one), large = k(r, T(0.5)).to(one);
      for (int o = 0; o < K::n_out; ++o)
        EXPECT_EQ(large[o], small[o] * T(std::exp2(K::inv_r_power(o)))) << "output " << o;
    }
    else
      SUCCEED();
  }

  TEST(builtin_interactions, have_a_name_per_dimension_and_a_cost)
  {
    std::set<std::pair<std::string, int>> names;
    detail::builtin_interactions::for_each(
        [&]<class K>()
        {
          static_assert(interaction<K> && detail::builtin_interaction<K>);
          EXPECT_TRUE(names.emplace(K::name, K::dim).second) << K::name;
          EXPECT_GE(K::flops, 3 * K::dim + 2) << K::name;
        });
    EXPECT_EQ(names.size(), detail::builtin_interactions::size);
  }

  TEST(softened_r_over_r3, is_regular_and_has_plummers_form)
  {
    r_over_r3<3> const k{.eps = 2};
    EXPECT_FALSE(is_singular(k));
    vec<double, 3> const r{1, 2, 0};
    auto const force = k(r).to(vec<double, 1>{3});
    EXPECT_NEAR(force[0], 3. / 27, 1e-15);
    EXPECT_NEAR(force[1], 6. / 27, 1e-15);
    EXPECT_EQ(force[2], 0);
  }
}
