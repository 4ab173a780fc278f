#include "near_field_problem.hpp"
#include "random_cells.hpp"
#include "temporaries.hpp"

#include "starpu/environment.hpp"
#include "starpu/pinned_columns.hpp"
#include "tree/periodic_cases.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>
#include <nearfield/starpu_mpi/radius_search.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <starpu_mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  /// Clouds of all shapes, with each kind of owners, some with fewer leaves than ranks.
  template <class K, class T>
  void expect_one_rank_on_clouds(pair_form form, std::uint64_t seed)
  {
    for (int i = 0; i < at_most(2, 6); ++i)
    {
      random_numbers random(++seed);
      cloud const shape = all_clouds[seed % std::size(all_clouds)];
      owners const who = all_owners[seed % std::size(all_owners)];
      std::size_t const n = random.below(4) == 0 ? random.below(9) : 200 + random.below(700);
      SCOPED_TRACE(testing::Message() << name_of(shape) << ", n = " << n << ", owners "
                                      << static_cast<int>(who) << ", seed " << seed);
      tree_options<K::dim> options{.max_leaf_size = 1 + static_cast<int>(random.below(30))};
      if (random.below(3) == 0) options.level = static_cast<int>(random.below(4));
      problem<K, T> of(shape, n, who, options, 1, seed);
      expect_one_rank(of, form, 1 + static_cast<int>(random.below(20)));
    }
  }

  TEST(starpu_mpi_temporaries, lend_nothing_and_carry_no_step)
  {
    using tree = starpu_mpi::distributed_tree<double, 3>;
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(pieces(0))));
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(known_leaves())));
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(known_sources())));
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(interactions())));
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(layers())));
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(positions())));
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(source_positions())));
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(positions_on_gpu())));
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(source_positions_on_gpu())));
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(numbers())));
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(source_numbers())));
    static_assert(needs_a_name<tree>(NEARFIELD_ACCESS(cuts())));

    using cells = starpu_mpi::distributed_cells<double, 3>;
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(cuts())));
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(numbers())));
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(positions())));
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(own())));
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(border())));
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(border_points())));

    using step = starpu_mpi::near_field<double>;
    using view = soa<double, 1>;
    static_assert(
        std::constructible_from<step, starpu::runtime&, one_over_r<3>, tree&, view, view>);
    static_assert(
        !std::constructible_from<step, starpu::runtime&, one_over_r<3>, tree, view, view>);
  }

  TEST(distributed_near_field, has_the_bits_of_one_rank)
  {
    expect_one_rank_on_clouds<one_over_r<>, double>(pair_form::one_sided, 0);
  }
  TEST(distributed_near_field, has_the_bits_of_one_rank_in_2d_and_single_precision)
  {
    expect_one_rank_on_clouds<grad_one_over_r<2>, float>(pair_form::one_sided, 12);
  }
  TEST(distributed_near_field, is_that_of_one_rank_with_mutual_groups)
  {
    expect_one_rank_on_clouds<grad_one_over_r<>, double>(pair_form::mutual, 24);
  }
  TEST(distributed_near_field, is_that_of_one_rank_in_periodic_boxes)
  {
    for (std::uint64_t seed = 0; seed < std::uint64_t(at_most(3, 10)); ++seed)
    {
      periodic_case<double, 3> const box(seed + 50, 500);
      SCOPED_TRACE(box.name());
      // of points at one place the images alone count, whose sums are zero but for rounding
      if (std::ranges::all_of(
              box.x.columns, [](auto const& x)
              { return x.empty() || std::ranges::count(x, x[0]) == std::ssize(x); }))
        continue;
      problem<val_grad_one_over_r<>, double> of(box.x, all_owners[seed % std::size(all_owners)],
                                                box.options, 1, seed);
      expect_one_rank(of, pair_form::one_sided);
      expect_one_rank(of, pair_form::mutual, 1 + static_cast<int>(seed));
    }
  }
  // Positions come to the ranks as images in the box.
  TEST(distributed_near_field, is_that_of_one_rank_in_boxes_of_any_shape)
  {
    random_numbers random(8);
    for (std::uint64_t seed = 0; seed < std::uint64_t(at_most(2, 6)); ++seed)
    {
      SCOPED_TRACE(seed);
      auto x = make_points<double, 3>(cloud::uniform, 400, seed);
      for (auto& column : x.columns)
        for (double& value : column) value = 4 * value - 1;
      problem<val_grad_one_over_r<>, double> of(
          x, all_owners[seed % std::size(all_owners)],
          {.max_leaf_size = 20, .cell = random_cell<3>(random, 1)}, 1, seed);
      expect_one_rank(of, pair_form::one_sided);
      expect_one_rank(of, pair_form::mutual, 1 + static_cast<int>(seed));
    }
  }
  TEST(distributed_near_field, computes_several_right_hand_sides)
  {
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      problem<dipole_tensor<>, double> of(cloud::plummer, 600, owners::random,
                                          {.max_leaf_size = 12}, 3);
      expect_one_rank(of, form);
    }
  }

  TEST(distributed_near_field, repeats_mutual_sums_to_the_bit)
  {
    if (on_gpus()) GTEST_SKIP() << "a GPU adds in no fixed order";
    problem<one_over_r<>, double> of(cloud::uniform, 3000, owners::even, {.max_leaf_size = 20});
    starpu_mpi::near_field step{runtime_of_rank(), one_over_r<>{},
                                of.tree,           of.inputs(),
                                of.outputs(),      {.groups = {.leaves_per_group = 10}}};
    ASSERT_EQ(step.form(), pair_form::mutual);
    step.submit();
    step.wait();
    auto const once = of.out;
    for (int again = 0; again < at_most(2, 8); ++again)
    {
      step.inputs_changed(); // messages in another time
      step.submit();
      step.wait();
      ASSERT_EQ(of.out, once);
    }
  }

  TEST(distributed_near_field, reads_inputs_again_and_accumulates)
  {
    problem<one_over_r<>, double> of(cloud::plummer, 900, owners::odd_only, {.max_leaf_size = 10});
    starpu_mpi::near_field step{
        runtime_of_rank(), one_over_r<>{}, of.tree,
        of.inputs(),       of.outputs(),   {.accumulate = true, .form = pair_form::one_sided}};
    of.compute_expected();
    step.submit();
    step.wait();
    of.expect_results(bits<double>(), 99);
    for (auto& column : of.q)
      for (double& value : column) value *= 4;
    for (auto& column : of.out) std::ranges::fill(column, 1000.);
    step.submit(); // not yet
    step.wait();
    of.expect_results(bits<double>(), 1000);
    for (auto& column : of.out) std::ranges::fill(column, 0.);
    step.inputs_changed();
    step.submit();
    step.submit(); // twice, one after the other
    step.wait();
    for (auto& column : of.expected)
      for (double& value : column) value *= 8;
    of.expect_results(bits<double>());
  }

  TEST(distributed_near_field, delivers_on_request)
  {
    problem<one_over_r<>, double> of(cloud::plummer, 900, owners::random, {.max_leaf_size = 10});
    starpu_mpi::near_field step{runtime_of_rank(),
                                one_over_r<>{},
                                of.tree,
                                of.inputs(),
                                of.outputs(),
                                {.accumulate = true,
                                 .form = pair_form::one_sided,
                                 .delivery = starpu::step_options::on_request}};
    step.deliver(); // nothing yet
    step.wait();
    auto const before = of.out;
    step.submit();
    step.wait();
    EXPECT_EQ(of.out, before);
    for (auto& column : of.q) // wait() has said that they may change
      for (double& value : column) value *= 2;
    of.compute_expected();
    step.inputs_changed();
    step.submit();
    step.submit();
    step.deliver(); // the last one's alone
    step.wait();
    of.expect_results(bits<double>(), 99);
    of.move(step, [](std::size_t, int, double& x) { x *= 1.25; });
    step.submit();
    step.deliver();
    step.wait();
    of.compute_expected();
    of.expect_results(bits<double>(), 99);
  }

  TEST(distributed_near_field, delivers_nothing_before_the_first_step)
  {
    problem<one_over_r<>, double> of(cloud::plummer, 300, owners::random, {.max_leaf_size = 10});
    auto const before = of.out;
    {
      starpu_mpi::near_field step{
          runtime_of_rank(), one_over_r<>{}, of.tree,
          of.inputs(),       of.outputs(),   {.delivery = starpu::step_options::on_request}};
      step.deliver();
      step.wait();
    }
    EXPECT_EQ(of.out, before);
  }

  TEST(distributed_near_field, takes_columns_in_several_pieces_to_a_gpu)
  {
    if (!on_gpus()) GTEST_SKIP() << "no GPU";
    // pieces have 2^16 points or more; some points travel, and come back accumulated
    using K = dipole_tensor<>;
    problem<K, float> of(cloud::uniform, 150'000 * std::size_t(size_of_world()), owners::even,
                         {.max_leaf_size = 40}, 2);
    std::size_t const n = of.here.size();
    pinned_columns<float> const q(2 * K::n_in, n), out(2 * K::n_out, n);
    for (bool const is_pinned : {false, true})
      for (bool const accumulate : {false, true})
      {
        SCOPED_TRACE(testing::Message() << "pinned " << is_pinned << ", adds " << accumulate);
        copy_columns(of.inputs(), q.view());
        for (auto& column : of.expected) std::ranges::fill(column, 0.f);
        of.compute_expected();
        starpu_mpi::near_field step{runtime_of_rank(),
                                    K{},
                                    of.tree,
                                    is_pinned ? soa<float const, run_time_columns>(q.view())
                                              : of.inputs(),
                                    is_pinned ? out.view() : of.outputs(),
                                    {.accumulate = accumulate}};
        auto const expect_step = [&]
        {
          for (auto& column : of.out) std::ranges::fill(column, 2.f);
          copy_columns(of.outputs(), out.view());
          step.submit();
          step.wait();
          if (is_pinned) copy_columns(out.view(), of.outputs());
          of.expect_results(rounding_of(0.f), accumulate ? 2.f : 0.f);
        };
        expect_step();
        for (auto& column : of.q)
          for (float& value : column) value *= 2;
        copy_columns(of.inputs(), q.view());
        for (auto& column : of.expected)
          for (float& value : column) value *= 2;
        step.inputs_changed();
        expect_step();
        of.move(step, [](std::size_t, int, float& x) { x *= 0.98f; });
        of.compute_expected();
        expect_step();
      }
  }

  class no_memory final : public device_memory
  {
  public:
    void* allocate(std::size_t, cuda_stream) override { return nullptr; }
    void deallocate(void*, std::size_t, cuda_stream) noexcept override {}
  };

  TEST(distributed_near_field, takes_lists_of_the_host_if_the_gpu_has_no_memory_for_them)
  {
    // an allocator is for the current device, which StarPU makes another one if it has several
    if (runtime_of_rank().n_gpus() != 1) GTEST_SKIP() << "no GPU, or several";
    problem<one_over_r<>, double> of(cloud::plummer, 3000, owners::even, {.max_leaf_size = 20});
    {
      set_device_memory(std::make_shared<no_memory>());
      std::shared_ptr<void> const as_before(nullptr, [](void*) { set_device_memory(nullptr); });
      expect_one_rank(of, pair_form::mutual, automatic);
    }
    expect_one_rank(of, pair_form::mutual, automatic);
  }

  TEST(distributed_near_field, computes_one_group_on_a_gpu_however_many_ranks_touch_it)
  {
    // each of the 4^3 leaves touches 26 others, and of 40 ranks some touch more others than a launch reads from
    tree_options<3> options{.level = 2};
    options.period = {1, 1, 1};
    problem<one_over_r<>, float> of(cloud::uniform, 5000, owners::even, options);
    auto touched = static_cast<int>(of.tree.layers().size());
    MPI_Allreduce(MPI_IN_PLACE, &touched, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_TRUE(size_of_world() < 40 || touched >= 24) << touched;
    if (runtime_of_rank().n_gpus() != 1) GTEST_SKIP() << "no GPU, or several";
    of.compute_expected();
    for (pair_form const form : {pair_form::mutual, pair_form::one_sided})
    {
      starpu_mpi::near_field step{runtime_of_rank(), one_over_r<>{}, of.tree,
                                  of.inputs(),       of.outputs(),   {.form = form}};
      EXPECT_TRUE(!of.tree.gpu() || step.n_tasks() <= 2) << step.n_tasks();
      step.submit();
      step.wait();
      of.expect_results(rounding_of(0.f));
    }
  }

  TEST(distributed_near_field, takes_strided_columns)
  {
    problem<one_over_r<>, double> of(cloud::uniform, 500, owners::random, {.level = 2});
    std::vector<double> table(2 * of.here.size());
    for (std::size_t i = 0; i < of.here.size(); ++i)
      table[2 * i] = of.q[0][of.first[of.rank()] + i];
    auto const q = matrix_columns<1>(table.data(), of.here.size(), 2, 1);
    auto const out = matrix_columns<1>(table.data() + 1, of.here.size(), 2, 1);
    starpu_mpi::near_field step{
        runtime_of_rank(), one_over_r<>{}, of.tree, q, out, {.form = pair_form::one_sided}};
    step.submit();
    step.wait();
    for (std::size_t i = 0; i < of.here.size(); ++i) of.out[0][i] = table[2 * i + 1];
    of.compute_expected();
    of.expect_results(bits<double>());
  }

  TEST(distributed_near_field, inputs_may_change_once_they_have_been_read)
  {
    problem<one_over_r<>, double> of(cloud::uniform, 900, owners::even, {.max_leaf_size = 9});
    starpu_mpi::near_field step{runtime_of_rank(), one_over_r<>{}, of.tree, of.inputs(),
                                of.outputs()};
    for (int time = 0; time < 3; ++time)
    {
      step.submit();
      step.wait_for_inputs();
      for (auto& column : of.q)
        for (double& value : column) value = 1 - 0.5 * value;
      step.inputs_changed();
    }
    step.submit();
    step.wait();
    of.compute_expected();
    of.expect_results(rounding_of(0.));
  }

  TEST(distributed_near_field, runs_several_steps_at_once_with_their_own_tags)
  {
    problem<one_over_r<>, double> one(cloud::uniform, 700, owners::even, {.max_leaf_size = 9});
    problem<one_over_r<>, double> other(cloud::plummer, 700, owners::last, {.max_leaf_size = 9});
    starpu_mpi::near_field first{runtime_of_rank(), one_over_r<>{}, one.tree,
                                 one.inputs(),      one.outputs(),  {.form = pair_form::one_sided}};
    starpu_mpi::near_field second{
        runtime_of_rank(), one_over_r<>{},
        other.tree,        other.inputs(),
        other.outputs(),   {.form = pair_form::one_sided, .first_tag = starpu_mpi::tags_of_a_step}};
    // ranks submit in different orders
    rank_of_world() % 2 == 0 ? first.submit() : second.submit();
    rank_of_world() % 2 == 0 ? second.submit() : first.submit();
    first.wait();
    second.wait();
    one.compute_expected();
    other.compute_expected();
    one.expect_results(bits<double>());
    other.expect_results(bits<double>());
  }

  TEST(distributed_near_field, sends_the_points_at_borders_and_those_away_from_home)
  {
    using K = grad_one_over_r<>;
    problem<K, double> of(cloud::plummer, 2000, owners::even, {.max_leaf_size = 15});
    {
      starpu_mpi::near_field step{runtime_of_rank(), K{}, of.tree, of.inputs(), of.outputs()};
      expect_bytes_of_a_step(of, step, 1, 1);
      expect_bytes_of_a_step(of, step, 0, 0); // positions and inputs stand
      step.inputs_changed();
      expect_bytes_of_a_step(of, step, 0, 1);
      of.move(step, [](std::size_t i, int, double& x) { x += i % 3 == 0 ? 0.1 : -0.2 * x; });
      expect_bytes_of_a_step(of, step, 1, 1);
      expect_bytes_of_a_step(of, step, 0, 0);
    }
    EXPECT_TRUE(size_of_world() == 1 || bytes_sent()[of.rank() == 0] > 0);
  }

  /// Points drift over cuts, all fall into the range of one rank, and return to where others are.
  template <class K, class T>
  void expect_one_rank_after_moves(pair_form form, double imbalance, owners who)
  {
    problem<K, T> of(cloud::plummer, 700, who, {.max_leaf_size = 9, .root = cube<K::dim>{{}, 8}}, 1,
                     5, {.imbalance = imbalance});
    auto const start = of.x;
    starpu_mpi::near_field step{
        runtime_of_rank(), K{},          of.tree,
        of.inputs(),       of.outputs(), {.form = form, .groups = {.leaves_per_group = 7}}};
    step.submit();
    step.wait();
    random_numbers random(3);
    for (int t = at_most(1, 0); t < 4; t += at_most(2, 1))
    {
      SCOPED_TRACE(testing::Message() << "move " << t);
      bool const has_new_inputs = t < 3; // then a rank has its points again
      auto const begin = std::chrono::steady_clock::now();
      if (has_new_inputs)
        for (auto& column : of.q)
          for (T& value : column) value *= T(-1.5);
      of.move(step,
              [&](std::size_t i, int d, T& x)
              {
                if (t == 1)
                  x = T(-5) + x / 256;
                else if (t == 3)
                  x = start.columns[d][i];
                else
                  x += T(random.uniform(-0.3, 0.2));
              });
      if (t == 1 && imbalance > 1)
      {
        EXPECT_EQ(of.tree.n_points() == 0, of.rank() > 0);
      }
      if (has_new_inputs) step.inputs_changed();
      EXPECT_EQ(step.seconds(), 0);
      of.compute_expected();
      for (int again = 0; again < 2; ++again)
      {
        if (again == 1) step.inputs_changed();
        step.submit();
        step.wait();
        of.expect_results(form == pair_form::one_sided ? bits<T>() : rounding_of(T()));
      }
      EXPECT_EQ(step.seconds() > 0, of.tree.size() > 0);
      std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - begin;
      if (!on_gpus())
      {
        EXPECT_LE(step.seconds(), passed.count()) << "of one worker";
      }
    }
  }

  TEST(distributed_near_field, has_the_bits_of_one_rank_after_moves)
  {
    expect_one_rank_after_moves<one_over_r<>, double>(pair_form::one_sided, 0.1, owners::even);
    expect_one_rank_after_moves<grad_one_over_r<2>, float>(pair_form::one_sided, 1e9,
                                                           owners::odd_only);
    expect_one_rank_after_moves<one_over_r<>, double>(pair_form::one_sided, 1e9, owners::first);
  }
  TEST(distributed_near_field, is_that_of_one_rank_after_moves_with_mutual_groups)
  {
    expect_one_rank_after_moves<grad_one_over_r<>, double>(pair_form::mutual, 1e9, owners::last);
  }

  TEST(distributed_near_field, refuses_what_it_cannot_compute)
  {
    problem<one_over_r<>, double> of(cloud::uniform, 100, owners::even, {});
    std::vector<double> longer(of.here.size() + 1);
    auto const make = [&](auto const& q, starpu_mpi::step_options const& options)
    {
      return message_of(
          [&]
          {
            starpu_mpi::near_field const step{runtime_of_rank(), one_over_r<>{}, of.tree, q,
                                              of.outputs(),      options};
          });
    };
    EXPECT_THAT(make(soa{longer}, {}), testing::HasSubstr("points"));
    if (!on_gpus())
    {
      EXPECT_THAT(make(of.inputs(), {.backend = backend::cuda}),
                  testing::HasSubstr("backend cuda: "));
    }
  }
  TEST(distributed_near_field, refuses_other_numbers_of_points_after_a_move)
  {
    problem<one_over_r<>, double> of(cloud::uniform, 100, owners::even, {});
    starpu_mpi::near_field step{runtime_of_rank(), one_over_r<>{}, of.tree,
                                of.inputs(),       of.outputs(),   {.form = pair_form::one_sided}};
    of.tree.rebuild(slice(of.x, 1, of.here.size()));
    EXPECT_THAT(message_of([&] { step.positions_changed(); }), testing::HasSubstr("points"));
    of.move(step, [](std::size_t, int, double&) {}); // told again
    step.submit();
    step.wait();
    of.compute_expected();
    of.expect_results(bits<double>());
  }
}
