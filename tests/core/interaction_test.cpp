#include <nearfield/core/interaction.hpp>

#include <nearfield/kernels/builtin.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace nearfield::test
{
  struct no_inputs
  {
    static constexpr int dim = 3, n_out = 1, flops = 1;
    static constexpr auto name = "no_inputs";
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const&) const -> mat<V, 1, 1>;
  };

  namespace
  {
    using ::testing::ElementsAre;

    /// A user's own: 1 / sqrt(r^2 + eps2), and its product with the components of r.
    struct softened
    {
      static constexpr int dim = 2, n_in = 1, n_out = 3, flops = 12;
      static constexpr std::array symmetry{parity::even, parity::odd, parity::odd};
      static constexpr auto name = "softened";
      double eps2;

      template <class V>
      NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, n_out, n_in>
      {
        V const f = rsqrt(dot(r, r) + V(eps2));
        return {{{f}, {f * r[0]}, {f * r[1]}}};
      }
    };

    struct four_dimensional : softened
    {
      static constexpr int dim = 4;
    };

    struct not_callable
    {
      static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 1;
      static constexpr auto name = "not_callable";
    };

    struct without_way_back
    {
      static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 1;
      static constexpr auto name = "without_way_back";
      template <class V>
      NEARFIELD_FN auto operator()(vec<V, 3> const& r) const -> mat<V, 1, 1>
      {
        return {{{r[0] + V(1)}}};
      }
    };

    /// Two outputs are stated, one is returned.
    struct too_few_outputs : without_way_back
    {
      static constexpr int n_out = 2;
    };

    struct too_few_inputs : without_way_back
    {
      static constexpr int n_in = 2;
    };

    struct radial_with_too_few_outputs : one_over_r<>
    {
      static constexpr int n_out = 3;
    };

    struct without_a_map
    {
      static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 1;
      static constexpr auto name = "without_a_map";
      template <class V>
      NEARFIELD_FN V operator()(vec<V, 3> const& r) const
      {
        return r[0];
      }
    };

    /// Zero through a matrix and infinity: one column alone does not show it.
    struct singular_in_its_second_input
    {
      static constexpr int dim = 2, n_in = 2, n_out = 1, flops = 8;
      static constexpr auto name = "singular_in_its_second_input";
      template <class V>
      NEARFIELD_FN auto operator()(vec<V, 2> const& r) const -> mat<V, 1, 2>
      {
        return {{{V(1), log(dot(r, r))}}};
      }
    };
  }

  TEST(interaction, is_any_struct_with_a_shape_and_a_formula)
  {
    static_assert(interaction<softened>);
    static_assert(interaction<without_way_back>);
    static_assert(interaction<one_over_r<>>);
    static_assert(interaction<val_grad_one_over_r<2>>);
    static_assert(!interaction<no_inputs>);
    static_assert(!interaction<four_dimensional>);
    static_assert(!interaction<not_callable>);
    static_assert(!interaction<int>);
    SUCCEED();
  }

  TEST(interaction, maps_as_many_inputs_to_as_many_outputs_as_it_states)
  {
    static_assert(!interaction<too_few_outputs>);
    static_assert(!interaction<too_few_inputs>);
    static_assert(!interaction<radial_with_too_few_outputs>);
    static_assert(!interaction<without_a_map>);
    SUCCEED();
  }

  TEST(interaction, is_radial_where_it_takes_the_reciprocal_root)
  {
    static_assert(detail::radial_interaction<one_over_r<>>);
    static_assert(detail::homogeneous_in_root<one_over_r<>>);
    static_assert(!detail::radial_interaction<softened>);
    vec<double, 3> const r{2, 3, 6};
    EXPECT_DOUBLE_EQ(detail::evaluate(one_over_r<>{}, r).to(vec<double, 1>{1})[0], 1. / 7);
  }

  TEST(interaction, goes_back_by_its_parity)
  {
    softened const k{1};
    vec<double, 1> const q{6};
    vec<double, 2> const r{2, -2}, minus_r{-2, 2};
    auto const back = detail::apply_back<softened>(k(r), q);
    EXPECT_THAT(back.data, ElementsAre(2, -4, 4));
    EXPECT_THAT(k(minus_r).to(q).data, ElementsAre(2, -4, 4));
    EXPECT_EQ(detail::parity_of<softened>(0), parity::even);
    EXPECT_EQ(detail::parity_of<softened>(2), parity::odd);
    EXPECT_EQ(detail::parity_of<one_over_r<>>(0), parity::even);
  }

  TEST(interaction, goes_back_through_its_map_where_that_has_a_way)
  {
    grad_one_over_r<3> const k;
    vec<double, 3> const r{0, 0.5, 0}, minus_r{0, -0.5, 0};
    auto const back =
        detail::apply_back<grad_one_over_r<3>>(detail::evaluate(k, r), vec<double, 1>{1});
    auto const expected = detail::evaluate(k, minus_r).to(vec<double, 1>{1});
    EXPECT_THAT(back.data, ElementsAre(expected[0], expected[1], expected[2]));
    EXPECT_EQ(back[1], 4);
  }

  TEST(interaction, says_whether_it_has_a_way_back)
  {
    static_assert(detail::has_way_back<softened>);
    static_assert(detail::has_way_back<grad_one_over_r<>>);
    static_assert(!detail::has_way_back<without_way_back>);
    SUCCEED();
  }

  TEST(is_singular, looks_at_distance_zero_and_at_every_input)
  {
    EXPECT_TRUE(is_singular(one_over_r<>{}));
    EXPECT_TRUE(is_singular(val_grad_one_over_r<2>{}));
    EXPECT_TRUE(is_singular(softened{0}));
    EXPECT_FALSE(is_singular(softened{0.01}));
    EXPECT_FALSE(is_singular(without_way_back{}));
    EXPECT_TRUE(is_singular(singular_in_its_second_input{}));
  }
}
