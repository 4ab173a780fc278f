// Near fields over a tree whose points are moved by tasks of the caller's graph.

#include "complains_of.hpp"
#include "environment.hpp"
#include "own_graph.hpp"
#include "p2p/own_formulas.hpp"
#include "point_mover.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/starpu/near_field.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::handle;
  using testing::AllOf;
  using testing::HasSubstr;
  using testing::ThrowsMessage;

  template <class K, class T>
  struct of_type
  {
    using interaction = K;
    using real = T;
  };

  template <class Type>
  struct starpu_moving_step : testing::Test
  {};
  using types =
      testing::Types<of_type<one_over_r<3>, double>, of_type<val_grad_one_over_r<3>, float>,
                     of_type<one_over_r<2>, float>, of_type<gaussian<3>, double>>;
  TYPED_TEST_SUITE(starpu_moving_step, types);

  TYPED_TEST(starpu_moving_step, follows_points_that_a_task_moves)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    for (pair_form const form : {pair_form::automatic, pair_form::one_sided, pair_form::mutual})
      for (tree_options<K::dim> const& options :
           {tree_options<K::dim>{.max_leaf_size = 30}, tree_options<K::dim>{.level = 3}})
      {
        own_columns<K, T> p(1300);
        auto const before = p.x;
        point_mover<T> moves;
        starpu::moving_tree<T, K::dim> tree(one_runtime(), p.hx, options);
        starpu::near_field step{one_runtime(), K(), tree, p.hq, p.hout, {.form = form}};
        for (int time = 0; time < 4; ++time)
        {
          if (time > 0) moves.submit(p.hx);
          tree.positions_changed();
          step.submit();
        }
        step.wait();
        EXPECT_EQ(step.n_tasks(), 1u);
        p.hx.clear(); // brings positions and outputs to the caller's arrays
        p.hout.clear();
        EXPECT_NE(p.x.columns, before.columns);
        auto const leaves = build_tree(p.x.view(), options);
        EXPECT_LE(
            error_of(writable(p.out), reference_near_field(K(), leaves, p.x, p.x, p.q.view())),
            tolerance<T>);
      }
  }

  TYPED_TEST(starpu_moving_step, has_two_sets_and_adds_to_what_is_there)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    own_columns<K, T> targets(1200, 1), sources(1700, 5);
    point_mover<T> moves;
    tree_options<K::dim> const options{.max_leaf_size = 25};
    auto const sums = [&]
    {
      auto const leaves = build_tree(targets.x.view(), sources.x.view(), options);
      return reference_near_field(K(), leaves, targets.x, sources.x, sources.q.view());
    };
    auto const of_first_step = sums();
    starpu::moving_tree<T, K::dim> tree(one_runtime(), targets.hx, sources.hx, options);
    starpu::near_field step{one_runtime(), K(),          tree,
                            sources.hq,    targets.hout, {.accumulate = true}};
    step.submit();
    moves.submit(sources.hx);
    step.positions_changed();
    step.submit();
    step.wait();
    sources.hx.clear();
    EXPECT_LE(targets.error(of_first_step + sums()), tolerance<T>);
  }

#if !defined(NEARFIELD_TEST_CUDA)
  TEST(starpu_moving_step_bits, are_those_of_one_thread)
  {
    using K = grad_one_over_r<3>;
    own_columns<K, double> p(4000);
    starpu::moving_tree<double, 3> tree(one_runtime(), p.hx);
    starpu::near_field step{one_runtime(), K(), tree, p.hq, p.hout, {.form = pair_form::one_sided}};
    step.submit();
    step.wait();
    p.hout.clear();
    auto expected = make_columns<double, 3>(p.x.size(), 0.);
    near_field(simd, K(), build_tree(p.x.view()), p.x.view(), p.q.view(), writable(expected));
    for (int d = 0; d < 3; ++d) EXPECT_EQ(p.out.columns[d], expected.columns[d]);
  }
#endif

#if defined(NEARFIELD_TEST_CUDA)
  TEST(starpu_moving_steps, run_on_gpus_alone)
  {
    using K = one_over_r<3>;
    own_columns<K, double> p(3000);
    point_mover<double> moves;
    starpu::moving_tree<double, 3> tree(one_runtime(), p.hx);
    starpu::near_field step{one_runtime(), K(), tree, p.hq, p.hout};
    for (int time = 0; time < 20; ++time)
    {
      step.submit();
      moves.submit(p.hx);
      tree.positions_changed();
    }
    step.wait();
    std::uint64_t n_tasks = 0;
    for (auto const& ran : step.statistics())
    {
      EXPECT_EQ(ran.implementation, "cuda");
      n_tasks += ran.tasks;
    }
    EXPECT_EQ(n_tasks, 20u);
    EXPECT_EQ(step.form(), pair_form::automatic);
  }
