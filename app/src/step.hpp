#pragma once

#include "problem.hpp"

#include <nearfield/p2p/near_field.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace nearfield::app
{
  /// What one worker ran.
  struct worker_tasks
  {
    std::string worker;
    std::string implementation;
    std::uint64_t tasks = 0;
  };

  /// How a step went.
  struct step_report
  {
    double seconds = 0;
    int workers = 1;
    /// empty without StarPU
    std::vector<worker_tasks> tasks = {};
  };

  /// The outputs of a step in the caller's order, n_out columns for each right-hand side.
  template <class T>
  struct step_result
  {
    std::vector<std::vector<T>> outputs;
    step_report report;
  };

  inline double seconds_since(std::chrono::steady_clock::time_point start)
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  namespace detail
  {
    template <class T, class K, class Backend>
    void serial_step(Backend backend, bool mutual, K const& k, problem<T, K::dim> const& on,
                     column_set<T, K::dim> const& x, column_set<T, K::dim> const& y,
                     soa<T const, K::n_in> const& q, soa<T, K::n_out> const& out)
    {
      auto const boxes = on.leaves.targets();
      if (on.sources)
        near_field(serial, backend, k, boxes, on.leaves.interactions(), x.view(), y.view(), q, out);
      else if (mutual)
        near_field_mutual(serial, backend, k, boxes, on.leaves.half_interactions(), x.view(), q,
                          out);
      else
        near_field(serial, backend, k, boxes, on.leaves.interactions(), x.view(), q, out);
    }
  }

  /// The whole near field on the calling thread.
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

      auto const start = std::chrono::steady_clock::now();
      if (options.backend == backend::scalar)
        detail::serial_step(scalar, options.mutual, k, on, x, y, q.view(), out.view());
      else
        detail::serial_step(simd, options.mutual, k, on, x, y, q.view(), out.view());
      result.report.seconds += seconds_since(start);

      for (auto const& column : out.columns)
      {
        result.outputs.emplace_back(x.size());
        scatter(target_order, column, result.outputs.back());
      }
    }
    return result;
  }

  /// The whole near field, where the options say. Throws error for options of StarPU where it is not
  /// built in.
  template <class T, class K>
  step_result<T> near_field_step(problem<T, K::dim> const& on, K const& k,
                                 step_options const& options)
  {
    bool const wants_starpu =
        options.workers.value_or(0) > 0 || options.leaves_per_group || !options.scheduler.empty();
    if (wants_starpu)
      throw error("--workers, --scheduler, --leaves-per-group: this program was built without "
                  "StarPU; leave them out, or configure with -DNEARFIELD_ENABLE_STARPU=ON");
    return serial_near_field(on, k, options);
  }
}
