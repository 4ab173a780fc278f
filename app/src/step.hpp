#pragma once

#include "problem.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/kernels/any_interaction.hpp>
#include <nearfield/p2p/near_field.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nearfield::app
{
  /// The P2P tasks that a worker of StarPU has run with one implementation.
  struct worker_tasks
  {
    std::string worker, implementation;
    std::uint64_t tasks = 0;
  };

  /// Time, resources and tasks of a step.
  struct step_report
  {
    double seconds = 0;
    int workers = 1;
    int gpus = 0;
    std::string runtime = "calling thread"; ///< or "CUDA", or the name of the task runtime
    /// empty without StarPU
    std::vector<worker_tasks> tasks = {};
    /// why cores are idle though no number of workers was asked for; empty if there is no such reason
    std::string worker_limit = {};
  };

  /// The outputs of a step in the caller's order, n_out columns per right-hand side.
  struct step_result
  {
    std::vector<std::vector<double>> outputs;
    step_report report;
  };

  /// The number of right-hand sides.
  template <class T, int Dim>
  std::size_t right_hand_sides(problem<T, Dim> const& on, any_interaction const& k)
  {
    return on.n_inputs() / static_cast<std::size_t>(k.info().n_in);
  }

  /// The number of columns of outputs of all of them.
  template <class T, int Dim>
  std::size_t n_outputs(problem<T, Dim> const& on, any_interaction const& k)
  {
    return right_hand_sides(on, k) * static_cast<std::size_t>(k.info().n_out);
  }

  /// Columns of U for the outputs of all right-hand sides.
  template <class U, class T, int Dim>
  std::vector<std::vector<U>> output_columns(problem<T, Dim> const& on, any_interaction const& k)
  {
    return std::vector<std::vector<U>>(n_outputs(on, k), std::vector<U>(on.size()));
  }

  /// Outputs as files have them.
  template <class T>
  std::vector<std::vector<double>> in_double(std::vector<std::vector<T>>&& columns)
  {
    if constexpr (std::is_same_v<T, double>)
      return std::move(columns);
    else
    {
      std::vector<std::vector<double>> result;
      for (auto const& column : columns) result.emplace_back(column.begin(), column.end());
      return result;
    }
  }

  /// Calls f() in a profiler range of that name.
  template <class F>
  decltype(auto) profiled(char const* name, F&& f)
  {
    nearfield::detail::profiler_range const here(name);
    return std::forward<F>(f)();
  }

  inline double seconds_since(std::chrono::steady_clock::time_point start)
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// The shortest time of n runs of f(), in seconds.
  template <class F>
  double quickest(int n, F&& f)
  {
    double best = 0;
    for (int i = 0; i < n; ++i)
    {
      auto const start = std::chrono::steady_clock::now();
      f();
      double const seconds = seconds_since(start);
      if (i == 0 || seconds < best) best = seconds;
    }
    return best;
  }

  /// The near field on the calling thread. The time includes the way to the order of the tree, and back.
  template <class T, int Dim>
  step_report serial_near_field(problem<T, Dim> const& on, any_interaction const& k,
                                soa<T, run_time_columns> const& out,
                                execution_options const& options)
  {
    // one type for both, which halves what is compiled
    simd_backend const where{options.backend == backend::scalar ? isa::scalar : isa::best};
    auto const compute = [&]
    {
      on.with_points(
          [&](auto const&... x)
          { near_field(where, k, on.leaves(), x..., on.inputs(), out, {.form = options.form}); });
    };
    step_report report;
    if (options.is_small == true)
      report.worker_limit =
          "so few pairs that StarPU would take longer to start; --workers N starts it";
    report.seconds = quickest(options.repetitions, [&] { profiled("near field", compute); });
    return report;
  }
}
