// Tasks by the C interface, beside the calls that need no StarPU.

#include "handles.hpp"
#include "points.hpp"

#include <starpu.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

using namespace nearfield::test;

namespace
{
  /// Columns of n values one after the other, as an array, and as one handle or one for each column.
  struct block
  {
    std::vector<double> values;
    std::vector<void*> handles;
    nf_columns columns;

    block(std::size_t n, int n_columns, bool is_packed = true, unsigned seed = 0)
        : values(n * static_cast<std::size_t>(n_columns), 0.5),
          columns(nf_one_by_one(nf_float64, values.data(), static_cast<std::int64_t>(n), n_columns))
    {
      nearfield::test::random_numbers random(seed);
      if (seed != 0)
        for (double& value : values) value = random.uniform();
      std::size_t const length = is_packed ? values.size() : n;
      for (std::size_t first = 0; first < values.size(); first += length)
      {
        starpu_data_handle_t handle = nullptr;
        starpu_vector_data_register(&handle, STARPU_MAIN_RAM,
                                    reinterpret_cast<std::uintptr_t>(values.data() + first), length,
                                    sizeof(double));
        handles.push_back(handle);
      }
    }
    block(block const&) = delete;
    ~block() { release(); }

    void release()
    {
      for (void* const handle : handles)
        starpu_data_unregister(static_cast<starpu_data_handle_t>(handle));
      handles.clear();
    }
    [[nodiscard]] nf_handles view() const
    {
      return {handles.data(), static_cast<std::int32_t>(handles.size())};
    }
    void expect_near(block const& expected)
    {
      release(); // values come back
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], expected.values[i], 1e-11 * (1 + std::abs(expected.values[i])))
            << "value " << i;
    }
  };

  class c_starpu : public testing::Test
  {
  protected:
    static void SetUpTestSuite()
    {
      // A step starts StarPU itself, and waits for another process to write its measurements of the machine, for which
      // starpu_init() does not.
      {
        auto const one =
            made<nf_interaction>(nf_interaction_create, "one_over_r", 3, 0, nullptr, nullptr);
        double const x[3] = {}, q = 1;
        double out = 0;
        auto const points = nf_rows(nf_float64, x, 1, 3), inputs = nf_rows(nf_float64, &q, 1, 1),
                   outputs = nf_rows(nf_float64, &out, 1, 1);
        auto const tree = made<nf_tree>(nf_tree_create, nullptr, points, nullptr, nullptr);
        auto const step = made<nf_step>(nf_step_of_tree, one.get(), tree.get(), points, nullptr,
                                        inputs, outputs, nullptr);
        EXPECT_EQ(nf_step_submit(step.get()), nf_ok) << nf_last_error();
        EXPECT_EQ(nf_step_wait(step.get()), nf_ok) << nf_last_error();
      }
      starpu_conf conf;
      starpu_conf_init(&conf);
      conf.ncuda = 0;
      ASSERT_EQ(starpu_init(&conf), 0);
    }
    static void TearDownTestSuite() { starpu_shutdown(); }

    static constexpr std::size_t n = 300, n_sources = 200;
    std::unique_ptr<nf_interaction, destroy> k =
        made<nf_interaction>(nf_interaction_create, "one_over_r", 3, 0, nullptr, nullptr);
  };

  TEST_F(c_starpu, tasks_of_boxes_are_the_calls_of_boxes)
  {
    ASSERT_EQ(nf_has_starpu(), 1);
    auto const tasks = made<nf_p2p_tasks>(nf_p2p_tasks_create, k.get(), nf_float64);
    for (bool const is_packed : {true, false})
    {
      block x(n, 3, is_packed, 1), y(n_sources, 3, is_packed, 2), x_q(n, 1, is_packed, 3),
          y_q(n_sources, 1, is_packed, 4);
      block out(n, 1, is_packed), back(n_sources, 1, is_packed);
      block expected(n, 1), expected_back(n_sources, 1);
      ASSERT_EQ(nf_p2p_inner(nullptr, k.get(), x.columns, x_q.columns, expected.columns), nf_ok);
      ASSERT_EQ(nf_p2p_outer(nullptr, k.get(), x.columns, y.columns, y_q.columns, expected.columns),
                nf_ok);
      ASSERT_EQ(nf_p2p_outer_mutual(nullptr, k.get(), x.columns, y.columns, x_q.columns,
                                    y_q.columns, expected.columns, expected_back.columns),
                nf_ok);
      std::atomic<int> n_ended = 0;
      auto options = options_with_size<nf_task_options>();
      options.priority = 1;
      options.callback = [](void* number)
      {
        ++*static_cast<std::atomic<int>*>(number);
      };
      options.callback_argument = &n_ended;
      ASSERT_EQ(nf_p2p_tasks_inner(tasks.get(), x.view(), x_q.view(), out.view(), nullptr), nf_ok)
          << nf_last_error();
      ASSERT_EQ(
          nf_p2p_tasks_outer(tasks.get(), x.view(), y.view(), y_q.view(), out.view(), &options),
          nf_ok);
      ASSERT_EQ(nf_p2p_tasks_outer_mutual(tasks.get(), x.view(), y.view(), x_q.view(), y_q.view(),
                                          out.view(), back.view(), nullptr),
                nf_ok);
      ASSERT_EQ(nf_p2p_tasks_wait(tasks.get()), nf_ok);
      EXPECT_EQ(n_ended, 1);
      out.expect_near(expected);
      back.expect_near(expected_back);
    }
  }

  TEST_F(c_starpu, steps_are_near_fields)
  {
    block x(n, 3, true, 1), y(n_sources, 3, true, 2), q(n_sources, 1, true, 4);
    block out(n, 1), expected(n, 1);
    auto tree_options = options_with_size<nf_tree_options>();
    tree_options.max_leaf_size = 20;
    auto const tree = made<nf_tree>(nf_tree_create, nullptr, x.columns, &y.columns, &tree_options);
    auto options = options_with_size<nf_near_field_options>();
    options.accumulate = 1;
    ASSERT_EQ(nf_near_field_of_tree(nullptr, k.get(), tree.get(), x.columns, &y.columns, q.columns,
                                    expected.columns, &options),
              nf_ok);
    auto const step = made<nf_step>(nf_step_of_tree, k.get(), tree.get(), x.columns, &y.columns,
                                    q.columns, out.columns, &options);
    ASSERT_EQ(nf_step_submit(step.get()), nf_ok);
    ASSERT_EQ(nf_step_wait(step.get()), nf_ok);
    out.expect_near(expected);

    char const* const name = "sigma";
    double const sigma = 0.02;
    auto const gaussian =
        made<nf_interaction>(nf_interaction_create, "gaussian", 3, 1, &name, &sigma);
    auto const cells = made<nf_cells>(nf_cells_create, nullptr, y.columns, nullptr, 0.2, nullptr);
    block of_cells(n_sources, 1), of_step(n_sources, 1);
    auto const over_cells = made<nf_step>(nf_step_of_cells, gaussian.get(), cells.get(), y.columns,
                                          nullptr, q.columns, of_step.columns, nullptr);
    for (int time = 0; time < 2; ++time)
    {
      ASSERT_EQ(nf_near_field_of_cells(nullptr, gaussian.get(), cells.get(), y.columns, nullptr,
                                       q.columns, of_cells.columns, nullptr),
                nf_ok);
      ASSERT_EQ(nf_step_submit(over_cells.get()), nf_ok);
      ASSERT_EQ(nf_step_wait(over_cells.get()), nf_ok);
      of_step.expect_near(of_cells);
      std::reverse(q.values.begin(), q.values.end());
      for (double& value : y.values) value += 1e-3;
      ASSERT_EQ(nf_step_inputs_changed(over_cells.get()), nf_ok);
      ASSERT_EQ(nf_step_positions_changed(over_cells.get()), nf_ok);
    }
  }

  TEST_F(c_starpu, steps_over_handles_make_their_tree)
  {
    block x(n, 3, false, 1), q(n, 1, false, 3), out(n, 1, false), expected(n, 1);
    auto tree_options = options_with_size<nf_tree_options>();
    tree_options.max_leaf_size = 20;
    auto step = made<nf_step>(nf_step_of_handles, k.get(), nf_float64, x.view(), nullptr, q.view(),
                              out.view(), &tree_options, nullptr);
    ASSERT_EQ(nf_step_submit(step.get()), nf_ok);
    ASSERT_EQ(nf_step_wait(step.get()), nf_ok);
    // the next tree is another one
    auto const first = static_cast<starpu_data_handle_t>(x.handles[0]);
    starpu_data_acquire(first, STARPU_RW);
    std::reverse(x.values.begin(), x.values.begin() + n);
    starpu_data_release(first);
    ASSERT_EQ(nf_step_positions_changed(step.get()), nf_ok);
    ASSERT_EQ(nf_step_submit(step.get()), nf_ok);
    ASSERT_EQ(nf_step_wait(step.get()), nf_ok);
    step.reset();
    auto const tree = made<nf_tree>(nf_tree_create, nullptr, x.columns, nullptr, &tree_options);
    ASSERT_EQ(nf_near_field_of_tree(nullptr, k.get(), tree.get(), x.columns, nullptr, q.columns,
                                    expected.columns, nullptr),
              nf_ok);
    out.expect_near(expected);
  }

  TEST_F(c_starpu, errors_are_lines)
  {
    block x(n, 3, true, 1), q(n, 1, true, 3), out(n, 1);
    nf_p2p_tasks* no_tasks = nullptr;
    expect_failure(nf_p2p_tasks_create(nullptr, nf_float64, &no_tasks), nf_invalid_argument,
                   "k is null");
    expect_failure(nf_p2p_tasks_create(k.get(), 7, &no_tasks), nf_invalid_argument, "real is 7");
    expect_failure(nf_p2p_tasks_create(k.get(), nf_float64, nullptr), nf_invalid_argument,
                   "tasks is null");
    EXPECT_EQ(no_tasks, nullptr);
    auto const tasks = made<nf_p2p_tasks>(nf_p2p_tasks_create, k.get(), nf_float64);
    auto const inner = [&](nf_handles const& a, nf_handles const& b, nf_handles const& c,
                           nf_task_options const* options = nullptr)
    {
      return nf_p2p_tasks_inner(tasks.get(), a, b, c, options);
    };
    expect_failure(nf_p2p_tasks_inner(nullptr, x.view(), q.view(), out.view(), nullptr),
                   nf_invalid_argument, "tasks is null");
    expect_failure(inner({nullptr, 1}, q.view(), out.view()), nf_invalid_argument, "x is null");
    expect_failure(inner({x.handles.data(), -1}, q.view(), out.view()), nf_invalid_argument,
                   "n_handles is -1");
    expect_failure(inner({x.handles.data(), 0}, q.view(), out.view()), nf_invalid_argument);
    std::vector<void*> const null{nullptr};
    expect_failure(inner(x.view(), {null.data(), 1}, out.view()), nf_invalid_argument);
    expect_failure(inner(x.view(), x.view(), out.view()), nf_invalid_argument);
    expect_failure(inner(x.view(), q.view(), q.view()), nf_invalid_argument);
    nf_task_options const no_size{};
    expect_failure(inner(x.view(), q.view(), out.view(), &no_size), nf_invalid_argument, "size");
    expect_failure(nf_p2p_tasks_wait(nullptr), nf_invalid_argument, "tasks is null");

    nf_step* step = nullptr;
    expect_failure(nf_step_of_tree(k.get(), nullptr, x.columns, nullptr, q.columns, out.columns,
                                   nullptr, &step),
                   nf_invalid_argument, "tree is null");
    expect_failure(nf_step_of_cells(k.get(), nullptr, x.columns, nullptr, q.columns, out.columns,
                                    nullptr, &step),
                   nf_invalid_argument, "cells is null");
    expect_failure(nf_step_of_handles(k.get(), 0, x.view(), nullptr, q.view(), out.view(), nullptr,
                                      nullptr, &step),
                   nf_invalid_argument, "real is 0");
    expect_failure(nf_step_of_handles(k.get(), nf_float32, x.view(), nullptr, q.view(), out.view(),
                                      nullptr, nullptr, &step),
                   nf_invalid_argument);
    EXPECT_EQ(step, nullptr);
    expect_failure(nf_step_submit(nullptr), nf_invalid_argument, "step is null");
    expect_failure(nf_step_wait(nullptr), nf_invalid_argument, "step is null");
    nf_step_destroy(nullptr);
    nf_p2p_tasks_destroy(nullptr);
    starpu_task_wait_for_all();
    EXPECT_THAT(out.values, testing::Each(0.5)) << "nothing is written";
  }
}
