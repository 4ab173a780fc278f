// Several right-hand sides in one call on a GPU: each is what the plain loop finds for its inputs alone.

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
    class right_hand_sides_of : public step_test<Case>
    {
    protected:
      using typename step_test<Case>::real;
      using step_test<Case>::dim, step_test<Case>::n_in, step_test<Case>::n_out, step_test<Case>::k;

      template <int N>
      using inputs = guarded<real, N * step_test<Case>::n_in>;
      template <int N>
      using outputs = guarded<real, N * step_test<Case>::n_out>;

      /// The largest error of N right-hand sides.
      template <int N, class Meets>
      double error(std::vector<std::size_t> const& some, guarded<real, dim> const& x,
                   guarded<real, dim> const& y, inputs<N> const& q, outputs<N>& out, Meets&& meets,
                   real initial) const
      {
        double largest = 0;
        for (int rhs = 0; rhs < N; ++rhs)
        {
          double const found =
              error_of_some(some, k, x.view(), y.view(), q.template view<n_in>(rhs * n_in),
                            out.template view<n_out>(rhs * n_out), meets, initial);
          if (!(found <= largest)) largest = found;
        }
        return largest;
      }

      template <int N>
      void expect_list(boxes const& all, interaction_list const& list, interaction_list const& half,
                       guarded<real, dim> const& x, near_field_options const& options = {}) const
      {
        SCOPED_TRACE(testing::Message() << x.size() << " points, " << N << " right-hand sides");
        std::size_t const n = x.size();
        auto const q = some_values<real, N * n_in>(n);
        outputs<N> out(n, real(7)), again(n, real(7)), mutual(n, real(7));
        near_field(where, k, all, list, x.view(), q.view(), out.view(), options);
        near_field(where, k, all, list, x.view(), q.view(), again.view(), options);
        near_field(where, k, all, half, x.view(), q.view(), mutual.view(), in_mutual_form(options));
        meetings const meet(all, list);
        auto const meets = [&](std::size_t i, std::size_t j)
        {
          return i != j && meet(i, j);
        };
        auto const some = sample_of_boxes(all, 7);
        EXPECT_LE(this->template error<N>(some, x, x, q, out, meets, real(0)), tolerance<real>)
            << "one-sided";
        EXPECT_LE(this->template error<N>(some, x, x, q, mutual, meets, real(0)), tolerance<real>)
            << "mutual";
        EXPECT_TRUE(out == again) << "the one-sided form repeats to the last bit";
      }

      template <int N>
      void expect_tree(cloud shape, std::size_t n, tree_options<dim> const& options) const
      {
        SCOPED_TRACE(testing::Message() << shape);
        set_of_points<real, dim> const set(shape, n);
        auto const tree = build_tree(set.all.view(), options);
        this->template expect_list<N>(tree.targets(), tree.interactions(), tree.half_interactions(),
                                      set.in_order(tree.target_order()));
      }

      template <int N>
      void expect_inner(cloud shape, std::size_t n) const
      {
        SCOPED_TRACE(testing::Message()
                     << shape << ", " << n << " points, " << N << " right-hand sides");
        auto const x = some_points<real, dim>(shape, n);
        auto const q = some_values<real, N * n_in>(n);
        real const initial = initial_output<real>;
        outputs<N> out(n, initial), again(n, initial), mutual(n, initial);
        p2p_inner(where, k, x.view(), q.view(), out.view());
        p2p_inner(where, k, x.view(), q.view(), again.view());
        p2p_inner_mutual(where, k, x.view(), q.view(), mutual.view());
        auto const some = sample_of(n, 5);
        EXPECT_LE(this->template error<N>(some, x, x, q, out, other_points, initial),
                  tolerance<real>)
            << "one-sided";
        EXPECT_LE(this->template error<N>(some, x, x, q, mutual, other_points, initial),
                  tolerance<real>)
            << "mutual";
        EXPECT_TRUE(out == again) << "the one-sided form repeats to the last bit";
      }

      /// The first sources are targets too.
      template <int N>
      void expect_outer(std::size_t n, std::size_t m) const
      {
        SCOPED_TRACE(testing::Message() << n << " targets, " << m << " sources");
        auto const x = some_points<real, dim>(cloud::plummer, n, 1);
        auto y = some_points<real, dim>(cloud::plummer, m, 2);
        for (int d = 0; d < dim; ++d)
          for (std::size_t j = 0; j < std::min(n, m / 3); ++j) y.column(d)[j] = x.column(d)[j];
        auto const x_q = some_values<real, N * n_in>(n, 3);
        auto const y_q = some_values<real, N * n_in>(m, 4);
        real const initial = initial_output<real>;
        outputs<N> out(n, initial), x_out(n, initial), y_out(m, initial);
        p2p_outer(where, k, x.view(), y.view(), y_q.view(), out.view());
        p2p_outer_mutual(where, k, x.view(), y.view(), x_q.view(), y_q.view(), x_out.view(),
                         y_out.view());
        auto const x_some = sample_of(n, 5), y_some = sample_of(m, 5);
        EXPECT_LE(this->template error<N>(x_some, x, y, y_q, out, all_pairs, initial),
                  tolerance<real>)
            << "one-sided";
        EXPECT_LE(this->template error<N>(x_some, x, y, y_q, x_out, all_pairs, initial),
                  tolerance<real>)
            << "mutual, targets";
        EXPECT_LE(this->template error<N>(y_some, y, x, x_q, y_out, all_pairs, initial),
                  tolerance<real>)
            << "mutual, sources";
      }
    };

    // maps of every kind, singular and regular, radial and not
    using some_cases =
        ::testing::Types<p2p_case<one_over_r<3>, float>, p2p_case<one_over_r<3>, double>,
                         p2p_case<val_grad_one_over_r<3>, float>,
                         p2p_case<val_grad_one_over_r<3>, double>,
                         p2p_case<grad_one_over_r<2>, double>, p2p_case<r_over_r3<3>, float>,
                         p2p_case<log_r, float>, p2p_case<gaussian<2>, double>,
                         p2p_case<dipole_tensor<2>, double>, p2p_case<dipole_tensor<3>, double>>;
    TYPED_TEST_SUITE(right_hand_sides_of, some_cases, p2p_case_names);
  }

  // 6 fill a part of a pass, 13 a pass and a part of the next, and 17 leave one over.
  TYPED_TEST(right_hand_sides_of, leaves_of_one_to_thousands_are_served)
  {
    this->template expect_tree<6>(cloud::plummer, 4000, {.max_leaf_size = 1000});
    this->template expect_tree<13>(cloud::plummer, 3000, {.max_leaf_size = 70});
    this->template expect_tree<17>(cloud::uniform, 3000, {.max_leaf_size = 10});
    this->template expect_tree<13>(cloud::coincident, 2000, {.max_leaf_size = 20});
  }

  TYPED_TEST(right_hand_sides_of, boxes_of_every_size_stand_side_by_side)
  {
    using T = typename TestFixture::real;
    row_of_boxes const row;
    std::size_t const n = row.offsets.back();
    auto const x = some_points<T, TestFixture::dim>(cloud::uniform, n);
    this->template expect_list<13>(row.points(), row.list(), row.half_list(), x);
    auto const same = some_points<T, TestFixture::dim>(cloud::coincident, n);
    this->template expect_list<13>(row.points(), row.list(), row.half_list(), same,
                                   {.ranges_may_coincide = true});
  }

  TYPED_TEST(right_hand_sides_of, one_box_is_served_whole_and_in_parts)
  {
    for (std::size_t const n : {1, 31, 700, 3001})
      this->template expect_inner<13>(cloud::coincident, n);
    this->template expect_inner<6>(cloud::coincident, 20003);
    this->template expect_inner<6>(cloud::all_equal, 500);
    this->template expect_outer<6>(3, 2001);
    this->template expect_outer<13>(1500, 130);
    this->template expect_outer<13>(2049, 3071);
  }

  // Charges of one sign: no rounding cancels.
  TEST(right_hand_sides, sums_of_floats_keep_their_digits)
  {
    constexpr int N = 8;
    std::size_t const n = 60001;
    one_over_r<3> const k;
    auto const x = some_points<float, 3>(cloud::uniform, n);
    guarded<float, N> const q(n, 1.F);
    guarded<float, N> out(n), mutual(n);
    p2p_inner(where, k, x.view(), q.view(), out.view());
    p2p_inner_mutual(where, k, x.view(), q.view(), mutual.view());
    auto const some = sample_of(n, 30);
    for (auto* const got : {&out, &mutual})
      for (int const rhs : {0, N - 1})
        EXPECT_LE(error_of_some(some, k, x.view(), x.view(), q.view<1>(rhs), got->view<1>(rhs),
                                other_points, 0.F),
                  tolerance<float>);
  }

  // As a task of a larger step has it: a box meets points of another buffer, from a place in it on, and what
  // these receive goes to a halo.
  TEST(right_hand_sides, of_several_allocations_come_one_after_the_other)
  {
    using K = val_grad_one_over_r<3>;
    constexpr int n_rhs = 13;
    constexpr index_type n = 300, m = 210, begin = 7, halo_begin = 11;
    K const k;
    auto const x = some_points<double, 3>(cloud::uniform, n, 1);
    auto const other = some_points<double, 3>(cloud::uniform, begin + m, 2);
    auto const x_q = some_values<double, n_rhs>(n, 3),
               other_q = some_values<double, n_rhs>(begin + m, 4);
    guarded<double, n_rhs * K::n_out> out(n), mutual(n), halo(halo_begin + m);

    device_columns<double, 3> const on_x(x.view()), on_other(other.view());
    device_columns<double, n_rhs> const on_x_q(x_q.view()), on_other_q(other_q.view());
    device_columns<double, n_rhs * K::n_out> on_out(out.view()), on_mutual(out.view()),
        on_halo(halo.view());
    std::vector<double const*> source_x, source_q;
    for (int d = 0; d < 3; ++d) source_x.push_back(on_x.view()[d]);
    for (int d = 0; d < 3; ++d) source_x.push_back(on_other.view()[d]);
    for (int c = 0; c < n_rhs; ++c) source_q.push_back(on_x_q.view()[c]);
    for (int c = 0; c < n_rhs; ++c) source_q.push_back(on_other_q.view()[c]);

    std::vector<index_type> const offsets{0, n}, range_offsets{0, 1};
    std::vector<interaction_list::range> const own{{.begin = 0, .end = n}},
        ranges{{.begin = 0, .end = m, .set = 1}};
    std::vector<detail::source_set> const sets{{0, 0, 0}, {1, begin, halo_begin}};
    interaction_list const list{own, range_offsets, ranges, {}};
    device_array<index_type> const on_offsets(offsets), on_range_offsets(range_offsets);
    device_array<interaction_list::range> const on_own(own), on_ranges(ranges);
    device_array<detail::source_set> const on_sets(sets);
    detail::cuda_job<double> job;
    job.target_x = source_x.data();
    job.target_q = source_q.data();
    job.source_x = source_x.data();
    job.source_q = source_q.data();
    job.n_allocations = 2;
    job.n_rhs = n_rhs;
    job.box_offsets = on_offsets.data();
    job.own = on_own.data();
    job.range_offsets = on_range_offsets.data();
    job.ranges = on_ranges.data();
    job.sets = on_sets.data();
    job.own_is_self = true;
    auto const kernels = cuda_kernels_of<double, K>();
    auto const run =
        [&](detail::cuda_function<double> kernel, detail::cuda_items const& made, auto& to)
    {
      device_array<detail::cuda_item> const items{std::span<detail::cuda_item const>(made.items)};
      auto const outputs = to.view();
      job.target_out = outputs.data();
      job.items = items.data();
      job.n_wide = made.n_wide;
      job.n_medium = made.n_medium;
      job.n_items = static_cast<index_type>(items.size());
      check_cuda(kernel(&k, job), "kernel");
      synchronize(nullptr);
    };
    run(kernels.one_sided, detail::gather_items({offsets}, list), on_out);
    auto const to_halo = on_halo.view();
    job.halo_out = to_halo.data();
    run(kernels.mutual, detail::mutual_items({offsets}, list), on_mutual);
    on_out.copy_to(out.view());
    on_mutual.copy_to(mutual.view());
    on_halo.copy_to(halo.view());

    guarded<double, 3> y(m);
    for (int d = 0; d < 3; ++d)
      std::ranges::copy(other.column(d).subspan(begin), y.column(d).begin());
    for (int rhs = 0; rhs < n_rhs; ++rhs)
    {
      SCOPED_TRACE(testing::Message() << "right-hand side " << rhs);
      guarded<double, 1> y_q(m);
      std::ranges::copy(other_q.column(rhs).subspan(begin), y_q.column(0).begin());
      auto const& all_y = std::as_const(y);
      auto const& all_y_q = std::as_const(y_q);
      auto sums = reference(k, x.view(), x.view(), x_q.view<1>(rhs), other_points);
      auto const more = reference(k, x.view(), all_y.view(), all_y_q.view(), all_pairs);
      for (int o = 0; o < K::n_out; ++o)
        for (std::size_t i = 0; i < n; ++i)
        {
          sums.value[o][i] += more.value[o][i];
          sums.scale[o][i] += more.scale[o][i];
        }
      EXPECT_LE(error_of(out.view<K::n_out>(rhs * K::n_out), sums), tolerance<double>);
      EXPECT_LE(error_of(mutual.view<K::n_out>(rhs * K::n_out), sums), tolerance<double>);
      auto const back = reference(k, all_y.view(), x.view(), x_q.view<1>(rhs), all_pairs);
      for (int o = 0; o < K::n_out; ++o)
      {
        auto const column = halo.column(rhs * K::n_out + o);
        for (index_type j = 0; j < halo_begin; ++j) EXPECT_EQ(column[j], 0.);
      }
      std::array<double*, K::n_out> received;
      for (int o = 0; o < K::n_out; ++o)
        received[o] = halo.column(rhs * K::n_out + o).data() + halo_begin;
      EXPECT_LE(error_of(soa<double, K::n_out>(received, m), back), tolerance<double>);
    }
  }
}
