#pragma once

/// \file
/// The only file that depends on whether StarPU is built in.

#include "step.hpp"

#if defined(NEARFIELD_WITH_STARPU)
#include <nearfield/starpu/near_field.hpp>

#include <cstdlib>
#endif

#include <memory>

namespace nearfield::app
{
#if defined(NEARFIELD_WITH_STARPU)
  inline constexpr bool starpu_is_built_in = true;

  /// StarPU, running as long as an object of this class exists.
  class session
  {
  public:
    explicit session(execution_options const& options)
        : runtime_({.workers = options.workers.value_or(0),
                    .scheduler = options.scheduler,
                    .gpus = is_of_cpu(options.backend) ? 0 : options.gpus})
    {}
    [[nodiscard]] int workers() const { return runtime_.n_workers(); }
    [[nodiscard]] starpu::runtime const& runtime() const { return runtime_; }

  private:
    starpu::runtime runtime_;
  };

  /// What builds the tree of a step: StarPU's CPU workers, running as long as this lives. Null: the calling thread.
  inline std::shared_ptr<executor> tree_builder(execution_options const& options)
  {
    if (options.workers == 0) return nullptr;
    session const running(options);
    return running.workers() > 0 ? std::make_shared<starpu::cpu_workers>(running.runtime())
                                 : nullptr;
  }

  /// "StarPU 1.3.10"
  inline std::string starpu_name()
  {
    return "StarPU " + starpu::version();
  }

  inline bool starpu_has_cuda()
  {
    return starpu::has_cuda();
  }

  /// Why StarPU leaves cores idle unless told how many to take; empty if it does not.
  inline std::string starpu_worker_limit()
  {
    return starpu::worker_limit();
  }

  /// The number of groups that a step over these leaves has.
  template <int Dim>
  index_type number_of_groups(execution_options const& options, tree<Dim> const& leaves)
  {
    session const running(options);
    return group_leaves(running.runtime(), leaves,
                        {.leaves_per_group = options.leaves_per_group.value_or(automatic)})
        .size();
  }

  /// The near field as StarPU tasks.
  template <class T, int Dim>
  step_report starpu_near_field(problem<T, Dim> const& on, any_interaction const& k,
                                soa<T, run_time_columns> const& out,
                                execution_options const& options)
  {
    session const running(options);
    auto const groups =
        group_leaves(running.runtime(), on.leaves(),
                     {.leaves_per_group = options.leaves_per_group.value_or(automatic)});
    starpu::step_options const how{.form = options.form, .backend = options.backend};

    step_report report;
    report.runtime = starpu_name();
    report.workers = running.workers();
    report.gpus = running.runtime().n_gpus();
    if (!options.workers && !std::getenv("STARPU_NCPU") && report.gpus == 0)
      report.worker_limit = starpu_worker_limit();
    on.with_points(
        [&](auto const&... x)
        {
          starpu::near_field step{running.runtime(), k, groups, x..., on.inputs(), out, how};
          auto const compute = [&]
          {
            step.submit();
            step.wait();
          };
          // within it, the workers have their own ranges: upload, near field, download
          report.seconds = quickest(options.repetitions, [&] { profiled("step", compute); });
          for (auto const& [worker, implementation, tasks] : step.statistics())
            report.tasks.push_back({worker, implementation, tasks});
        });
    return report;
  }
#else
  inline constexpr bool starpu_is_built_in = false;

  class session
  {
  public:
    explicit session(execution_options const&) {}
    [[nodiscard]] int workers() const { return 0; }
  };

  inline std::shared_ptr<executor> tree_builder(execution_options const&)
  {
    return nullptr;
  }

  inline std::string starpu_name()
  {
    return "no StarPU (configure with -DNEARFIELD_ENABLE_STARPU=ON)";
  }

  inline bool starpu_has_cuda()
  {
    return false;
  }

  inline std::string starpu_worker_limit()
  {
    return "";
  }
#endif

  /// f(where) on the CPU workers of a session or, if it is null, on the calling thread by `on`.
  template <class F>
  auto on_cpu([[maybe_unused]] session const* workers, backend on, F const& f)
  {
#if defined(NEARFIELD_WITH_STARPU)
    if (workers)
    {
      starpu::cpu_workers all(workers->runtime());
      return f(simd.with(all));
    }
#endif
    return on == backend::scalar ? f(scalar) : f(simd);
  }

  /// Whether a step runs on a GPU without StarPU.
  inline bool is_on_gpu_alone(execution_options const& options)
  {
    return options.backend == backend::cuda && (options.workers == 0 || !starpu_is_built_in);
  }

  /// The near field as StarPU tasks or, as the options say, on the calling thread. Throws nearfield::error for StarPU's
  /// options if it is not built in.
  template <class T, int Dim>
  step_result near_field_step(problem<T, Dim> const& on, any_interaction const& k,
                              execution_options const& options)
  {
    auto delivered = output_columns<T>(on, k);
    auto const out_pointers = pointers<T>(delivered);
    soa<T, run_time_columns> const out(out_pointers, on.size());
    auto const compute = [&]
    {
#if defined(NEARFIELD_WITH_STARPU)
      if (options.workers != 0) return starpu_near_field(on, k, out, options);
#else
      if (options.workers.value_or(0) > 0 || options.leaves_per_group || !options.scheduler.empty())
        throw error("--workers, --scheduler, --leaves-per-group: this program was built without "
                    "StarPU; leave them out, or configure with -DNEARFIELD_ENABLE_STARPU=ON");
#endif
      return serial_near_field(on, k, out, options);
    };
    auto report = compute();
    return {in_double(std::move(delivered)), std::move(report)};
  }
}
