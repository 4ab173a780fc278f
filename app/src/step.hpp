#pragma once

#include "problem.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/p2p/near_field.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nearfield::app
{
  /// The same as starpu::worker_tasks, which a program without StarPU does not have.
  struct worker_tasks
  {
    std::string worker;
    std::string implementation;
    std::uint64_t tasks = 0;
  };

  /// Time, resources and tasks of a step.
  struct step_report
  {
    double seconds = 0;
    int workers = 1;
    int gpus = 0;
    /// empty without StarPU
    std::vector<worker_tasks> tasks = {};

    void add(std::string const& worker, std::string const& implementation, std::uint64_t n)
    {
      for (worker_tasks& known : tasks)
        if (known.worker == worker && known.implementation == implementation)
        {
          known.tasks += n;
          return;
        }
      tasks.push_back({worker, implementation, n});
    }
  };

  /// The outputs of a step in the caller's order, n_out columns per right-hand side.
  template <class T>
  struct step_result
  {
    std::vector<std::vector<T>> outputs;
    step_report report;
  };

  /// Calls f() in a profiler range of that name.
  template <class F>
  decltype(auto) in_range(char const* name, F&& f)
  {
    nearfield::detail::range const here(name);
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

  namespace detail
  {
    template <class T, class K, class Backend>
    void serial_step(Backend backend, pair_form form, K const& k, problem<T, K::dim> const& on,
                     column_set<T, K::dim> const& x, column_set<T, K::dim> const& y,
                     soa<T const, K::n_in> const& q, soa<T, K::n_out> const& out)
    {
      auto const boxes = on.leaves.targets();
      if (on.sources)
        near_field(serial, backend, k, boxes, on.leaves.interactions(), x.view(), y.view(), q, out);
      else if (form != pair_form::one_sided)
        near_field_mutual(serial, backend, k, boxes, on.leaves.half_interactions(), x.view(), q,
                          out);
      else
        near_field(serial, backend, k, boxes, on.leaves.interactions(), x.view(), q, out);
    }
  }

  /// The near field on the calling thread. The time includes the scatter into the caller's order.
  template <class T, class K>
  step_result<T> serial_near_field(problem<T, K::dim> const& on, K const& k,
                                   step_options const& options)
  {
    auto const target_order = on.leaves.target_order();
    auto const source_order = on.leaves.source_order();
    auto const x = gather(target_order, on.targets.view());
    column_set<T, K::dim> y;
    if (on.sources) y = gather(source_order, on.sources->view());

    step_result<T> result;
    std::size_t const n_rhs = on.inputs.size() / K::n_in;
    for (std::size_t rhs = 0; rhs < n_rhs; ++rhs)
    {
      auto const q = gather(source_order, on.template input_view<K::n_in>(rhs));
      column_set<T, K::n_out> out;
      for (auto& column : out.columns) column.resize(x.size());

      std::array<std::vector<T>, K::n_out> delivered;
      for (auto& column : delivered) column.resize(x.size());

      result.report.seconds += quickest(
          options.repetitions,
          [&]
          {
            in_range("near field",
                     [&]
                     {
                       if (options.backend == backend::scalar)
                         detail::serial_step(scalar, options.form, k, on, x, y, q.view(),
                                             out.view());
                       else
                         detail::serial_step(simd, options.form, k, on, x, y, q.view(), out.view());
                     });
            for (int o = 0; o < K::n_out; ++o) scatter(target_order, out.columns[o], delivered[o]);
          });
      for (auto& column : delivered) result.outputs.push_back(std::move(column));
    }
    return result;
  }
}
