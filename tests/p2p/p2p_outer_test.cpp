#include <nearfield/p2p/p2p.hpp>

#include "backends.hpp"
#include "p2p/p2p_cases.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace nearfield::test
{
  namespace
  {
    template <class Case>
    class p2p_outer_of : public ::testing::Test
    {
    protected:
      using interaction_type = typename Case::interaction;
      using real = typename Case::real;
      interaction_type const k = example<interaction_type>();

      /// Both kernels of two sets on every back-end, against the reference.
      void expect(guarded<real, interaction_type::dim> const& x,
                  guarded<real, interaction_type::dim> const& y) const
      {
        auto const x_q = some_values<real, interaction_type::n_in>(x.size(), 5);
        auto const y_q = some_values<real, interaction_type::n_in>(y.size(), 6);
        auto x_sums = reference(k, x.view(), y.view(), y_q.view(), all_pairs);
        auto y_sums = reference(k, y.view(), x.view(), x_q.view(), all_pairs);
        add_initial(x_sums, initial_output<real>);
        add_initial(y_sums, initial_output<real>);
        for (tested_backend const& backend : tested_backends())
        {
          SCOPED_TRACE(testing::Message()
                       << x.size() << " targets, " << y.size() << " sources, " << backend);
          guarded<real, interaction_type::n_out> one_sided(x.size(), initial_output<real>);
          guarded<real, interaction_type::n_out> x_mutual(x.size(), initial_output<real>);
          guarded<real, interaction_type::n_out> y_mutual(y.size(), initial_output<real>);
          backend.run(
              [&](auto where)
              {
                p2p_outer(where, k, x.view(), y.view(), y_q.view(), one_sided.view());
                p2p_outer_mutual(where, k, x.view(), y.view(), x_q.view(), y_q.view(),
                                 x_mutual.view(), y_mutual.view());
              });
          EXPECT_LE(error_of(one_sided.view(), x_sums), tolerance<real>) << "one-sided";
          EXPECT_LE(error_of(x_mutual.view(), x_sums), tolerance<real>) << "mutual, targets";
          EXPECT_LE(error_of(y_mutual.view(), y_sums), tolerance<real>) << "mutual, sources";
          EXPECT_TRUE(one_sided.is_intact()) << "one-sided";
          EXPECT_TRUE(x_mutual.is_intact() && y_mutual.is_intact()) << "mutual";
        }
      }

      static auto points(cloud shape, std::size_t n, std::uint64_t seed)
      {
        return some_points<real, interaction_type::dim>(shape, n, seed);
      }
    };
    TYPED_TEST_SUITE(p2p_outer_of, all_p2p_cases, p2p_case_names);
  }

  TYPED_TEST(p2p_outer_of, adds_what_the_plain_loop_finds_at_every_size)
  {
    for (std::size_t const n : tested_sizes)
    {
      this->expect(this->points(cloud::uniform, n, 1), this->points(cloud::uniform, 21, 2));
      this->expect(this->points(cloud::uniform, 5, 1), this->points(cloud::uniform, n, 2));
    }
  }

  TYPED_TEST(p2p_outer_of, adds_it_for_every_cloud)
  {
    for (cloud const shape : all_clouds)
      this->expect(this->points(shape, 90, 1), this->points(shape, 70, 2));
  }

  TYPED_TEST(p2p_outer_of, adds_it_over_several_panels)
  {
    std::size_t const many =
        3 * more_than_a_panel<typename TypeParam::interaction, typename TypeParam::real>;
    this->expect(this->points(cloud::uniform, 7, 1), this->points(cloud::plummer, many, 2));
    this->expect(this->points(cloud::uniform, many, 1), this->points(cloud::plummer, 7, 2));
  }

  // Two sets know nothing of each other's indices: what sits at one place counts as the interaction says.
  TYPED_TEST(p2p_outer_of, meets_every_point_of_the_same_places)
  {
    auto const x = this->points(cloud::uniform, 75, 1);
    this->expect(x, x);
  }

  TYPED_TEST(p2p_outer_of, takes_several_right_hand_sides)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    auto const x = this->points(cloud::uniform, 35, 1);
    auto const y = this->points(cloud::uniform, 41, 2);
    auto const x_q = some_values<T, 2 * K::n_in>(x.size(), 5);
    auto const y_q = some_values<T, 2 * K::n_in>(y.size(), 6);
    for (tested_backend const& backend : tested_backends())
    {
      guarded<T, 2 * K::n_out> one_sided(x.size()), x_mutual(x.size()), y_mutual(y.size());
      backend.run(
          [&](auto where)
          {
            p2p_outer(where, this->k, x.view(), y.view(), y_q.view(), one_sided.view());
            p2p_outer_mutual(where, this->k, x.view(), y.view(), x_q.view(), y_q.view(),
                             x_mutual.view(), y_mutual.view());
          });
      for (int rhs = 0; rhs < 2; ++rhs)
      {
        auto const y_inputs = y_q.template view<K::n_in>(rhs * K::n_in);
        auto const x_inputs = x_q.template view<K::n_in>(rhs * K::n_in);
        auto const x_sums = reference(this->k, x.view(), y.view(), y_inputs, all_pairs);
        auto const y_sums = reference(this->k, y.view(), x.view(), x_inputs, all_pairs);
        int const first = rhs * K::n_out;
        EXPECT_LE(error_of(one_sided.template view<K::n_out>(first), x_sums), tolerance<T>)
            << backend;
        EXPECT_LE(error_of(x_mutual.template view<K::n_out>(first), x_sums), tolerance<T>)
            << backend;
        EXPECT_LE(error_of(y_mutual.template view<K::n_out>(first), y_sums), tolerance<T>)
            << backend;
      }
    }
  }
}