#endif

  TEST(starpu_moving_steps, share_a_tree_and_take_several_right_hand_sides)
  {
    std::size_t const n = 1500;
    auto x = make_points<double, 3>(cloud::plummer, n);
    auto const q = make_inputs<double, 3>(n);
    std::vector<double> packed_x, packed_q, potentials(3 * n), gradients(9 * n);
    for (auto const& column : x.columns)
      packed_x.insert(packed_x.end(), column.begin(), column.end());
    for (auto const& column : q.columns)
      packed_q.insert(packed_q.end(), column.begin(), column.end());
    handle const hx = handle::of(packed_x.data(), packed_x.size()),
                 hq = handle::of(packed_q.data(), packed_q.size());
    {
      handle const phi = handle::of(potentials.data(), potentials.size()),
                   grad = handle::of(gradients.data(), gradients.size());
      starpu::moving_tree<double, 3> tree(one_runtime(), hx, {.max_leaf_size = 20});
      starpu::near_field potential{one_runtime(), one_over_r<>(), tree, hq, phi};
      starpu::near_field gradient{one_runtime(), grad_one_over_r<>(), tree, hq, grad};
      for (int time = 0; time < 3; ++time)
      {
        potential.submit();
        gradient.submit();
        tree.positions_changed(); // though they have not
      }
      potential.wait();
      gradient.wait();
    }
    auto const leaves = build_tree(x.view(), {.max_leaf_size = 20});
    for (std::size_t k = 0; k < 3; ++k)
    {
      soa<double const, 1> const inputs(q.columns[k]);
      std::array<double*, 3> of_gradient;
      for (std::size_t d = 0; d < 3; ++d) of_gradient[d] = gradients.data() + (3 * k + d) * n;
      EXPECT_LE(error_of(soa<double, 1>({potentials.data() + k * n}, n),
                         reference_near_field(one_over_r<>(), leaves, x, x, inputs)),
                tolerance<double>);
      EXPECT_LE(error_of(soa<double, 3>(of_gradient, n),
                         reference_near_field(grad_one_over_r<>(), leaves, x, x, inputs)),
                tolerance<double>);
    }
  }

  // The tree and the steps whose interactions have no parameters read the first columns alone.
  TEST(starpu_moving_steps, read_parameters_of_points)
  {
    std::size_t const n = 1100;
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      own_columns<one_over_r<3>, double> p(n);
      auto normals = make_inputs<double, 3>(n, 7);
      auto sums = make_columns<double, 1>(n, 5.);
      std::vector<handle> hnormals;
      for (auto& normal : normals.columns) hnormals.push_back(handle::of(normal.data(), n));
      std::vector<starpu_data_handle_t> columns;
      for (auto const* const of : {&p.hx, &hnormals})
        columns.insert(columns.end(), of->begin(), of->end());
      {
        handle const hsums = handle::of(sums.columns[0].data(), n);
        point_mover<double> moves;
        starpu::moving_tree<double, 3> tree(one_runtime(), columns, {.max_leaf_size = 20});
        starpu::near_field with{one_runtime(), dipole(), tree, p.hq, hsums, {.form = form}};
        starpu::near_field without{one_runtime(), one_over_r<3>(), tree,
                                   p.hq,          p.hout,          {.form = form}};
        for (int time = 0; time < 3; ++time)
        {
          if (time > 0) moves.submit(p.hx);
          if (time > 0) moves.submit(hnormals);
          tree.positions_changed();
          with.submit();
          without.submit();
        }
        with.wait();
        without.wait();
      }
      p.hx.clear();
      hnormals.clear();
      p.hout.clear();
      auto const leaves = build_tree(p.x.view(), {.max_leaf_size = 20});
      points<double, 6> x;
      for (std::size_t d = 0; d < 3; ++d)
      {
        x.columns[d] = p.x.columns[d];
        x.columns[3 + d] = normals.columns[d];
      }
      EXPECT_LE(error_of(writable(sums), reference_near_field(dipole(), leaves, x, x, p.q.view())),
                tolerance<double>);
      EXPECT_LE(error_of(writable(p.out),
                         reference_near_field(one_over_r<3>(), leaves, p.x, p.x, p.q.view())),
                tolerance<double>);

      std::vector<double> packed, of_packed(n);
      for (auto const& column : x.columns)
        packed.insert(packed.end(), column.begin(), column.end());
      {
        handle const hx = handle::of(packed.data(), packed.size()),
                     hq = handle::of(p.q.columns[0].data(), n),
                     hout = handle::of(of_packed.data(), n);
        starpu::moving_tree<double, 3> tree(one_runtime(), hx, {.max_leaf_size = 20});
        starpu::near_field step{one_runtime(), dipole(), tree, hq, hout, {.form = form}};
        step.submit();
        step.wait();
      }
      EXPECT_LE(error_of(soa{of_packed}, reference_near_field(dipole(), leaves, x, x, p.q.view())),
                tolerance<double>);

      own_columns<one_over_r<3>, double> bare(n);
      starpu::moving_tree<double, 3> tree(one_runtime(), bare.hx);
      EXPECT_THAT([&] { starpu::near_field(one_runtime(), dipole(), tree, bare.hq, bare.hout); },
                  complains_of("found 5 buffers", "6 + 2"));
    }
  }

  TEST(starpu_moving_steps, name_the_step_and_the_point_that_is_not_finite)
  {
    using K = one_over_r<3>;
    own_columns<K, double> p(500);
    starpu::moving_tree<double, 3> tree(one_runtime(), p.hx);
    starpu::near_field step{one_runtime(), K(), tree, p.hq, p.hout};
    auto const set = [&](double value)
    {
      starpu::check(starpu_data_acquire(p.hx[1], STARPU_RW), "starpu_data_acquire");
      p.x.columns[1][77] = value;
      starpu_data_release(p.hx[1]);
      tree.positions_changed();
    };
    double const good = p.x.columns[1][77];
    for (int time = 0; time < 3; ++time) step.submit();
    set(std::numeric_limits<double>::quiet_NaN());
    step.submit();
    EXPECT_NO_THROW(step.wait_for_inputs());
    EXPECT_THAT([&] { step.wait(); },
                ThrowsMessage<error>(AllOf(HasSubstr("step 3"), HasSubstr("point 77"))));
    starpu::check(starpu_data_acquire(p.hout[0], STARPU_R), "starpu_data_acquire");
    EXPECT_EQ(p.out.columns[0], std::vector<double>(500, 0.));
    starpu_data_release(p.hout[0]);
    set(good);
    step.submit();
    step.wait();
    p.hout.clear();
    EXPECT_LE(error_of(writable(p.out),
                       reference_near_field(K(), build_tree(p.x.view()), p.x, p.x, p.q.view())),
              tolerance<double>);
  }

  TEST(starpu_moving_steps, that_fail_add_nothing)
  {
    using K = one_over_r<3>;
    own_columns<K, double> p(300);
    p.x.columns[1][77] = std::numeric_limits<double>::quiet_NaN();
    starpu::moving_tree<double, 3> tree(one_runtime(), p.hx);
    starpu::near_field step{one_runtime(), K(), tree, p.hq, p.hout, {.accumulate = true}};
    step.submit();
    EXPECT_THAT([&] { step.wait(); }, complains_of("point 77"));
    p.hout.clear();
    EXPECT_EQ(p.out.columns[0], std::vector<double>(300, 1.)) << "as it was";
  }

  TEST(starpu_moving_steps, refuse_points_outside_a_given_root)
  {
    using K = one_over_r<3>;
    own_columns<K, double> p(300);
    starpu::moving_tree<double, 3> tree(
        one_runtime(), p.hx, {.root = cube<3>{.centre = {0.5, 0.5, 0.5}, .half_width = 0.125}});
    starpu::near_field step{one_runtime(), K(), tree, p.hq, p.hout};
    step.submit();
    EXPECT_THAT([&] { step.wait(); }, complains_of("root"));
  }

  TEST(starpu_moving_steps, read_new_inputs_over_the_same_positions)
  {
    using K = grad_one_over_r<3>;
    own_columns<K, double> p(900);
    starpu::moving_tree<double, 3> tree(one_runtime(), p.hx, {.max_leaf_size = 20});
    starpu::near_field step{one_runtime(), K(), tree, p.hq, p.hout};
    step.submit();
    step.wait();
    starpu::check(starpu_data_acquire(p.hq[0], STARPU_RW), "starpu_data_acquire");
    for (double& q : p.q.columns[0]) q = 1 - 2 * q;
    starpu_data_release(p.hq[0]);
    step.submit();
    step.wait();
    p.hout.clear();
    auto const leaves = build_tree(p.x.view(), {.max_leaf_size = 20});
    EXPECT_LE(error_of(writable(p.out), reference_near_field(K(), leaves, p.x, p.x, p.q.view())),
              tolerance<double>);
  }

  TEST(starpu_moving_steps, may_lose_their_tree_and_end_while_tasks_run)
  {
    using K = one_over_r<3>;
    own_columns<K, double> p(3000);
    point_mover<double> moves;
    {
      std::optional<starpu::moving_tree<double, 3>> tree(std::in_place, one_runtime(), p.hx);
      starpu::near_field step{one_runtime(), K(), *tree, p.hq, p.hout};
      for (int time = 0; time < 5; ++time)
      {
        step.submit();
        moves.submit(p.hx);
        step.positions_changed();
      }
      step.submit();
      tree.reset();
    }
    p.hx.clear();
    p.hout.clear();
    auto const leaves = build_tree(p.x.view());
    EXPECT_LE(error_of(writable(p.out), reference_near_field(K(), leaves, p.x, p.x, p.q.view())),
              tolerance<double>);
  }

  TEST(starpu_moving_steps, have_sets_without_points)
  {
    using K = val_grad_one_over_r<3>;
    for (auto const& [n_targets, n_sources] : {std::pair(0, 50), std::pair(50, 0), std::pair(0, 0)})
    {
      own_columns<K, double> targets(n_targets), sources(n_sources);
      starpu::moving_tree<double, 3> tree(one_runtime(), targets.hx, sources.hx);
      starpu::near_field step{one_runtime(), K(), tree, sources.hq, targets.hout};
      step.submit();
      step.wait();
      targets.hout.clear();
      for (auto const& column : targets.out.columns)
        EXPECT_EQ(column, std::vector<double>(n_targets, 0.));
    }
  }

  TEST(starpu_moving_steps, take_no_points_and_one)
  {
    using K = one_over_r<3>;
    for (std::size_t const n : {std::size_t(0), std::size_t(1)})
    {
      own_columns<K, double> p(n);
      starpu::moving_tree<double, 3> tree(one_runtime(), p.hx);
      starpu::near_field step{one_runtime(), K(), tree, p.hq, p.hout};
      step.submit();
      step.wait();
      p.hout.clear();
      if (n == 1)
      {
        EXPECT_EQ(p.out.columns[0][0], 0.);
      }
    }
  }

  TEST(starpu_moving_steps, refuse_what_does_not_fit)
  {
    using K = one_over_r<3>;
    own_columns<K, double> p(300), other(301);
    starpu::moving_tree<double, 3> tree(one_runtime(), p.hx);
    EXPECT_THAT([&] { starpu::near_field(one_runtime(), K(), tree, other.hq, p.hout); },
                complains_of("300"));
    EXPECT_THAT([&] { starpu::near_field(one_runtime(), K(), tree, p.hq, p.hq); },
                complains_of("memory"));
    EXPECT_THAT([&] { starpu::near_field(one_runtime(), K(), tree, p.hq, {p.hout[0], p.hq[0]}); },
                complains_of("found 6 buffers"));
    using tree_type = starpu::moving_tree<double, 3>;
    EXPECT_THAT([&] { tree_type(one_runtime(), p.hx, {.max_leaf_size = 0}); },
                complains_of("max_leaf_size"));
    EXPECT_THAT([&] { tree_type(one_runtime(), p.hx, {.max_leaf_size = -5}); },
                complains_of("max_leaf_size", "-5"));
    EXPECT_THAT([&] { tree_type(one_runtime(), p.hx, {.level = -1}); },
                complains_of("level", "-1"));
    EXPECT_THAT(
        [&]
        {
          starpu::near_field(one_runtime(), K(), tree, p.hq, p.hout,
                             {.delivery = starpu::step_options::on_request});
        },
        complains_of("delivery"));
    starpu::moving_tree<double, 3> both(one_runtime(), p.hx, other.hx);
    EXPECT_THAT(
        [&]
        {
          starpu::near_field(one_runtime(), K(), both, other.hq, p.hout,
                             {.form = pair_form::mutual});
        },
        complains_of("two sets"));
  }
}
