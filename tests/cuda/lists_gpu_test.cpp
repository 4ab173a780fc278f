// Steps over lists on a GPU: boxes of every size side by side, against the plain loop over what the list says.

#include "copied_cuda.hpp"
#include "cuda/lists.hpp"
#include "cuda/sampled.hpp"
#include "in_mutual_form.hpp"
#include "p2p/step_cases.hpp"

#include <nearfield/tree/build_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    constexpr copied_cuda where;

    template <class Case>
    class cuda_list_of : public step_test<Case>
    {
    protected:
      using typename step_test<Case>::real;
      using step_test<Case>::dim, step_test<Case>::n_in, step_test<Case>::n_out, step_test<Case>::k;

      void expect_one_set(boxes const& all, interaction_list const& list,
                          interaction_list const& half, guarded<real, dim> const& x,
                          near_field_options const& options = {}) const
      {
        std::size_t const n = x.size();
        auto const q = some_values<real, n_in>(n);
        guarded<real, n_out> out(n, real(7)), mutual(n, real(7));
        near_field(where, k, all, list, x.view(), q.view(), out.view(), options);
        near_field(where, k, all, half, x.view(), q.view(), mutual.view(), in_mutual_form(options));
        meetings const meet(all, list);
        auto const meets = [&](std::size_t i, std::size_t j)
        {
          return i != j && meet(i, j);
        };
        auto const some = sample_of_boxes(all, 40);
        EXPECT_LE(error_of_some(some, k, x.view(), x.view(), q.view(), out.view(), meets, real(0)),
                  tolerance<real>)
            << "one-sided";
        EXPECT_LE(
            error_of_some(some, k, x.view(), x.view(), q.view(), mutual.view(), meets, real(0)),
            tolerance<real>)
            << "mutual";
      }

      void expect_tree(cloud shape, std::size_t n, tree_options<dim> const& options) const
      {
        SCOPED_TRACE(testing::Message() << shape << ", " << n << " points, at most "
                                        << options.max_leaf_size << " a leaf");
        set_of_points<real, dim> const set(shape, n);
        auto const tree = build_tree(set.all.view(), options);
        this->expect_one_set(tree.targets(), tree.interactions(), tree.half_interactions(),
                             set.in_order(tree.target_order()));
      }

      void expect_tree_of_two_sets(cloud shape, std::size_t n, std::size_t m,
                                   tree_options<dim> const& options) const
      {
        SCOPED_TRACE(testing::Message() << shape << ", " << n << " targets, " << m << " sources");
        set_of_points<real, dim> const targets(shape, n);
        auto const sources = targets.sources(shape, m);
        auto const tree = build_tree(targets.all.view(), sources.all.view(), options);
        auto const x = targets.in_order(tree.target_order());
        auto const y = sources.in_order(tree.source_order());
        auto const q = some_values<real, n_in>(m);
        guarded<real, n_out> out(n, real(7));
        near_field(where, k, tree.targets(), tree.interactions(), x.view(), y.view(), q.view(),
                   out.view());
        EXPECT_LE(error_of_some(sample_of_boxes(tree.targets(), 40), k, x.view(), y.view(),
                                q.view(), out.view(), meetings(tree.targets(), tree.interactions()),
                                real(0)),
                  tolerance<real>);
      }
    };
    TYPED_TEST_SUITE(cuda_list_of, all_p2p_cases, p2p_case_names);
  }

  TYPED_TEST(cuda_list_of, leaves_of_one_to_thousands_are_served)
  {
    this->expect_tree(cloud::plummer, 8000, {.max_leaf_size = 2000});
    this->expect_tree(cloud::plummer, 5000, {.max_leaf_size = 100});
    // more on a line come so close that a float does not hold |r|^-5
    this->expect_tree(cloud::planar, TestFixture::dim == 2 ? 600 : 5000, {.max_leaf_size = 30});
    this->expect_tree(cloud::uniform, 5000, {.level = 2});
    this->expect_tree(cloud::coincident, 3000, {.max_leaf_size = 20});
  }

  TYPED_TEST(cuda_list_of, two_sets_are_served)
  {
    this->expect_tree_of_two_sets(cloud::plummer, 4000, 3000, {.max_leaf_size = 200});
    this->expect_tree_of_two_sets(cloud::coincident, 2500, 3500, {.max_leaf_size = 20});
  }

  TYPED_TEST(cuda_list_of, boxes_of_every_size_stand_side_by_side)
  {
    using T = typename TestFixture::real;
    row_of_boxes const row;
    auto const x = some_points<T, TestFixture::dim>(cloud::uniform, row.offsets.back());
    this->expect_one_set(row.points(), row.list(), row.half_list(), x);
  }

  // Half of the points of every box lie at one place.
  TYPED_TEST(cuda_list_of, points_of_different_boxes_may_coincide_when_it_is_told)
  {
    using T = typename TestFixture::real;
    row_of_boxes const row;
    auto const x = some_points<T, TestFixture::dim>(cloud::coincident, row.offsets.back());
    this->expect_one_set(row.points(), row.list(), row.half_list(), x,
                         {.ranges_may_coincide = true});
  }

  // Charges of one sign: no rounding cancels.
  TEST(cuda_list, sums_of_floats_over_long_lists_keep_their_digits)
  {
    std::size_t const n = 8 * 4096;
    one_over_r<3> const k;
    set_of_points<float, 3> const set(cloud::uniform, n);
    auto const tree = build_tree(set.all.view(), {.level = 1});
    auto const x = set.in_order(tree.target_order());
    guarded<float, 1> const q(n, 1.F);
    guarded<float, 1> out(n), mutual(n);
    near_field(where, k, tree.targets(), tree.interactions(), x.view(), q.view(), out.view());
    near_field(where, k, tree.targets(), tree.half_interactions(), x.view(), q.view(),
               mutual.view(), {.form = pair_form::mutual});
    auto const some = sample_of_boxes(tree.targets(), 40);
    for (auto* const got : {&out, &mutual})
      EXPECT_LE(
          error_of_some(some, k, x.view(), x.view(), q.view(), got->view(), other_points, 0.F),
          tolerance<float>);
  }

  // Periodic images of boxes of several items, one-sided and mutual: what a source receives comes from the
  // image of its target on the other side.
  TEST(cuda_list, shifts_move_the_sources_of_a_range)
  {
    index_type const n = 700;
    val_grad_one_over_r<3> const k;
    auto const x = some_points<double, 3>(cloud::uniform, n);
    auto const q = some_values<double, 1>(n);
    std::vector<index_type> const offsets{0, 300, 330, n}, list_offsets{0, 3, 4, 4};
    std::vector<interaction_list::range> const own{
        {.begin = 0, .end = 300}, {.begin = 300, .end = 330}, {.begin = 330, .end = n}};
    std::vector<interaction_list::range> const ranges{{.begin = 300, .end = 330, .shift = 1},
                                                      {.begin = 340, .end = 411, .shift = 2},
                                                      {.begin = 500, .end = n},
                                                      {.begin = 330, .end = n, .shift = 2}};
    std::vector<std::array<double, 3>> const shifts{{0, 0, 0}, {0.5, 0, 0}, {-0.25, 0.5, 1}};
    interaction_list const list{own, list_offsets, ranges, shifts};

    guarded<double, 4> one_sided(n), mutual(n);
    near_field(where, k, {offsets}, list, x.view(), q.view(), one_sided.view());
    near_field(where, k, {offsets}, list, x.view(), q.view(), mutual.view(),
               {.form = pair_form::mutual});

    auto const box_of = [&](std::size_t i)
    {
      return i < 300 ? 0 : i < 330 ? 1 : 2;
    };
    auto const add = [](reference_sums<4>& to, reference_sums<4> const& more)
    {
      for (int o = 0; o < 4; ++o)
        for (std::size_t i = 0; i < n; ++i)
        {
          to.value[o][i] += more.value[o][i];
          to.scale[o][i] += more.scale[o][i];
        }
    };
    auto there = reference(k, x.view(), x.view(), q.view(), [&](std::size_t i, std::size_t j)
                           { return i != j && box_of(i) == box_of(j); });
    auto both = there;
    for (index_type r = 0; r < ranges.size(); ++r)
    {
      auto image = x, back_image = x;
      for (int d = 0; d < 3; ++d)
        for (std::size_t i = 0; i < n; ++i)
        {
          image.column(d)[i] += shifts[ranges[r].shift][static_cast<std::size_t>(d)];
          back_image.column(d)[i] -= shifts[ranges[r].shift][static_cast<std::size_t>(d)];
        }
      int const box = r < 3 ? 0 : 1;
      auto const meets = [&](std::size_t i, std::size_t j)
      {
        return box_of(i) == box && j >= ranges[r].begin && j < ranges[r].end;
      };
      auto const forth = reference(k, x.view(), std::as_const(image).view(), q.view(), meets);
      add(there, forth);
      add(both, forth);
      add(both, reference(k, x.view(), std::as_const(back_image).view(), q.view(),
                          [&](std::size_t j, std::size_t i) { return meets(i, j); }));
    }
    EXPECT_LE(error_of(one_sided.view(), there), tolerance<double>);
    EXPECT_LE(error_of(mutual.view(), both), tolerance<double>);
  }

  TEST(cuda_list, of_empty_boxes_and_of_none_leaves_zeros)
  {
    one_over_r<3> const k;
    guarded<double, 3> const nothing(0), y(4);
    guarded<double, 1> const no_q(0), q(4, 1.);
    guarded<double, 1> no_out(0), out(4, 5.);
    std::vector<index_type> const empty{0, 0, 0}, offsets{0, 4}, no_ranges{0, 0, 0}, one{0, 0};
    std::vector<interaction_list::range> const own(2), own_of_one(1);
    near_field(where, k, {}, {}, nothing.view(), no_q.view(), no_out.view());
    near_field(where, k, {empty}, {own, no_ranges, {}, {}}, nothing.view(), no_q.view(),
               no_out.view());
    near_field(where, k, {empty}, {own, no_ranges, {}, {}}, nothing.view(), no_q.view(),
               no_out.view(), {.form = pair_form::mutual});
    // targets that meet nobody
    near_field(where, k, {offsets}, {own_of_one, one, {}, {}}, y.view(), y.view(), q.view(),
               out.view());
    EXPECT_TRUE(std::ranges::equal(out.column(0), std::array{0., 0., 0., 0.}));
    std::ranges::fill(out.column(0), 5.);
    near_field(where, k, {offsets}, {own_of_one, one, {}, {}}, y.view(), nothing.view(),
               no_q.view(), out.view());
    EXPECT_TRUE(std::ranges::equal(out.column(0), std::array{0., 0., 0., 0.}));
  }
}
