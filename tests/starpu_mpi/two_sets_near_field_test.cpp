// The near field of targets and sources over ranks has the bits of one rank.

#include "near_field_problem.hpp"
#include "random_cells.hpp"

#include "starpu/environment.hpp"
#include "tree/periodic_cases.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  /// Clouds that overlap, or lie apart, so that ranks have targets or sources only; some with fewer leaves than ranks.
  template <class K, class T>
  void expect_one_rank_on_clouds(std::uint64_t seed)
  {
    seed += 4 * std::uint64_t(size_of_world());
    for (std::uint64_t const end = seed + std::uint64_t(at_most(1, 4)); seed < end; ++seed)
    {
      random_numbers random(seed);
      auto const draw = [&]
      {
        std::size_t const n = random.below(5) == 0 ? random.below(9) : 200 + random.below(500);
        return make_points<T, K::dim>(all_clouds[random.below(6)], n, random.below(1000));
      };
      auto targets = draw(), sources = draw();
      if (seed % 3 == 0)
        for (T& y : sources.columns[0]) y += T(random.uniform(0, 2));
      tree_options<K::dim> options{.max_leaf_size = 1 + static_cast<int>(random.below(30))};
      if (random.below(3) == 0) options.level = static_cast<int>(random.below(4));
      SCOPED_TRACE(testing::Message() << targets.size() << " targets, " << sources.size()
                                      << " sources, seed " << seed);
      problem<K, T> of(targets, sources, seed, options, 1, seed);
      expect_one_rank(of, pair_form::one_sided, 5 + static_cast<int>(random.below(20)));
    }
  }

  TEST(distributed_near_field_of_two_sets, has_the_bits_of_one_rank)
  {
    expect_one_rank_on_clouds<one_over_r<>, double>(2);
  }
  TEST(distributed_near_field_of_two_sets, has_the_bits_of_one_rank_in_2d_and_single_precision)
  {
    expect_one_rank_on_clouds<grad_one_over_r<2>, float>(30);
  }

  TEST(distributed_near_field_of_two_sets, has_the_bits_of_one_rank_in_periodic_boxes)
  {
    for (std::uint64_t seed = 0; seed < std::uint64_t(at_most(1, 3)); ++seed)
    {
      periodic_case<double, 3> const box(seed + 80, 300);
      SCOPED_TRACE(box.name());
      problem<val_grad_one_over_r<>, double> of(box.x, box.y, seed, box.options, 1, seed);
      expect_one_rank(of, pair_form::one_sided, 25);
    }
  }

  TEST(distributed_near_field_of_two_sets, is_that_of_one_rank_in_boxes_of_any_shape)
  {
    random_numbers random(9);
    for (std::uint64_t seed = 0; seed < std::uint64_t(at_most(1, 3)); ++seed)
    {
      SCOPED_TRACE(seed);
      auto x = make_points<double, 3>(cloud::uniform, 300, seed),
           y = make_points<double, 3>(cloud::plummer, 200, seed);
      for (double& value : y.columns[0]) value -= 7;
      problem<val_grad_one_over_r<>, double> of(
          x, y, seed, {.max_leaf_size = 20, .cell = random_cell<3>(random, 1)}, 1, seed);
      expect_one_rank(of, pair_form::one_sided, 25);
    }
  }

  TEST(distributed_near_field_of_two_sets, computes_several_right_hand_sides)
  {
    problem<dipole_tensor<>, double> of(make_points<double, 3>(cloud::plummer, 300, 1),
                                        make_points<double, 3>(cloud::uniform, 500, 2), 19,
                                        {.max_leaf_size = 12}, 3);
    expect_one_rank(of, pair_form::one_sided);
  }

  TEST(distributed_near_field_of_two_sets, is_zero_where_no_sources_are)
  {
    auto sources = make_points<double, 3>(cloud::uniform, 300, 2);
    for (double& y : sources.columns[0]) y += 3;
    problem<one_over_r<>, double> of(make_points<double, 3>(cloud::uniform, 300, 1), sources, 6,
                                     {.max_leaf_size = 10}); // one rank has all
    expect_one_rank(of, pair_form::one_sided);
  }

  TEST(distributed_near_field_of_two_sets, has_no_other_form)
  {
    problem<one_over_r<>, double> of(make_points<double, 3>(cloud::uniform, 50, 1),
                                     make_points<double, 3>(cloud::uniform, 70, 2), 0, {});
    auto const make = [&](auto const& q, starpu_mpi::step_options const& options)
    {
      return starpu_mpi::near_field<double>(runtime_of_rank(), one_over_r<>{}, of.tree, q,
                                            of.outputs(), options)
          .form();
    };
    EXPECT_EQ(make(of.inputs(), {}), pair_form::one_sided);
    EXPECT_THAT(message_of([&] { make(of.inputs(), {.form = pair_form::mutual}); }),
                testing::HasSubstr("two sets of points"));
    // inputs are those of sources
    std::vector<double> const longer(of.sources_here.size() + 1);
    EXPECT_THAT(message_of([&] { make(soa{longer}, {}); }), testing::HasSubstr("points"));
  }

  /// One message of positions and one of inputs for the sources at a border; none of targets.
  TEST(distributed_near_field_of_two_sets, sends_sources_and_follows_moves)
  {
    using K = grad_one_over_r<>;
    problem<K, double> of(make_points<double, 3>(cloud::plummer, 800, 1),
                          make_points<double, 3>(cloud::plummer, 600, 2), 5, {.max_leaf_size = 15});
    starpu_mpi::near_field step{runtime_of_rank(), K{},
                                of.tree,           of.inputs(),
                                of.outputs(),      {.groups = {.leaves_per_group = 15}}};
    expect_bytes_of_a_step(of, step, 1, 1);
    expect_bytes_of_a_step(of, step, 0, 0); // positions and inputs stand
    of.compute_expected();
    of.expect_results(bits<double>());
    auto const start = of.x;
    for (int t = 0; t < at_most(1, 3); ++t)
    {
      SCOPED_TRACE(testing::Message() << "move " << t);
      of.move(step,
              [&](std::size_t i, int, double& x)
              {
                if (t == 0)
                  x += i % 3 == 0 ? 0.1 : -0.2 * x;
                else if (t == 1)
                  x = i == 0 ? x + 9 : x / 256; // most leaves are in one corner
                else
                  x *= 200;
              });
      for (auto& column : of.q)
        for (double& q : column) q *= 2;
      step.inputs_changed();
      expect_bytes_of_a_step(of, step, 1, 1);
      of.compute_expected();
      of.expect_results(bits<double>());
    }
  }

  TEST(distributed_near_field_of_two_sets, delivers_on_request)
  {
    problem<one_over_r<>, float> of(make_points<float, 3>(cloud::uniform, 300, 1),
                                    make_points<float, 3>(cloud::plummer, 600, 2), 23,
                                    {.level = 2});
    starpu_mpi::near_field step{
        runtime_of_rank(), one_over_r<>{},
        of.tree,           of.inputs(),
        of.outputs(),      {.accumulate = true, .delivery = starpu::step_options::on_request}};
    auto const before = of.out;
    step.submit();
    step.wait();
    EXPECT_EQ(of.out, before);
    step.deliver();
    step.wait();
    of.compute_expected();
    of.expect_results(bits<float>(), 99);
  }
}
