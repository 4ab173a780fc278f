#include <nearfield/p2p/check_interaction.hpp>

#include "complains_of.hpp"
#include "p2p/own_interactions.hpp"
#include "p2p/p2p_cases.hpp"

#include <nearfield/kernels/builtin.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

namespace nearfield::test
{
  namespace
  {
    using ::testing::AllOf;
    using ::testing::HasSubstr;
    using ::testing::Not;

    /// Mistakes in a value with its gradient.
    enum class mistake
    {
      none,
      parity,
      gradient,
      small, ///< twice the gradient
      f32,
      not_finite
    };
    template <mistake Which>
    struct softened_with_gradient
    {
      static constexpr int dim = 2, n_in = 1, n_out = 3, flops = 20;
      static constexpr std::array symmetry{parity::even, parity::odd,
                                           Which == mistake::parity ? parity::even : parity::odd};
      static constexpr auto name = "softened_with_gradient";

      template <class V>
      NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, n_out, n_in>
      {
        V const value = rsqrt(dot(r, r) + V(0.01));
        V factor = value * value * value;
        if constexpr (Which == mistake::gradient) factor = value;
        if constexpr (Which == mistake::small) factor = V(2) * factor;
        if constexpr (Which == mistake::f32)
          factor = V(1e30) * factor * V(1e30) * V(1e-30) * V(1e-30);
        if constexpr (Which == mistake::not_finite) factor = factor * V(1e300) * V(1e300);
        return {{{value}, {V(0) - factor * r[0]}, {V(0) - factor * r[1]}}};
      }
    };

    /// Radial, with the mistakes that only radial ones can have.
    template <int Power, bool IsZeroAtZero>
    struct inverse_cube
    {
      static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 10;
      static constexpr auto symmetry = parity::even;
      static constexpr auto name = "inverse_cube";
      static constexpr int inv_r_power(int) { return Power; }

      template <class V>
      NEARFIELD_FN auto operator()(vec<V, dim> const&, V const& inv_r) const -> mat<V, 1, 1>
      {
        return {{{inv_r * inv_r * inv_r + V(IsZeroAtZero ? 0 : 1e-9)}}};
      }
    };

    /// Not finite at distance one, where the loop puts pairs at distance zero.
    struct pole
    {
      static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 10;
      static constexpr auto symmetry = parity::even;
      static constexpr auto name = "pole";

      template <class V>
      NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 1, 1>
      {
        V const r2 = dot(r, r);
        return {{{V(1) / (r2 * (V(1) - r2))}}};
      }
    };

    /// Zero from 1 on, whatever it says.
    struct hat
    {
      static constexpr int dim = 2, n_in = 1, n_out = 1, flops = 8;
      static constexpr auto symmetry = parity::even;
      static constexpr auto name = "hat";
      double said;
      [[nodiscard]] NEARFIELD_FN double cutoff() const { return said; }

      template <class V>
      NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 1, 1>
      {
        V const r2 = dot(r, r);
        return {{{keep_less(r2, V(1), V(1) - r2)}}};
      }
    };

    template <mistake Which>
    std::string found()
    {
      return check_interaction(scalar, softened_with_gradient<Which>(), {.has_gradient = true});
    }
  }

  TEST(check_interaction, finds_nothing_in_the_built_in_ones_and_in_good_ones_of_a_user)
  {
    auto const check = []<class K>(K const& k)
    {
      EXPECT_EQ(check_interaction(simd, k), "") << K::name;
    };
    [&]<class... Ks>(detail::type_list<Ks...>)
    {
      (check(Ks{}), ...);
    }(typed_interactions{});
    EXPECT_EQ(check_interaction(scalar, softened{0.1}), "");
    EXPECT_EQ(check_interaction(scalar, mixed{}), "");
    EXPECT_EQ(check_interaction(scalar, spring{1}), "");
    EXPECT_EQ(check_interaction(scalar, dipole{}), "");
    EXPECT_EQ(check_interaction(scalar, blobs{}), "");
    EXPECT_EQ(check_interaction(scalar, one_way{}), "");
    EXPECT_EQ(check_interaction(scalar, outer_product{0.1}), "");
    EXPECT_EQ(check_interaction(scalar, one_over_r<>(), {.length = 1e-6}), "");
    EXPECT_EQ(found<mistake::none>(), "");
    EXPECT_EQ(check_interaction(scalar, gaussian<3>{.sigma = 0.05}), "") << "underflows in float";
  }

