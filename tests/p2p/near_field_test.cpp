#include <nearfield/p2p/near_field.hpp>

#include "backends.hpp"
#include "p2p/step_cases.hpp"
#include "tree/tree_reference.hpp"

#include <nearfield/tree/build_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// Which leaf holds each position of the order.
    std::vector<index_type> leaf_of(boxes const& leaves)
    {
      std::vector<index_type> result;
      for (index_type b = 0; b < leaves.size(); ++b)
        result.insert(result.end(), leaves.count(b), b);
      return result;
    }

    /// meets(i, j): the closed boxes of target i and source j share a point. From the drawn leaves, all
    /// against all: no interaction list takes part.
    template <int Dim>
    auto boxes_touch(tree<Dim> const& tree)
    {
      std::vector<lattice_box<Dim>> const corners = all_corners(tree);
      std::size_t const n = corners.size();
      std::vector<char> near(n * n);
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) near[a * n + b] = touch(corners[a], corners[b]);
      return [near, n, targets = leaf_of(tree.targets()),
              sources = leaf_of(tree.sources())](std::size_t i, std::size_t j)
      {
        return near[targets[i] * n + sources[j]] != 0;
      };
    }

    template <int Dim>
    std::vector<tree_options<Dim>> cuts()
    {
      return {{.max_leaf_size = 8},
              {.max_leaf_size = 40},
              {.level = 0},
              {.level = 3},
              {.level = 2, .order = leaf_order::morton}};
    }

    template <class Case>
    class near_field_of : public step_test<Case>
    {
    protected:
      using typename step_test<Case>::real;
      using step_test<Case>::dim, step_test<Case>::n_in, step_test<Case>::n_out, step_test<Case>::k;

      void expect_one_set(cloud shape, std::size_t n, tree_options<dim> const& options) const
      {
        set_of_points<real, dim> const set(shape, n);
        auto const tree = build_tree(set.all.view(), options);
        auto const x = set.in_order(tree.target_order());
        auto const q = some_values<real, n_in>(n);
        auto const touching = boxes_touch(tree);
        auto const sums =
            reference(k, x.view(), x.view(), q.view(),
                      [&](std::size_t i, std::size_t j) { return i != j && touching(i, j); });
        for (tested_backend const& backend : tested_backends())
        {
          SCOPED_TRACE(backend.name);
          guarded<real, n_out> one_sided(n, real(7)), mutual(n, real(7));
          backend.run(
              [&](auto where)
              {
                near_field(where, k, tree.targets(), tree.interactions(), x.view(), q.view(),
                           one_sided.view());
                near_field(where, k, tree.targets(), tree.half_interactions(), x.view(), q.view(),
                           mutual.view(), {.form = pair_form::mutual});
              });
          EXPECT_LE(error_of(one_sided.view(), sums), tolerance<real>) << "one-sided";
          EXPECT_LE(error_of(mutual.view(), sums), tolerance<real>) << "mutual";
          EXPECT_TRUE(one_sided.is_intact() && mutual.is_intact());
        }
      }

      void expect_two_sets(cloud shape, std::size_t n, std::size_t m,
                           tree_options<dim> const& options) const
      {
        set_of_points<real, dim> const targets(shape, n);
        auto const sources = targets.sources(shape, m);
        auto const tree = build_tree(targets.all.view(), sources.all.view(), options);
        auto const x = targets.in_order(tree.target_order());
        auto const y = sources.in_order(tree.source_order());
        auto const q = some_values<real, n_in>(m);
        auto const sums = reference(k, x.view(), y.view(), q.view(), boxes_touch(tree));
        for (tested_backend const& backend : tested_backends())
        {
          guarded<real, n_out> out(n, real(7));
          backend.run(
              [&](auto where)
              {
                near_field(where, k, tree.targets(), tree.interactions(), x.view(), y.view(),
                           q.view(), out.view());
              });
          EXPECT_LE(error_of(out.view(), sums), tolerance<real>) << backend;
          EXPECT_TRUE(out.is_intact()) << backend;
        }
      }
    };

    // one of each kind: radial, regular, a tensor, a value with its gradient
    using near_field_cases =
        ::testing::Types<p2p_case<one_over_r<3>, float>, p2p_case<one_over_r<2>, double>,
                         p2p_case<gaussian<3>, double>, p2p_case<dipole_tensor<3>, double>,
                         p2p_case<val_grad_one_over_r<2>, float>>;
    TYPED_TEST_SUITE(near_field_of, near_field_cases, p2p_case_names);
  }

  TYPED_TEST(near_field_of, one_set_is_what_touching_boxes_add_up_to)
  {
    for (cloud const shape : all_clouds)
      for (auto const& options : cuts<TestFixture::dim>())
      {
        SCOPED_TRACE(testing::Message() << shape << ", level " << options.level.value_or(-1)
                                        << ", at most " << options.max_leaf_size);
        this->expect_one_set(shape, 331, options);
      }
  }

  TYPED_TEST(near_field_of, two_sets_are_what_touching_boxes_add_up_to)
  {
    for (cloud const shape : all_clouds)
      for (auto const& options : cuts<TestFixture::dim>())
      {
        SCOPED_TRACE(testing::Message() << shape << ", level " << options.level.value_or(-1)
                                        << ", at most " << options.max_leaf_size);
        this->expect_two_sets(shape, 230, 187, options);
      }
  }

  TYPED_TEST(near_field_of, small_sets_are_served)
  {
    for (std::size_t const n : {0, 1, 2, 9})
    {
      this->expect_one_set(cloud::uniform, n, {.max_leaf_size = 2});
      this->expect_two_sets(cloud::uniform, n, 5, {.max_leaf_size = 2});
      this->expect_two_sets(cloud::uniform, 5, n, {.max_leaf_size = 2});
    }
  }

  TYPED_TEST(near_field_of, leaves_larger_than_a_panel_are_served)
  {
    std::size_t const n =
        more_than_a_panel<typename TypeParam::interaction, typename TypeParam::real>;
    this->expect_one_set(cloud::plummer, n, {.level = 1});
  }

  TEST(near_field, overwrites_or_accumulates_for_every_right_hand_side)
  {
    std::size_t const n = 300;
    grad_one_over_r<3> const k;
    set_of_points<double, 3> const set(cloud::uniform, n);
    auto const tree = build_tree(set.all.view(), {.max_leaf_size = 16});
    auto const x = set.in_order(tree.target_order());
    auto const q = some_values<double, 2>(n);
    auto const list = tree.interactions();
    auto const half = tree.half_interactions();
    auto const touching = boxes_touch(tree);
    for (tested_backend const& backend : tested_backends())
    {
      guarded<double, 6> once(n, 5.), twice(n, 5.), mutual(n, 5.), two_sets(n, 5.);
      backend.run(
          [&](auto where)
          {
            near_field(where, k, tree.targets(), list, x.view(), q.view(), once.view());
            near_field(where, k, tree.targets(), list, x.view(), q.view(), twice.view());
            near_field(where, k, tree.targets(), list, x.view(), q.view(), twice.view(),
                       {.accumulate = true});
            near_field(where, k, tree.targets(), half, x.view(), q.view(), mutual.view(),
                       {.form = pair_form::mutual});
            near_field(where, k, tree.targets(), half, x.view(), q.view(), mutual.view(),
                       {.accumulate = true, .form = pair_form::mutual});
            near_field(where, k, tree.targets(), list, x.view(), x.view(), q.view(),
                       two_sets.view());
            near_field(where, k, tree.targets(), list, x.view(), x.view(), q.view(),
                       two_sets.view(), {.accumulate = true});
          });
      for (int rhs = 0; rhs < 2; ++rhs)
      {
        auto sums = reference(k, x.view(), x.view(), q.view<1>(rhs), touching);
        EXPECT_LE(error_of(once.view<3>(3 * rhs), sums), tolerance<double>) << backend;
        for (int o = 0; o < 3; ++o)
          for (std::size_t i = 0; i < n; ++i)
          {
            sums.value[o][i] *= 2;
            sums.scale[o][i] *= 2;
          }
        EXPECT_LE(error_of(twice.view<3>(3 * rhs), sums), tolerance<double>) << backend;
        EXPECT_LE(error_of(mutual.view<3>(3 * rhs), sums), tolerance<double>) << backend;
        EXPECT_LE(error_of(two_sets.view<3>(3 * rhs), sums), tolerance<double>) << backend;
      }
    }
  }

  TEST(near_field, takes_as_many_right_hand_sides_as_only_the_run_tells)
  {
    std::size_t const n = 200;
    grad_one_over_r<3> const k;
    set_of_points<double, 3> const set(cloud::uniform, n);
    auto const tree = build_tree(set.all.view(), {.max_leaf_size = 16});
    auto const x = set.in_order(tree.target_order());
    auto const q = some_values<double, 3>(n);
    auto const list = tree.interactions();
    using inputs = soa<double const, run_time_columns>;
    using outputs = soa<double, run_time_columns>;
    auto const q_view = q.view();
    inputs const all_q({q_view.data(), 3}, n);
    guarded<double, 9> expected(n), one_set(n, 5.), mutual(n, 5.), two_sets(n, 5.);
    auto const all_of = [&](auto const& view)
    {
      return outputs({view.data(), 9}, n);
    };
    auto const of_one_set = one_set.view(), of_mutual = mutual.view(), of_two = two_sets.view();
    near_field(simd, k, tree.targets(), list, x.view(), q.view(), expected.view());
    near_field(simd, k, tree.targets(), list, x.view(), all_q, all_of(of_one_set));
    near_field(simd, k, tree.targets(), list, x.view(), x.view(), all_q, all_of(of_two));
    near_field(simd, k, tree.targets(), tree.half_interactions(), x.view(), all_q,
               all_of(of_mutual), {.form = pair_form::mutual});
    for (int c = 0; c < 9; ++c)
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(of_one_set[c][i], expected.view()[c][i]);
    for (int rhs = 0; rhs < 3; ++rhs)
    {
      auto const sums = reference(k, x.view(), x.view(), q.view<1>(rhs), boxes_touch(tree));
      EXPECT_LE(error_of(mutual.view<3>(3 * rhs), sums), tolerance<double>);
      EXPECT_LE(error_of(two_sets.view<3>(3 * rhs), sums), tolerance<double>);
    }
    EXPECT_THROW(near_field(simd, k, tree.targets(), list, x.view(), all_q,
                            outputs({of_mutual.data(), 8}, n)),
                 error);
  }

  TEST(near_field, is_the_same_to_the_last_bit_when_it_is_repeated)
  {
    std::size_t const n = 2000;
    one_over_r<3> const k;
    set_of_points<float, 3> const set(cloud::plummer, n);
    auto const tree = build_tree(set.all.view(), {.max_leaf_size = 30});
    auto const x = set.in_order(tree.target_order());
    auto const q = some_values<float, 1>(n);
    for (tested_backend const& backend : tested_backends())
      backend.run(
          [&](auto where)
          {
            std::vector<float> first(n), again(n, 3.F), mutual(n), mutual_again(n, 3.F);
            near_field(where, k, tree.targets(), tree.interactions(), x.view(), q.view(),
                       soa{first});
            near_field(where, k, tree.targets(), tree.interactions(), x.view(), q.view(),
                       soa{again});
            EXPECT_EQ(first, again) << backend;
            if constexpr (detail::cpu_backend<decltype(where)>) // a GPU adds with atomics
            {
              near_field(where, k, tree.targets(), tree.half_interactions(), x.view(), q.view(),
                         soa{mutual}, {.form = pair_form::mutual});
              near_field(where, k, tree.targets(), tree.half_interactions(), x.view(), q.view(),
                         soa{mutual_again}, {.form = pair_form::mutual});
              EXPECT_EQ(mutual, mutual_again) << backend;
            }
          });
  }

  // A box meets its own points and those to its left and right, one period away.
  TEST(near_field, adds_the_shift_of_a_range_to_its_sources)
  {
    std::size_t const n = 50;
    one_over_r<2> const k;
    auto const set = make_points<double, 2>(cloud::uniform, n);
    auto const x = guarded<double, 2>::copy_of(set.columns, n);
    auto const q = some_values<double, 1>(n);
    index_type const end = n;
    std::vector<index_type> const offsets{0, end}, list_offsets{0, 3};
    std::vector<interaction_list::range> const own{{.begin = 0, .end = end}};
    std::vector<interaction_list::range> const ranges{{.begin = 0, .end = end, .shift = 1},
                                                      {.begin = 0, .end = 0},
                                                      {.begin = 10, .end = 45, .shift = 2}};
    std::vector<std::array<double, 3>> const shifts{{0, 0, 0}, {1, 0, 0}, {-1, 2, 0}};

    auto sums = reference(k, x.view(), x.view(), q.view(), other_points);
    for (interaction_list::range const& range : ranges)
    {
      auto moved = set;
      for (int d = 0; d < 2; ++d)
        for (double& coordinate : moved.columns[d])
          coordinate += shifts[range.shift][static_cast<std::size_t>(d)];
      auto const more =
          reference(k, x.view(), moved.view(), q.view(),
                    [&](std::size_t, std::size_t j) { return j >= range.begin && j < range.end; });
      for (std::size_t i = 0; i < n; ++i)
      {
        sums.value[0][i] += more.value[0][i];
        sums.scale[0][i] += more.scale[0][i];
      }
    }
    for (tested_backend const& backend : tested_backends())
    {
      guarded<double, 1> out(n);
      backend.run(
          [&](auto where)
          {
            near_field(where, k, boxes{offsets}, {own, list_offsets, ranges, shifts}, x.view(),
                       q.view(), out.view());
          });
      EXPECT_LE(error_of(out.view(), sums), tolerance<double>) << backend;
    }
  }

  // More pieces than a panel remembers, some of them empty.
  TEST(near_field, takes_a_list_of_many_short_ranges)
  {
    std::size_t const n = 900;
    val_grad_one_over_r<3> const k;
    auto const x = some_points<double, 3>(cloud::uniform, n);
    auto const q = some_values<double, 1>(n);
    std::vector<index_type> const offsets{0, 5, static_cast<index_type>(n)};
    std::vector<interaction_list::range> own{{.begin = 0, .end = 5},
                                             {.begin = 5, .end = static_cast<index_type>(n)}};
    std::vector<interaction_list::range> ranges;
    std::vector<char> met(n);
    for (index_type j = 5; j + 3 < n; j += 4)
    {
      index_type const length = j % 3;
      ranges.push_back({.begin = j, .end = j + length});
      for (index_type at = j; at < j + length; ++at) met[at] = 1;
    }
    index_type const n_ranges = static_cast<index_type>(ranges.size());
    std::vector<index_type> const list_offsets{0, n_ranges, n_ranges};
    auto const in_box_0 = [](std::size_t i)
    {
      return i < 5;
    };
    auto const meets = [&](std::size_t i, std::size_t j)
    {
      if (in_box_0(i) == in_box_0(j)) return i != j;
      return in_box_0(i) ? met[j] != 0 : met[i] != 0;
    };
    auto const sums = reference(k, x.view(), x.view(), q.view(), meets);
    for (tested_backend const& backend : tested_backends())
    {
      guarded<double, 4> out(n);
      backend.run(
          [&](auto where)
          {
            near_field(where, k, boxes{offsets}, {own, list_offsets, ranges, {}}, x.view(),
                       q.view(), out.view(), {.form = pair_form::mutual});
          });
      EXPECT_LE(error_of(out.view(), sums), tolerance<double>) << backend;
    }
  }
}
