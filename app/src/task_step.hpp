#pragma once

/// \file
/// The one place that knows whether StarPU is built in.

#include "step.hpp"

#if defined(NEARFIELD_WITH_STARPU)
#include <nearfield/starpu/near_field.hpp>
#endif

namespace nearfield::app
{
#if defined(NEARFIELD_WITH_STARPU)
  inline constexpr bool starpu_is_built_in = true;

  /// StarPU, running as long as this lives.
  class session
  {
  public:
    explicit session(step_options const& options)
        : runtime_({.workers = options.workers.value_or(0), .scheduler = options.scheduler})
    {}
    [[nodiscard]] int workers() const { return runtime_.n_workers(); }
    [[nodiscard]] starpu::runtime const& runtime() const { return runtime_; }

  private:
    starpu::runtime runtime_;
  };

  /// "StarPU 1.3.10"
  inline std::string starpu_name()
  {
    return "StarPU " + starpu::version();
  }

  /// The whole near field as StarPU tasks.
  template <class T, class K>
  step_result<T> starpu_near_field(problem<T, K::dim> const& on, K const& k,
                                   step_options const& options)
  {
    session const running(options);
    auto const groups =
        group_leaves(on.leaves, {.leaves_per_group = options.leaves_per_group.value_or(0)});
    starpu::near_field_options how;
    how.form = options.mutual ? starpu::form_choice::automatic : starpu::form_choice::gather;
    how.backend = options.backend == backend::scalar ? starpu::backend_choice::scalar
                  : options.backend == backend::simd ? starpu::backend_choice::simd
                                                     : starpu::backend_choice::automatic;

    step_result<T> result;
    result.report.workers = running.workers();
    std::size_t const n_rhs = on.inputs.size() / K::n_in;
    for (std::size_t rhs = 0; rhs < n_rhs; ++rhs)
    {
      column_set<T, K::n_out> out;
      for (auto& column : out.columns) column.resize(on.targets.size());
      auto const q = on.template input_view<K::n_in>(rhs);
      auto const run = [&](auto& step)
      {
        result.report.seconds += quickest(options.repetitions,
                                          [&]
                                          {
                                            step.submit();
                                            step.wait();
                                          });
        for (auto const& [worker, implementation, tasks] : step.statistics())
          result.report.add(worker, implementation, tasks);
      };
      if (on.sources)
      {
        starpu::near_field step{running.runtime(),  groups, k,          on.targets.view(),
                                on.sources->view(), q,      out.view(), how};
        run(step);
      }
      else
      {
        starpu::near_field step{running.runtime(), groups, k, on.targets.view(), q,
                                out.view(),        how};
        run(step);
      }
      for (auto& column : out.columns) result.outputs.push_back(std::move(column));
    }
    return result;
  }
#else
  inline constexpr bool starpu_is_built_in = false;

  class session
  {
  public:
    explicit session(step_options const&) {}
    [[nodiscard]] int workers() const { return 0; }
  };

  inline std::string starpu_name()
  {
    return "no StarPU (configure with -DNEARFIELD_ENABLE_STARPU=ON)";
  }
#endif

  /// The whole near field, where the options say. Throws error for options of StarPU where it is not
  /// built in.
  template <class T, class K>
  step_result<T> near_field_step(problem<T, K::dim> const& on, K const& k,
                                 step_options const& options)
  {
#if defined(NEARFIELD_WITH_STARPU)
    if (options.workers != 0) return starpu_near_field(on, k, options);
#else
    if (options.workers.value_or(0) > 0 || options.leaves_per_group || !options.scheduler.empty())
      throw error("--workers, --scheduler, --leaves-per-group: this program was built without "
                  "StarPU; leave them out, or configure with -DNEARFIELD_ENABLE_STARPU=ON");
#endif
    return serial_near_field(on, k, options);
  }
}
