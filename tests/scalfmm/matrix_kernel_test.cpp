#include <nearfield/scalfmm.hpp>

#include "p2p/p2p_cases.hpp"
#include "reference.hpp"
#include "scalfmm/formulas.hpp"
#include "scalfmm/stand_in.hpp"

#include <xsimd/xsimd.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using scalfmm::matrix_kernels::homogeneity;
    using scalfmm::matrix_kernels::symmetry;
    using scalfmm3::matrix_kernel;

    template <class V, std::size_t Dim>
    using point = scalfmm::container::point<V, Dim>;

    template <class K>
    struct of_scalfmm : testing::Test
    {
      K k{};
      matrix_kernel<K> mk{k};
      point<double, K::dim> x{}, y{};

      of_scalfmm()
      {
        for (int d = 0; d < K::dim; ++d) x[d] = 0.9 - 0.3 * d, y[d] = 0.2 + 0.4 * d;
      }
      auto formula_at(double stretch = 1) const
      {
        long_vector<K::dim> r;
        for (int d = 0; d < K::dim; ++d) r[d] = stretch * (x[d] - y[d]);
        return formula<K>::at(k, r);
      }
    };
    template <class>
    struct as_tests;
    template <class... Ks>
    struct as_tests<detail::type_list<Ks...>>
    {
      using type = testing::Types<Ks..., scalfmm3::val_grad_ln_2d>;
    };
    TYPED_TEST_SUITE(of_scalfmm, as_tests<typed_interactions>::type);

    TYPED_TEST(of_scalfmm, evaluate_is_the_formula_row_after_row)
    {
      using mk_type = matrix_kernel<TypeParam>;
      auto const expected = this->formula_at();
      auto const got = this->mk.evaluate(this->x, this->y);
      static_assert(
          std::is_same_v<decltype(got), typename mk_type::template matrix_type<double> const>);
      for (std::size_t n = 0; n < mk_type::kn; ++n)
        for (std::size_t m = 0; m < mk_type::km; ++m)
          EXPECT_NEAR(got[n * mk_type::km + m], double(expected[n][m]), 1e-13);
    }

    TYPED_TEST(of_scalfmm, evaluate_takes_batches)
    {
      using batch = xsimd::batch<double>;
      point<batch, TypeParam::dim> targets, sources;
      for (int d = 0; d < TypeParam::dim; ++d)
        targets[d] = batch(this->x[d]), sources[d] = batch(this->y[d]);
      auto const expected = this->mk.evaluate(this->x, this->y);
      auto const got = this->mk.evaluate(targets, sources);
      for (std::size_t e = 0; e < expected.size(); ++e)
      {
        std::vector<double> lanes(batch::size);
        got[e].store_unaligned(lanes.data());
        for (double const lane : lanes) EXPECT_NEAR(lane, expected[e], 1e-13);
      }
    }

    TYPED_TEST(of_scalfmm, mutual_coefficient_is_the_way_back)
    {
      auto const there = this->mk.evaluate(this->x, this->y);
      auto const back = this->mk.evaluate(this->y, this->x);
      auto const sign = this->mk.template mutual_coefficient<double>();
      for (std::size_t n = 0; n < this->mk.kn; ++n)
        for (std::size_t m = 0; m < this->mk.km; ++m)
          EXPECT_NEAR(sign[n] * there[n * this->mk.km + m], back[n * this->mk.km + m], 1e-13);
    }

    TYPED_TEST(of_scalfmm, scale_factor_is_that_of_the_formula)
    {
      using mk_type = matrix_kernel<TypeParam>;
      if (mk_type::homogeneity_tag != homogeneity::homogenous) return;
      auto const unit = this->formula_at(), wide = this->formula_at(2.5);
      auto const factor = this->mk.scale_factor(2.5);
      for (std::size_t n = 0; n < mk_type::kn; ++n)
        for (std::size_t m = 0; m < mk_type::km; ++m)
          EXPECT_NEAR(double(wide[n][m]), factor[n] * double(unit[n][m]), 1e-13);
    }
  }

  TEST(matrix_kernel, tags_are_those_of_scalfmm)
  {
    using coulomb = matrix_kernel<one_over_r<3>>;
    static_assert(coulomb::homogeneity_tag == homogeneity::homogenous);
    static_assert(homogeneity::non_homogenous != coulomb::homogeneity_tag);
    static_assert(coulomb::symmetry_tag == symmetry::symmetric);
    static_assert(matrix_kernel<grad_one_over_r<3>>::symmetry_tag == symmetry::non_symmetric);
    static_assert(matrix_kernel<log_r>::homogeneity_tag == homogeneity::non_homogenous);
    static_assert(matrix_kernel<r_over_r3<3>>::homogeneity_tag == homogeneity::non_homogenous);
    constexpr symmetry converted = coulomb::symmetry_tag;
    EXPECT_EQ(converted, symmetry::symmetric);
    EXPECT_EQ(coulomb::separation_criterion, 1);
    EXPECT_EQ(coulomb{}.name(), "one_over_r");
  }

  // like_mrhs of ScalFMM
  TEST(matrix_kernel, several_right_hand_sides_are_blocks_on_the_diagonal)
  {
    matrix_kernel<val_grad_one_over_r<2>, 2> const mk;
    static_assert(mk.km == 2 && mk.kn == 6);
    point<double, 2> const x{{0.5, 0.25}}, y{{-0.5, 1}};
    auto const one = matrix_kernel<val_grad_one_over_r<2>>{}.evaluate(x, y);
    auto const two = mk.evaluate(x, y);
    for (std::size_t n = 0; n < 6; ++n)
      for (std::size_t m = 0; m < 2; ++m) EXPECT_EQ(two[n * 2 + m], n / 3 == m ? one[n % 3] : 0);
    EXPECT_EQ(mk.mutual_coefficient<float>(), (std::array<float, 6>{1, -1, -1, 1, -1, -1}));
    EXPECT_EQ(mk.scale_factor(2.), (std::array<double, 6>{0.5, 0.25, 0.25, 0.5, 0.25, 0.25}));
  }

  TEST(matrix_kernel, carries_parameters)
  {
    matrix_kernel<gaussian<3>> const mk{{.sigma = 2}};
    point<double, 3> const x{{1, 0, 0}}, y{{0, 0, 0}};
    EXPECT_DOUBLE_EQ(mk.evaluate(x, y)[0], std::exp(-0.25));
  }
}
