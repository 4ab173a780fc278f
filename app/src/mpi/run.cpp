#include "devices.hpp"
#include "launch.hpp"
#include "machine.hpp"
#include "mpi/compute_over.hpp"
#include "mpi/mpi_ranks.hpp"
#include "run_host.hpp"
#include "tune.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <unistd.h>

namespace nearfield::app
{
  namespace
  {
    void check_options(run_options const& options)
    {
      if (options.step.workers == 0)
        throw error(
            "--workers 0: not available over ranks of MPI, which compute as StarPU tasks; give "
            "1 or more");
      if (options.step.gpus.value_or(0) > 0 && std::getenv("STARPU_WORKERS_CUDAID"))
        throw error("--gpus: found STARPU_WORKERS_CUDAID, which names the GPUs of each rank; leave "
                    "out one of them");
    }

    // Of this rank, by share_gpus() or by whoever has set StarPU's variable.
    int gpus_here()
    {
      if (!no_gpu_tasks().empty()) return 0;
      char const* const number = std::getenv("STARPU_NCUDA");
      return number ? std::max(0, std::atoi(number)) : static_cast<int>(gpus().size());
    }

    // Each rank computes on its share of the machine's GPUs, and by CPU workers on cores of its own. If it has several, one
    // is for the thread of StarPU-MPI, so that messages need not wait for a worker, and one for each GPU.
    execution_options share_machine(mpi_ranks const& all, execution_options step)
    {
      bool const may_use_gpus = !is_of_cpu(step.backend) && step.gpus != 0;
      if (may_use_gpus) starpu_mpi::share_gpus(MPI_COMM_WORLD, step.gpus);
      if (step.gpus > 0) step.gpus = std::nullopt; // of this rank, what it was given
      leave_binding_to_the_launcher();
      if (step.workers || std::getenv("STARPU_NCPU")) return step;
      int const share = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)) / all.on_this_machine();
      int const gpus = may_use_gpus ? gpus_here() : 0;
      step.workers = std::max(1, std::min(cpu_count(), share) - 1 - gpus);
      return step;
    }

    // Before StarPU starts, whose workers would take the time of what is measured.
    leaf_costs leaf_costs_of(run_options const& options, int dim)
    {
      bool const on_gpu =
          !is_of_cpu(options.step.backend) && options.step.gpus != 0 && gpus_here() > 0;
      return {.near_field = cost_of_pairs(options, dim, on_gpu),
              .seconds_per_leaf = options.far_field_cost.value_or(0)};
    }

    class host_over final : public run_host
    {
    public:
      explicit host_over(mpi_ranks const& all) : run_host(all), all_(all) {}

      void prepare(run_options& options, named_points const& targets, named_points const*,
                   cut_options& cut) override
      {
        options.step = share_machine(all_, options.step);
        cut.costs = &costs_;
        if (!options.level && options.max_leaf_size == automatic)
          all_.attempt([&] { costs_ = leaf_costs_of(options, targets.points.dim); });
        if (options.motion) runtime_.emplace(all_, options.step);
      }
      [[nodiscard]] run_result compute(run_options const& options, named_points const& targets,
                                       named_points const* sources,
                                       cut_options const& cut) const override
      {
        return compute_over(all_, options, targets, sources, cut);
      }
      [[nodiscard]] std::unique_ptr<motion> start(run_options const& options, named_points& of,
                                                  cut_options const& cut,
                                                  std::vector<double> factors) const override
      {
        return make_motion_over(all_, *runtime_, options, of, cut, std::move(factors));
      }

    private:
      mpi_ranks const& all_;
      leaf_costs costs_;
      std::optional<runtime_over> runtime_;
    };
  }

  exit_status run_over_ranks(run_options const& options, std::string const& written)
  {
    check_options(options);
    return on_all_ranks(written,
                        [&](mpi_ranks const& all)
                        {
                          host_over host(all);
                          return run(host, options);
                        });
  }
}
