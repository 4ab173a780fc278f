// Trees in periodic boxes on a GPU: those of the CPU to the bit, and near fields over them.

#include "complains_of.hpp"
#include "cuda/device_trees.hpp"
#include "tree/periodic_cases.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/cuda_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// The shifts in device memory are those of the CPU.
    template <int Dim>
    void expect_shifts(interaction_list const& on_device, tree<Dim> const& expected)
    {
      auto const shifts = expected.interactions().shifts;
      ASSERT_EQ(on_device.shifts.size(), shifts.size());
      std::vector<std::array<double, 3>> found(shifts.size());
      detail::device_copy(found.data(), on_device.shifts.data(), on_device.shifts.size_bytes(),
                          nullptr);
      EXPECT_TRUE(std::ranges::equal(found, shifts));
    }

    template <class K, class T>
    void expect_sums(K const& k, periodic_case<T, K::dim> const& c)
    {
      constexpr int dim = K::dim;
      if (c.x.size() == 0) return;
      auto const q = random_columns<T, K::n_in>(c.x.size()),
                 y_q = random_columns<T, K::n_in>(c.y.size());
      device_columns<T, dim> const on_x(c.x.view()), on_y(c.y.view());
      device_columns<T, K::n_in> const on_q(q.view()), on_y_q(y_q.view());
      auto const one = build_tree(cuda, on_x.view(), c.options);
      auto const two = build_tree(cuda, on_x.view(), on_y.view(), c.options);
      auto const host_one = build_tree(c.x.view(), c.options);
      auto const of_one = periodic_reference(k, host_one, c.x, c.x, q.view());
      auto const of_two = periodic_reference(k, build_tree(c.x.view(), c.y.view(), c.options), c.x,
                                             c.y, y_q.view());
      auto const expect = [&](char const* what, auto const& sums, auto const& compute)
      {
        column_set<T, K::n_out> found;
        for (auto& column : found.columns) column.assign(c.x.size(), T(-7));
        device_columns<T, K::n_out> out(std::as_const(found).view());
        compute(out.view());
        out.copy_to(found.view());
        EXPECT_LE(error_of(found.view(), sums), tolerance<T>) << what;
      };
      using view = soa<T, K::n_out>;
      expect("one-sided", of_one,
             [&](view const& out) { near_field(cuda, k, one, on_x.view(), on_q.view(), out); });
      expect("mutual", of_one,
             [&](view const& out)
             {
               near_field(cuda, k, one, on_x.view(), on_q.view(), out, {.form = pair_form::mutual});
             });
      expect("two sets", of_two, [&](view const& out)
             { near_field(cuda, k, two, on_x.view(), on_y.view(), on_y_q.view(), out); });

      // the same list, from the host
      auto const order = host_one.target_order();
      cuda_list const list(cuda, host_one.targets(), host_one.interactions(), c.x.size());
      cuda_list const half(cuda, host_one.targets(), host_one.half_interactions(), c.x.size(),
                           pair_form::mutual);
      device_columns<T, dim> const sorted_x(gather(order, c.x.view()));
      device_columns<T, K::n_in> const sorted_q(gather(order, q.view()));
      device_columns<T, K::n_out> sorted_out(c.x.size());
      auto const back = [&](view const& out)
      {
        column_set<T, K::n_out> sorted, found;
        for (auto* to : {&sorted, &found})
          for (auto& column : to->columns) column.resize(c.x.size());
        sorted_out.copy_to(sorted.view());
        scatter(order, std::as_const(sorted).view(), found.view());
        for (int o = 0; o < K::n_out; ++o)
          detail::device_copy(out[o], found.columns[o].data(), c.x.size() * sizeof(T), nullptr);
      };
      expect("one-sided, a list of the host", of_one,
             [&](view const& out)
             {
               near_field(cuda, k, list, sorted_x.view(), sorted_q.view(), sorted_out.view());
               back(out);
             });
      expect("mutual, a list of the host", of_one,
             [&](view const& out)
             {
               near_field(cuda, k, half, sorted_x.view(), sorted_q.view(), sorted_out.view(),
                          {.form = pair_form::mutual});
               back(out);
             });
    }

    template <class C>
    class cuda_periodic_tree : public testing::Test
    {};
    TYPED_TEST_SUITE(cuda_periodic_tree, all_coordinates, coordinate_names);
  }

  // 4 types x 60 clouds, each as one set and as two; the same tree is rebuilt and enqueued.
  TYPED_TEST(cuda_periodic_tree, is_that_of_the_cpu)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < 60; ++seed)
    {
      periodic_case<T, dim> const c(seed, seed % 6 == 0 ? 20'000 : 900);
      SCOPED_TRACE(testing::Message() << "case " << seed << ", " << c.name());
      device_columns<T, dim> const on_x(c.x.view()), on_y(c.y.view());
      auto const expected = build_tree(c.x.view(), c.options);
      auto tree = build_tree(cuda, on_x.view(), c.options);
      expect_equal(tree, expected);
      expect_shifts(tree.interactions(), expected);
      expect_shifts(tree.half_interactions(), expected);
      tree.rebuild(on_x.view(), on_y.view());
      expect_equal(tree, build_tree(c.x.view(), c.y.view(), c.options));
      tree.rebuild(on_y.view());
      tree.enqueue(on_y.view());
      tree.finish();
      expect_equal(tree, build_tree(c.y.view(), c.options));
      if (this->HasFailure()) return;
    }
  }

  // Leaves that meet thousands: rows too long for a warp, across the border.
  TYPED_TEST(cuda_periodic_tree, a_leaf_may_meet_thousands_across_the_border)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(3);
    points<T, dim> x;
    for (int i = 0; i < 20000; ++i)
    {
      auto at = uniform_point<dim>(random);
      at[0] = 1 - 1e-5 * (1 + random.uniform()); // a sheet at the end
      x.push_back(at);
    }
    x.push_back({}); // and a point at the beginning
    tree_options<dim> options{.max_leaf_size = 1};
    options.period.fill(1);
    device_columns<T, dim> const on_x(x.view());
    expect_equal(build_tree(cuda, on_x.view(), options), build_tree(x.view(), options));
  }

  TYPED_TEST(cuda_periodic_tree, refuses_what_the_cpu_refuses)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const good = make_points<T, dim>(cloud::uniform, 500);
    auto const expect_same_error = [](points<T, dim> const& x, tree_options<dim> const& options)
    {
      std::string expected;
      try
      {
        static_cast<void>(build_tree(x.view(), options));
      }
      catch (error const& e)
      {
        expected = e.what();
      }
      ASSERT_NE(expected, "");
      device_columns<T, dim> const on_x(x.view());
      EXPECT_THAT([&] { static_cast<void>(build_tree(cuda, on_x.view(), options)); },
                  complains_of(expected));
    };
    tree_options<dim> options;
    options.period[1] = 1;
    for (double const wrong : {1., -1e-9, std::nan(""), 1e30})
    {
      auto x = good;
      x.columns[1][7] = static_cast<T>(wrong);
      expect_same_error(x, options);
      auto with_root = options;
      with_root.root = cube<dim>{.centre = {}, .half_width = 2};
      expect_same_error(x, with_root);
    }
    for (double const period : {-1., std::nan(""), 0.25, 1e-310})
    {
      options.period[1] = period;
      expect_same_error(good, options);
    }
    if (sizeof(T) == 4)
    {
      options.period[1] = 1e60;
      expect_same_error(good, options);
    }
  }

  TEST(cuda_periodic_near_field, is_the_sum_over_all_images_that_touch)
  {
    for (std::uint64_t seed = 0; seed < 25; ++seed)
    {
      SCOPED_TRACE(testing::Message() << "case " << seed);
      expect_sums(one_over_r<3>{}, periodic_case<double, 3>(seed, 300));
      expect_sums(val_grad_one_over_r<3>{}, periodic_case<float, 3>(seed + 100, 300));
      expect_sums(dipole_tensor<3>{}, periodic_case<double, 3>(seed + 200, 200));
      expect_sums(grad_log_r{}, periodic_case<double, 2>(seed + 300, 300));
      if (testing::Test::HasFailure()) return;
    }
  }

  TEST(cuda_periodic_near_field, serves_several_right_hand_sides)
  {
    one_over_r<3> const k;
    std::size_t const n = 3000;
    auto const x = make_points<double, 3>(cloud::uniform, n);
    auto const q = random_columns<double, 5>(n);
    device_columns<double, 3> const on_x(x.view());
    device_columns<double, 5> const on_q(q.view());
    for (int const level : {0, 1, 2, 3})
    {
      SCOPED_TRACE(level);
      tree_options<3> const options{.level = level, .period = {1, 0, 1.5}};
      auto const tree = build_tree(cuda, on_x.view(), options);
      auto const expected = build_tree(x.view(), options);
      expect_equal_outputs<double, 5>(
          n, [&](soa<double, 5> const& out)
          { near_field(cuda, k, tree, on_x.view(), on_q.view(), out); },
          [&](soa<double, 5> const& out)
          { near_field(scalar, k, expected, x.view(), q.view(), out); });
      expect_equal_outputs<double, 5>(
          n,
          [&](soa<double, 5> const& out)
          {
            near_field(cuda, k, tree, on_x.view(), on_q.view(), out, {.form = pair_form::mutual});
          },
          [&](soa<double, 5> const& out)
          { near_field(scalar, k, expected, x.view(), q.view(), out); });
    }
  }
}
