#include <nearfield/p2p/p2p.hpp>

#include "backends.hpp"
#include "p2p/p2p_cases.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace nearfield::test
{
  namespace
  {
    /// Both kernels of one set on every back-end, against the reference.
    template <class K, class T, int Dim, int NIn>
    void expect_inner(K const& k, guarded<T, Dim> const& x, guarded<T, NIn> const& q)
    {
      auto sums = reference(k, x.view(), x.view(), q.view(), other_points);
      add_initial(sums, initial_output<T>);
      for (tested_backend const& backend : tested_backends())
      {
        SCOPED_TRACE(testing::Message() << x.size() << " points, " << backend);
        guarded<T, K::n_out> one_sided(x.size(), initial_output<T>);
        guarded<T, K::n_out> mutual(x.size(), initial_output<T>);
        backend.run(
            [&](auto where)
            {
              p2p_inner(where, k, x.view(), q.view(), one_sided.view());
              p2p_inner_mutual(where, k, x.view(), q.view(), mutual.view());
            });
        EXPECT_LE(error_of(one_sided.view(), sums), tolerance<T>) << "one-sided";
        EXPECT_LE(error_of(mutual.view(), sums), tolerance<T>) << "mutual";
        EXPECT_TRUE(one_sided.is_intact()) << "one-sided";
        EXPECT_TRUE(mutual.is_intact()) << "mutual";
      }
    }

    template <class Case>
    class p2p_inner_of : public ::testing::Test
    {
    protected:
      using interaction_type = typename Case::interaction;
      using real = typename Case::real;
      interaction_type const k = example<interaction_type>();

      void expect(cloud shape, std::size_t n) const
      {
        SCOPED_TRACE(name_of(shape));
        expect_inner(k, some_points<real, interaction_type::dim>(shape, n),
                     some_values<real, interaction_type::n_in>(n));
      }
    };
    TYPED_TEST_SUITE(p2p_inner_of, all_p2p_cases, p2p_case_names);
  }

  TYPED_TEST(p2p_inner_of, adds_what_the_plain_loop_finds_at_every_size)
  {
    for (std::size_t const n : tested_sizes) this->expect(cloud::uniform, n);
  }

  TYPED_TEST(p2p_inner_of, adds_it_for_every_cloud)
  {
    for (cloud const shape : all_clouds) this->expect(shape, 150);
  }

  TYPED_TEST(p2p_inner_of, adds_it_over_more_than_one_panel)
  {
    using K = typename TypeParam::interaction;
    this->expect(cloud::coincident, more_than_a_panel<K, typename TypeParam::real>);
  }

  TYPED_TEST(p2p_inner_of, takes_several_right_hand_sides)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    std::size_t const n = 67;
    auto const x = some_points<T, K::dim>(cloud::plummer, n);
    auto const q = some_values<T, 3 * K::n_in>(n);
    for (tested_backend const& backend : tested_backends())
    {
      guarded<T, 3 * K::n_out> one_sided(n, initial_output<T>), mutual(n, initial_output<T>);
      backend.run(
          [&](auto where)
          {
            p2p_inner(where, this->k, x.view(), q.view(), one_sided.view());
            p2p_inner_mutual(where, this->k, x.view(), q.view(), mutual.view());
          });
      for (int rhs = 0; rhs < 3; ++rhs)
      {
        auto sums = reference(this->k, x.view(), x.view(), q.template view<K::n_in>(rhs * K::n_in),
                              other_points);
        add_initial(sums, initial_output<T>);
        int const first = rhs * K::n_out;
        EXPECT_LE(error_of(one_sided.template view<K::n_out>(first), sums), tolerance<T>)
            << backend << ", right-hand side " << rhs;
        EXPECT_LE(error_of(mutual.template view<K::n_out>(first), sums), tolerance<T>)
            << backend << ", right-hand side " << rhs;
      }
      EXPECT_TRUE(one_sided.is_intact() && mutual.is_intact()) << backend;
    }
  }

  // K(-r) = +-K(r) and K is symmetric: sum_i w_i.(K q)_i = +-sum_i q_i.(K w)_i for any two columns of
  // inputs. With w = q an odd interaction gives a sum of zero: what it pushes has no momentum.
  TYPED_TEST(p2p_inner_of, acts_on_both_points_of_a_pair_alike)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    std::size_t const n = 203;
    auto const x = some_points<T, K::dim>(cloud::plummer, n);
    auto const q = some_values<T, K::n_in>(n, 3);
    auto const w = some_values<T, K::n_in>(n, 4);
    auto const of_q = reference(this->k, x.view(), x.view(), q.view(), other_points);

    // with one input every output acts by itself; a tensor acts through all of them together
    constexpr int groups = K::n_in == 1 ? K::n_out : 1;
    auto const product = [&](auto const& a, auto const& out, int group)
    {
      long double sum = 0;
      for (int c = 0; c < K::n_in; ++c)
        for (std::size_t i = 0; i < n; ++i)
          sum += static_cast<long double>(a.column(c)[i]) *
                 static_cast<long double>(out[group + c][i]);
      return static_cast<double>(sum);
    };
    long_vector<K::dim> r, minus_r;
    for (int d = 0; d < K::dim; ++d) minus_r[d] = -(r[d] = 1 + d);
    auto const there = formula<K>::at(this->k, r), back = formula<K>::at(this->k, minus_r);

    for (tested_backend const& backend : tested_backends())
    {
      guarded<T, K::n_out> out_q(n), out_w(n);
      backend.run(
          [&](auto where)
          {
            p2p_inner_mutual(where, this->k, x.view(), q.view(), out_q.view());
            p2p_inner_mutual(where, this->k, x.view(), w.view(), out_w.view());
          });
      for (int group = 0; group < groups; ++group)
      {
        double scale = 0;
        for (int c = 0; c < K::n_in; ++c)
          for (std::size_t i = 0; i < n; ++i)
            scale += static_cast<double>(of_q.scale[group + c][i]);
        double const sign = there[group][0] == back[group][0] ? 1 : -1;
        EXPECT_NEAR(product(w, out_q.view(), group), sign * product(q, out_w.view(), group),
                    tolerance<T> * scale)
            << backend << ", output " << group;
        if (sign < 0)
        {
          EXPECT_NEAR(product(q, out_q.view(), group), 0, tolerance<T> * scale)
              << backend << ", output " << group;
        }
      }
    }
  }

  // A regular interaction counts two points at one place; only i = j is left out.
  TYPED_TEST(p2p_inner_of, leaves_out_a_point_itself)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    for (std::size_t const n : {1, 2, 9, 40})
    {
      auto const x = some_points<T, K::dim>(cloud::all_equal, n);
      guarded<T, K::n_in> const q(n, T(1));
      long_vector<K::dim> const origin{};
      for (tested_backend const& backend : tested_backends())
      {
        guarded<T, K::n_out> one_sided(n), mutual(n);
        backend.run(
            [&](auto where)
            {
              p2p_inner(where, this->k, x.view(), q.view(), one_sided.view());
              p2p_inner_mutual(where, this->k, x.view(), q.view(), mutual.view());
            });
        for (int o = 0; o < K::n_out; ++o)
        {
          double const one = formula<K>::singular(this->k)
                                 ? 0
                                 : static_cast<double>(formula<K>::at(this->k, origin)[o][0]);
          for (std::size_t i = 0; i < n; ++i)
          {
            EXPECT_EQ(one_sided.column(o)[i], static_cast<double>(n - 1) * one)
                << backend << ", point " << i << " of " << n;
            EXPECT_EQ(mutual.column(o)[i], static_cast<double>(n - 1) * one)
                << backend << ", point " << i << " of " << n;
          }
        }
      }
    }
  }

  TEST(p2p_inner, counts_softened_points_at_one_place)
  {
    r_over_r3<3> const k{.eps = 0.05};
    ASSERT_FALSE(is_singular(k));
    for (std::size_t const n : {2, 17, 130})
    {
      expect_inner(k, some_points<float, 3>(cloud::coincident, n), some_values<float, 1>(n));
      expect_inner(k, some_points<double, 3>(cloud::coincident, n), some_values<double, 1>(n));
    }
  }
}
