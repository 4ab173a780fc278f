// The results of a step, against brute force: forms, trees, clouds, precisions, interactions, sets.

#include "near_field_cases.hpp"

#include <nearfield/p2p/near_field.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  template <class Interaction, class Real>
  struct kind
  {
    using K = Interaction;
    using T = Real;
  };

  template <class Kind>
  class starpu_near_field : public testing::Test
  {
  public:
    using interaction_type = typename Kind::K;
    using real = typename Kind::T;
    static constexpr int dimension = interaction_type::dim;

    static std::vector<tree_options<dimension>> trees()
    {
      return {{.level = 3},
              {.level = 2, .order = leaf_order::morton},
              {.max_leaf_size = 12},
              {.level = 0}};
    }

    /// One set of points with its tree, and what its near field is.
    struct one_set
    {
      points<real, dimension> x;
      points<real, interaction_type::n_in> q;
      tree<dimension> leaves;
      reference_sums<interaction_type::n_out> expected;

      one_set(cloud shape, tree_options<dimension> const& cut)
          : x(make_points<real, dimension>(shape, 400)),
            q(make_inputs<real, interaction_type::n_in>(400)), leaves(build_tree(x.view(), cut)),
            expected(reference_near_field(interaction_type{}, leaves, x, x, q.view()))
      {}

      /// The error of a step.
      [[nodiscard]] double error(int leaves_per_group, pair_form form, backend where) const
      {
        auto const groups = group_leaves(leaves, {.leaves_per_group = leaves_per_group});
        auto out = make_columns<real, interaction_type::n_out>(x.size(), real(-7));
        starpu::near_field step{one_runtime(),
                                interaction_type{},
                                groups,
                                x.view(),
                                q.view(),
                                writable(out),
                                {.form = form, .backend = where}};
        step.submit();
        step.wait();
        // also with schedulers that try all implementations before they know them
        for (auto const& ran : step.statistics())
          EXPECT_TRUE(ran.implementation != "scalar" || where == backend::scalar);
        return error_of(writable(out), expected);
      }
    };
  };

  using kinds = testing::Types<kind<one_over_r<3>, double>, kind<one_over_r<3>, float>,
                               kind<val_grad_one_over_r<2>, double>,
                               kind<grad_one_over_r<3>, float>, kind<log_r, double>,
                               kind<gaussian<3>, double>, kind<dipole_tensor<3>, double>>;
  TYPED_TEST_SUITE(starpu_near_field, kinds);

  /// What tasks and groups do to the bits does not depend on the interaction.
  template <class Kind>
  class starpu_near_field_bits : public starpu_near_field<Kind>
  {};
  using two_kinds =
      testing::Types<kind<val_grad_one_over_r<2>, double>, kind<grad_one_over_r<3>, float>>;
  TYPED_TEST_SUITE(starpu_near_field_bits, two_kinds);

  TYPED_TEST(starpu_near_field, equals_brute_force_for_each_form_tree_and_cloud)
  {
    for (cloud const shape : {cloud::uniform, cloud::plummer, cloud::planar, cloud::coincident})
      for (auto const& cut : TestFixture::trees())
      {
        typename TestFixture::one_set const points(shape, cut);
        for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
          for (int const leaves_per_group : {1, 7, 0})
            EXPECT_LE(points.error(leaves_per_group, form, backend::automatic),
                      tolerance<typename TestFixture::real>)
                << name_of(shape) << ", form " << int(form) << ", level " << cut.level.value_or(-1)
                << ", leaves per group " << leaves_per_group;
      }
  }

  TYPED_TEST(starpu_near_field, equals_brute_force_for_each_implementation)
  {
    typename TestFixture::one_set const points(cloud::plummer, {.max_leaf_size = 16});
    for (backend const where : {backend::scalar, backend::simd})
      for (pair_form const form : {pair_form::automatic, pair_form::one_sided, pair_form::mutual})
        EXPECT_LE(points.error(5, form, where), tolerance<typename TestFixture::real>);
  }

  TYPED_TEST(starpu_near_field, equals_brute_force_for_two_sets)
  {
    using T = typename TestFixture::real;
    using K = typename TestFixture::interaction_type;
    constexpr int dim = TestFixture::dimension;
    K const k;
    for (auto const& [n_targets, n_sources] :
         {std::pair{500, 400}, std::pair{30, 600}, std::pair{600, 1}, std::pair{1, 300}})
      for (auto const& cut : TestFixture::trees())
        for (int const leaves_per_group : {1, 6})
        {
          auto const x = make_points<T, dim>(cloud::plummer, std::size_t(n_targets), 5);
          // some sources lie on targets
          auto y = make_points<T, dim>(cloud::uniform, std::size_t(n_sources), 6);
          for (int d = 0; d < dim; ++d) y.columns[d][0] = x.columns[d][0];
          auto const q = make_inputs<T, K::n_in>(y.size());
          auto out = make_columns<T, K::n_out>(x.size(), T(3));
          auto const tree = build_tree(x.view(), y.view(), cut);
          auto const groups = group_leaves(tree, {.leaves_per_group = leaves_per_group});
          starpu::near_field step{one_runtime(), k,        groups,       x.view(),
                                  y.view(),      q.view(), writable(out)};
          step.submit();
          step.wait();
          EXPECT_EQ(step.form(), pair_form::one_sided);
          EXPECT_LE(error_of(writable(out), reference_near_field(k, tree, x, y, q.view())),
                    tolerance<T>)
              << n_targets << " targets, " << n_sources << " sources";
        }
  }

  TYPED_TEST(starpu_near_field_bits, gives_the_same_bits_each_time)
  {
    using T = typename TestFixture::real;
    using K = typename TestFixture::interaction_type;
    K const k;
    auto const x = make_points<T, TestFixture::dimension>(cloud::plummer, 2000);
    auto const q = make_inputs<T, K::n_in>(x.size());
    auto const tree = build_tree(x.view(), {.max_leaf_size = 20});
    auto const groups = group_leaves(tree, {.leaves_per_group = 3});
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      auto first = make_columns<T, K::n_out>(x.size(), T(0));
      for (int repeat = 0; repeat < 3; ++repeat)
      {
        auto out = make_columns<T, K::n_out>(x.size(), T(repeat));
        starpu::near_field step{one_runtime(),
                                k,
                                groups,
                                x.view(),
                                q.view(),
                                writable(out),
                                {.form = form, .backend = simd}};
        for (int again = 0; again < 2; ++again)
        {
          step.submit();
          step.wait();
          if (repeat + again == 0) first = out;
          ASSERT_EQ(out.columns, first.columns) << "form " << int(form);
        }
      }
    }
  }

  TYPED_TEST(starpu_near_field_bits, one_sided_gives_the_bits_of_one_thread)
  {
    using T = typename TestFixture::real;
    using K = typename TestFixture::interaction_type;
    K const k;
    auto const x = make_points<T, TestFixture::dimension>(cloud::uniform, 1500);
    auto const q = make_inputs<T, K::n_in>(x.size());
    auto const tree = build_tree(x.view(), {.max_leaf_size = 1500});
    auto const groups = group_leaves(tree);
    auto out = make_columns<T, K::n_out>(x.size(), T(0));
    starpu::near_field step{one_runtime(),
                            k,
                            groups,
                            x.view(),
                            q.view(),
                            writable(out),
                            {.form = pair_form::one_sided, .backend = simd}};
    step.submit();
    step.wait();
    auto serial_out = make_columns<T, K::n_out>(x.size(), T(0));
    near_field(simd, k, tree, x.view(), q.view(), writable(serial_out));
    EXPECT_EQ(out.columns, serial_out.columns);
  }
}
