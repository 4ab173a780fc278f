// Steps that GPUs and CPU workers share. The GPU is made slow, so that a small step is worth sharing.

#include "bench/slow_on_gpu.hpp"
#include "near_field_cases.hpp"

#include <nearfield/starpu/near_field.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using K = bench::one_over_r_slow;
  using starpu::monitor;
  using starpu::near_field;
  using starpu::step_options;
  using testing::Contains;
  using testing::Each;
  using testing::Field;
  using testing::StartsWith;

  constexpr std::size_t n = 400'000;

  auto ran_on(char const* kind)
  {
    return Field(&monitor::worker_tasks::worker, StartsWith(kind));
  }

  template <class T>
  struct shared_problem
  {
    points<T, 3> x, y;
    points<T, 3> q = make_inputs<T, 3>(n); ///< three right-hand sides
    points<T, 3> out = make_columns<T, 3>(n, T(0)), of_cpus = out;
    tree<3> leaves;
    leaf_groups<3> groups;

    explicit shared_problem(bool one_set = true)
        : x(make_points<T, 3>(cloud::uniform, n)),
          y(one_set ? points<T, 3>() : make_points<T, 3>(cloud::uniform, n, 5)),
          leaves(one_set ? build_tree(x.view(), {.max_leaf_size = 128})
                         : build_tree(x.view(), y.view(), {.max_leaf_size = 128})),
          groups(group_leaves(one_runtime(), leaves))
    {}

    near_field<T> step(step_options const& options = {}) { return step_to(out, groups, options); }

    /// The largest difference from the sums of a step on CPU workers, relative to the largest sum.
    double difference()
    {
      auto const small = group_leaves(leaves);
      auto other = step_to(of_cpus, small, {.backend = simd});
      other.submit();
      other.wait();
      double largest = 0, scale = 0;
      for (int c = 0; c < 3; ++c)
        for (std::size_t i = 0; i < n; ++i)
        {
          double const expected = of_cpus.columns[c][i];
          scale = std::max(scale, std::abs(expected));
          double const off = std::abs(out.columns[c][i] - expected);
          largest = std::isfinite(off) ? std::max(largest, off) : 1e300;
        }
      return largest / scale;
    }

  private:
    near_field<T> step_to(points<T, 3>& to, leaf_groups<3> const& in, step_options const& options)
    {
      if (y.size() == 0)
        return near_field{one_runtime(), K{}, in, x.view(), q.view(), writable(to), options};
      return near_field{one_runtime(), K{},      in,           x.view(),
                        y.view(),      q.view(), writable(to), options};
    }
  };

  class starpu_shared_step : public testing::Test
  {
    void SetUp() override
    {
      if (std::thread::hardware_concurrency() < 4)
        GTEST_SKIP() << "no core is free beside the main thread and that of the GPU";
    }
  };

  template <class T>
  void expect_both_kinds(bool one_set, pair_form form)
  {
    SCOPED_TRACE(std::string(sizeof(T) == 4 ? "f32" : "f64") +
                 (one_set ? ", one set" : ", two sets") + ", form " + std::to_string(int(form)));
    shared_problem<T> p(one_set);
    // of one set, the only GPU would leave nothing to CPU workers if each step delivered
    auto step = p.step({.form = form,
                        .delivery = one_set ? starpu::step_options::on_request
                                            : starpu::step_options::every_step});
    for (int time = 0; time < 2; ++time)
    {
      for (auto& column : p.q.columns)
        for (T& value : column) value = 1 - value / 2;
      step.inputs_changed();
      step.submit();
      step.deliver();
      step.wait();
      EXPECT_LE(p.difference(), sizeof(T) == 4 ? 2e-6 : 1e-13);
    }
    EXPECT_THAT(step.statistics(), Contains(ran_on("CPU")));
    EXPECT_THAT(step.statistics(), Contains(ran_on("CUDA")));
  }

  TEST_F(starpu_shared_step, has_the_right_sums_in_every_form_and_precision)
  {
    for (pair_form const form : pair_forms)
    {
      expect_both_kinds<float>(true, form);
      expect_both_kinds<double>(true, form);
    }
    expect_both_kinds<float>(false, pair_form::one_sided);
    expect_both_kinds<double>(false, pair_form::one_sided);
  }

  TEST_F(starpu_shared_step, gives_the_same_bits_each_time_in_the_one_sided_form)
  {
    shared_problem<double> p;
    auto step = p.step({.form = pair_form::one_sided});
    step.submit();
    step.wait();
    auto const first = p.out;
    for (int time = 0; time < 5; ++time)
    {
      step.submit();
      step.wait();
      ASSERT_EQ(p.out.columns, first.columns);
    }
    auto again = p.step({.form = pair_form::one_sided});
    again.submit();
    again.wait();
    EXPECT_EQ(p.out.columns, first.columns) << "a step with the same rates has the same shares";
  }

  TEST_F(starpu_shared_step, is_for_gpus_only_where_the_options_say_so)
  {
    shared_problem<float> p;
    auto step = p.step({.backend = cuda});
    step.submit();
    step.wait();
    EXPECT_LE(p.difference(), 2e-6);
    EXPECT_THAT(step.statistics(), Each(ran_on("CUDA")));
    EXPECT_EQ(step.n_tasks(), p.groups.size());
  }

  TEST_F(starpu_shared_step, delivers_on_request_and_follows_positions)
  {
    shared_problem<double> p;
    auto step = p.step({.delivery = starpu::step_options::on_request});
    step.submit();
    step.wait();
    EXPECT_EQ(p.out.columns[0], std::vector<double>(n, 0.));
    step.deliver();
    step.wait();
    EXPECT_LE(p.difference(), 1e-13);
    // towards the centre: the leaves stay those of the first positions
    for (auto& column : p.x.columns)
      for (double& value : column) value = 0.5 + (value - 0.5) * 0.9;
    step.positions_changed();
    step.submit();
    step.deliver();
    step.wait();
    EXPECT_LE(p.difference(), 1e-13);
  }

  TEST_F(starpu_shared_step, is_not_shared_where_it_would_not_pay)
  {
    auto const x = make_points<float, 3>(cloud::uniform, 5000);
    auto const q = make_inputs<float, 1>(5000);
    auto out = make_columns<float, 1>(5000, 0.f);
    auto const leaves = build_tree(x.view(), {.max_leaf_size = 64});
    auto const groups = group_leaves(one_runtime(), leaves);
    near_field step{one_runtime(), one_over_r<3>{}, groups, x.view(), q.view(), writable(out)};
    step.submit();
    step.wait();
    EXPECT_THAT(step.statistics(), Each(ran_on("CUDA")));
  }
}
