#include "devices.hpp"
#include "launch.hpp"
#include "machine.hpp"
#include "mpi/host_over.hpp"
#include "tune.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

namespace nearfield::app
{
  namespace
  {
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
  }

  void host_over::prepare(run_options& options, named_points const& targets, named_points const*,
                          cut_options& cut)
  {
    options.step = share_machine(all_, options.step);
    cut.costs = &costs_;
    if (!options.level && options.max_leaf_size == automatic)
      all_.attempt([&] { costs_ = leaf_costs_of(options, targets.points.dim); });
    if (options.motion) runtime_.emplace(all_, options.step);
  }

  exit_status on_all_ranks(std::string const&, std::string const& written,
                           std::function<exit_status(run_host&)> const& f)
  {
    // Threads that wait for messages leave their core to a worker (docs/scale.md). OpenMPI does so by itself only where
    // mpirun has started more ranks than there are cores.
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    // Threads stay on the cores of their process: StarPU would bind the first worker of each rank of a machine to the
    // same core.
    if (!std::getenv("STARPU_WORKERS_GETBIND")) ::setenv("STARPU_WORKERS_NOBIND", "1", 0);
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    std::shared_ptr<void> const mpi(nullptr, [](void*) { MPI_Finalize(); });
    mpi_ranks const all;
    if (int const there = launched().ranks; all.size() != there)
      all.abort("mpirun: found " + std::to_string(there) + " ranks that were launched, but " +
                std::to_string(all.size()) +
                " of MPI; start it by the mpirun of the MPI that it was built "
                "with, or by srun --mpi=pmix");
    if (provided < MPI_THREAD_MULTIPLE)
      all.abort(
          "mpirun: this MPI does not let every thread call it (MPI_THREAD_MULTIPLE); use another");
    try
    {
      all.require_same_options(written);
      exit_status const status = [&]
      {
        host_over host(all);
        return f(host);
      }();
      all.wait_for_all(); // a launcher ends all ranks when one ends by another status
      return status;
    }
    catch (agreed_error const& failure)
    {
      if (all.is_first()) print_error(failure.said());
      all.wait_for_all();
      return failed;
    }
    catch (std::exception const& failure)
    {
      all.abort(failure.what());
    }
  }
}
