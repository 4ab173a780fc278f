// Steps that are larger than what StarPU may use on a GPU.

#include "environment.hpp"
#include "near_field_cases.hpp"
#include "runtime/src/gpu_memory.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/tree/permutation.hpp>

#include <starpu.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::runtime;
  using testing::AllOf;
  using testing::HasSubstr;
  using K = val_grad_one_over_r<3>;

  // with positions, two sets of inputs, and outputs 216 bytes per point
  constexpr int n_rhs = 4;

  struct large_problem
  {
    points<double, 3> x;
    points<double, n_rhs> q;
    points<double, n_rhs * K::n_out> out;
    tree<3> leaves;

    large_problem(cloud shape, std::size_t n)
        : x(make_points<double, 3>(shape, n)), q(make_inputs<double, n_rhs>(n)),
          out(make_columns<double, n_rhs * K::n_out>(n, -7.)),
          leaves(build_tree(x.view(), {.max_leaf_size = 64}))
    {}

    /// The same sums on this thread, in tree order; its own tests hold those against brute force.
    [[nodiscard]] points<double, n_rhs * K::n_out> expected() const
    {
      auto sums = make_columns<double, n_rhs * K::n_out>(x.size(), 0.);
      auto const in_order = gather(leaves.target_order(), x.view());
      for (int rhs = 0; rhs < n_rhs; ++rhs)
      {
        auto const charges = gather(leaves.target_order(), q.columns[rhs]);
        std::array<double*, K::n_out> of_rhs;
        for (int o = 0; o < K::n_out; ++o) of_rhs[o] = sums.columns[rhs * K::n_out + o].data();
        near_field(simd, K{}, leaves.targets(), leaves.half_interactions(), in_order.view(),
                   soa<double const, 1>({charges.data()}, charges.size()),
                   soa<double, K::n_out>(of_rhs, x.size()), {.form = pair_form::mutual});
      }
      return sums;
    }

    /// Of all outputs, relative to the largest of the column.
    [[nodiscard]] double largest_difference(points<double, n_rhs * K::n_out> const& sums) const
    {
      double largest = 0;
      for (int c = 0; c < n_rhs * K::n_out; ++c)
      {
        auto const got = gather(leaves.target_order(), out.columns[c]);
        double scale = 0, difference = 0;
        for (std::size_t i = 0; i < got.size(); ++i)
        {
          scale = std::max(scale, std::abs(sums.columns[c][i]));
          difference = std::max(difference, std::abs(sums.columns[c][i] - got[i]));
        }
        largest = std::max(largest, difference / scale);
      }
      return largest;
    }
  };

  TEST(starpu_step_larger_than_a_gpu, is_moved_in_parts)
  {
    environment variables;
    variables.set("STARPU_LIMIT_CUDA_MEM", "160");
    runtime const starpu({.gpus = 1});
    ASSERT_EQ(starpu::detail::smallest_gpu_memory().bytes, 160. * (1 << 20));
    for (cloud const shape : {cloud::plummer, cloud::uniform})
    {
      large_problem p(shape, 1'000'000);
      auto const expected = p.expected();
      auto const groups = group_leaves(starpu, p.leaves);
      for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
      {
        for (auto& column : p.out.columns) std::ranges::fill(column, -7.);
        starpu::near_field step{starpu,          K{},           groups, p.x.view(), p.q.view(),
                                writable(p.out), {.form = form}};
        EXPECT_GT(step.n_tasks(), groups.size());
        for (int time = 0; time < 3; ++time)
        {
          step.inputs_changed();
          step.submit();
        }
        step.wait();
        EXPECT_LE(p.largest_difference(expected), 1e-11)
            << name_of(shape) << ", form " << int(form);
      }
    }
  }

  TEST(starpu_step_larger_than_a_gpu, is_refused_or_left_to_cpu_workers_where_not_even_a_task_fits)
  {
    environment variables;
    variables.set("STARPU_LIMIT_CUDA_MEM", "66");
    runtime const starpu({.gpus = 1});
    large_problem p(cloud::uniform, 400'000);
    auto const groups = group_leaves(starpu, p.leaves);
    auto const make = [&](backend where)
    {
      return starpu::near_field{
          starpu, K{}, groups, p.x.view(), p.q.view(), writable(p.out), {.backend = where}};
    };
    EXPECT_THAT(message_of([&] { auto const step = make(cuda); }),
                AllOf(HasSubstr("a task needs"), HasSubstr("StarPU has 66 MiB")));
    auto step = make(backend::automatic);
    step.submit();
    step.wait();
    EXPECT_LE(p.largest_difference(p.expected()), 1e-11) << "CPU workers take it";
    for (auto const& ran : step.statistics()) EXPECT_NE(ran.implementation, "cuda");
  }

  TEST(starpu_step_larger_than_a_gpu, limits_of_one_gpu_count_too)
  {
    environment variables;
    variables.set("STARPU_LIMIT_CUDA_0_MEM", "200");
    runtime const starpu;
    EXPECT_EQ(starpu::detail::smallest_gpu_memory().bytes, 200. * (1 << 20));
    EXPECT_GE(starpu::detail::smallest_gpu_memory().tasks_at_once, 2);
  }
}