  TEST(check_interaction, finds_a_wrong_parity_in_K_and_in_mutual_sums)
  {
    EXPECT_THAT(found<mistake::parity>(),
                AllOf(HasSubstr("output 2: the way back"), Not(HasSubstr("output 1")),
                      HasSubstr("output 2: mutual sums of double differ"),
                      Not(HasSubstr("one-sided"))));
  }

  TEST(check_interaction, finds_mistakes_in_outputs_that_are_small_beside_others)
  {
    EXPECT_EQ(check_interaction(scalar, softened_with_gradient<mistake::none>(),
                                {.length = 1e7, .has_gradient = true}),
              "");
    EXPECT_THAT(
        check_interaction(scalar, softened_with_gradient<mistake::parity>(), {.length = 1e12}),
        HasSubstr("output 2: the way back"));
    EXPECT_THAT(check_interaction(scalar, softened_with_gradient<mistake::small>(),
                                  {.length = 1e7, .has_gradient = true}),
                HasSubstr("output 1: not the derivative"));
  }

  TEST(check_interaction, finds_a_wrong_gradient)
  {
    EXPECT_THAT(found<mistake::gradient>(),
                AllOf(HasSubstr("output 1: not the derivative of output 0"),
                      HasSubstr("output 2: not the derivative"), Not(HasSubstr("sums"))));
    EXPECT_EQ(check_interaction(scalar, softened_with_gradient<mistake::gradient>()), "")
        << "nobody said that it is a gradient";
    EXPECT_THAT(check_interaction(scalar, softened{0.1}, {.has_gradient = true}),
                HasSubstr("a gradient needs dim + 1 outputs"));
  }

  TEST(check_interaction, finds_what_float_cannot_hold)
  {
    EXPECT_THAT(found<mistake::f32>(), HasSubstr("K(r) in float is not that in double"));
    EXPECT_THAT(found<mistake::not_finite>(), HasSubstr("K(r) is not finite"));
  }

  TEST(check_interaction, finds_sums_that_are_not_finite)
  {
    EXPECT_THAT(check_interaction(scalar, pole()),
                HasSubstr("one-sided sums of float differ from a plain loop"));
  }

  TEST(check_interaction, finds_a_cutoff_that_cuts)
  {
    EXPECT_EQ(check_interaction(scalar, hat{1}), "");
    EXPECT_THAT(check_interaction(scalar, hat{0.9}),
                HasSubstr("output 0: K(r) is not zero beyond cutoff()"));
  }

  TEST(check_interaction, refuses_a_length_at_which_nothing_meets)
  {
    for (double const length : {0., -1., std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()})
      EXPECT_THAT([&] { static_cast<void>(check_interaction(scalar, one_over_r<>(), {length})); },
                  complains_of("length", "positive"));
  }

  TEST(check_interaction, finds_a_wrong_power_and_a_radial_one_that_is_not_zero_at_zero)
  {
    EXPECT_EQ(check_interaction(scalar, inverse_cube<3, true>()), "");
    EXPECT_THAT(check_interaction(scalar, inverse_cube<2, true>()),
                HasSubstr("inv_r_power is not its power"));
    EXPECT_THAT(check_interaction(scalar, inverse_cube<3, false>()),
                HasSubstr("K(0, inv_r = 0) is not zero"));
  }
}
