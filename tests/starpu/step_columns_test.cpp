// The columns that a step takes: several right-hand sides, as many as only the run tells, records of points.

#include "near_field_cases.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  TEST(starpu_step, right_hand_sides_follow_each_other)
  {
    using K = val_grad_one_over_r<2>;
    auto const x = make_points<double, 2>(cloud::uniform, 600);
    auto const q = make_inputs<double, 3>(x.size());
    auto const tree = build_tree(x.view(), {.max_leaf_size = 10});
    auto const groups = group_leaves(tree, {.leaves_per_group = 4});
    for (pair_form const form : pair_forms)
    {
      auto out = make_columns<double, 3 * K::n_out>(x.size(), 5.);
      starpu::near_field step{one_runtime(), K{},           groups,        x.view(),
                              q.view(),      writable(out), {.form = form}};
      step.submit();
      step.wait();
      for (int rhs = 0; rhs < 3; ++rhs)
      {
        soa<double const, 1> const one_q({q.columns[rhs].data()}, x.size());
        std::array<double*, K::n_out> columns;
        for (int o = 0; o < K::n_out; ++o) columns[o] = out.columns[rhs * K::n_out + o].data();
        EXPECT_LE(error_of(soa<double, K::n_out>(columns, x.size()),
                           reference_near_field(K{}, tree, x, x, one_q)),
                  tolerance<double>)
            << "right-hand side " << rhs;
      }
    }
  }

  TEST(starpu_step, takes_as_many_right_hand_sides_as_only_the_run_tells)
  {
    using K = grad_one_over_r<3>;
    auto const x = make_points<double, 3>(cloud::uniform, 600);
    auto const q = make_inputs<double, 8>(x.size());
    auto const q_view = q.view();
    auto const tree = build_tree(x.view(), {.max_leaf_size = 10});
    auto const groups = group_leaves(tree, {.leaves_per_group = 4});
    soa<double const, run_time_columns> const all_q({q_view.data(), 8}, x.size());
    for (pair_form const form : pair_forms)
    {
      auto out = make_columns<double, 8 * K::n_out>(x.size(), 5.);
      auto const out_view = writable(out);
      soa<double, run_time_columns> const all_out({out_view.data(), 8 * K::n_out}, x.size());
      starpu::near_field step{one_runtime(), K{}, groups, x.view(), all_q, all_out, {.form = form}};
      step.submit();
      step.wait();
      for (int rhs = 0; rhs < 8; ++rhs)
      {
        std::array<double*, K::n_out> columns;
        for (int o = 0; o < K::n_out; ++o) columns[o] = all_out[rhs * K::n_out + o];
        soa<double const, 1> const one_q({all_q[rhs]}, x.size());
        EXPECT_LE(error_of(soa<double, K::n_out>(columns, x.size()),
                           reference_near_field(K{}, tree, x, x, one_q)),
                  tolerance<double>)
            << "right-hand side " << rhs;
      }
      EXPECT_EQ(step.n_tasks(), groups.size());
    }
    soa<double const, run_time_columns> const too_few({q_view.data(), 7}, x.size());
    auto out = make_columns<double, 8 * K::n_out>(x.size(), 5.);
    auto const out_view = writable(out);
    soa<double, run_time_columns> const all_out({out_view.data(), 8 * K::n_out}, x.size());
    EXPECT_THROW(starpu::near_field(one_runtime(), K{}, groups, x.view(), too_few, all_out), error);
  }

  /// One record x y z q q gradient gradient of a point, and the same values in columns.
  template <class T>
  struct charged_records
  {
    using K = grad_one_over_r<3>;
    static constexpr int n_rhs = 2, width = 3 + n_rhs + n_rhs * K::n_out;

    points<T, 3> x;
    points<T, n_rhs> q;
    points<T, n_rhs * K::n_out> out;
    std::vector<T> values;

    charged_records(cloud shape, std::size_t n)
        : x(make_points<T, 3>(shape, n)), q(make_inputs<T, n_rhs>(n)),
          out(make_columns<T, n_rhs * K::n_out>(n, T(3))), values(n * width, T(3))
    {
      for (std::size_t i = 0; i < n; ++i)
      {
        for (int d = 0; d < 3; ++d) positions()[d][i] = x.columns[d][i];
        for (int c = 0; c < n_rhs; ++c) inputs()[c][i] = q.columns[c][i];
      }
    }

    auto positions() { return matrix_columns<3>(values.data(), x.size(), width, 1); }
    auto inputs() { return matrix_columns<n_rhs>(values.data() + 3, x.size(), width, 1); }
    auto outputs()
    {
      return matrix_columns<n_rhs * K::n_out>(values.data() + 3 + n_rhs, x.size(), width, 1);
    }

    void expect_same_bits()
    {
      for (std::size_t i = 0; i < x.size(); ++i)
      {
        for (int d = 0; d < 3; ++d) ASSERT_EQ(positions()[d][i], x.columns[d][i]);
        for (int c = 0; c < n_rhs; ++c) ASSERT_EQ(inputs()[c][i], q.columns[c][i]);
        for (int c = 0; c < n_rhs * K::n_out; ++c)
          ASSERT_EQ(outputs()[c][i], out.columns[c][i]) << "column " << c << " of point " << i;
      }
    }
  };

  template <class T>
  void expect_bits_of_columns_for_records()
  {
    typename charged_records<T>::K const k;
    for (pair_form const form : pair_forms)
      for (bool const accumulate : {false, true})
      {
        // one implementation: they differ in the last bits
        starpu::step_options const options{
            .accumulate = accumulate, .form = form, .backend = backend::scalar};
        charged_records<T> a(cloud::plummer, 500);
        auto const tree = build_tree(a.positions(), {.max_leaf_size = 20});
        auto const groups = group_leaves(tree, {.leaves_per_group = 5});
        starpu::near_field of_columns{one_runtime(),   k,      groups, a.x.view(), a.q.view(),
                                      writable(a.out), options};
        starpu::near_field of_records{one_runtime(), k,           groups, a.positions(),
                                      a.inputs(),    a.outputs(), options};
        for (int time = 0; time < 2; ++time)
        {
          of_columns.submit();
          of_records.submit();
          of_columns.wait();
          of_records.wait();
        }
        a.expect_same_bits();
        if (form == pair_form::mutual) continue;

        charged_records<T> b(cloud::uniform, 300);
        auto const two = build_tree(b.x.view(), a.positions(), {.max_leaf_size = 20});
        auto const two_groups = group_leaves(two, {.leaves_per_group = 5});
        starpu::near_field two_of_columns{one_runtime(), k,          two_groups,      b.x.view(),
                                          a.x.view(),    a.q.view(), writable(b.out), options};
        // columns among records
        starpu::near_field two_of_records{one_runtime(), k,          two_groups,  b.positions(),
                                          a.x.view(),    a.inputs(), b.outputs(), options};
        two_of_columns.submit();
        two_of_records.submit();
        two_of_columns.wait();
        two_of_records.wait();
        b.expect_same_bits();
      }
  }

  TEST(starpu_step, of_records_gives_the_bits_of_columns)
  {
    expect_bits_of_columns_for_records<double>();
    expect_bits_of_columns_for_records<float>();
  }
}
