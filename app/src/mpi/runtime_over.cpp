#include "mpi/runtime_over.hpp"

#include <nearfield/cuda/device.hpp>

#include <starpu_mpi.h>

#include <functional>
#include <set>
#include <sstream>
#include <string>

namespace nearfield::app
{
  message_thread::message_thread()
  {
    starpu::check(starpu_mpi_init_comm(nullptr, nullptr, 0, MPI_COMM_WORLD),
                  "starpu_mpi_init_comm");
  }
  message_thread::~message_thread()
  {
    starpu_mpi_shutdown();
  }

  namespace
  {
    /// The GPUs of all ranks' workers; one that several share counts once.
    int gpus_of_all(mpi_ranks const& all)
    {
      std::string lines;
      for (int worker = 0; worker < static_cast<int>(starpu_worker_get_count()); ++worker)
        if (starpu_worker_get_type(worker) == STARPU_CUDA_WORKER)
          lines += std::to_string(std::hash<std::string>()(
                       nearfield::detail::identity_of(starpu_worker_get_devid(worker)))) +
                   '\n';
      std::istringstream joined(all.join(lines));
      std::set<std::string> different;
      for (std::string one; std::getline(joined, one);) different.insert(one);
      return static_cast<int>(different.size());
    }
  }

  void describe_workers(mpi_ranks const& all, session const& running, run_result& result)
  {
    result.step.workers = static_cast<int>(all.sum(std::uint64_t(running.workers())));
    result.step.gpus = gpus_of_all(all);
    result.step.runtime = starpu_name();
  }

  /// Those of all ranks; names of workers begin with that of their rank.
  std::vector<worker_tasks> tasks_of_all(mpi_ranks const& all,
                                         std::vector<worker_tasks> const& mine)
  {
    std::ostringstream lines;
    for (worker_tasks const& of : mine)
      lines << "rank " << all.rank() << ", " << of.worker << '\t' << of.implementation << '\t'
            << of.tasks << '\n';
    std::istringstream joined(all.join(lines.str()));
    std::vector<worker_tasks> tasks;
    for (worker_tasks of; std::getline(joined, of.worker, '\t') &&
                          std::getline(joined, of.implementation, '\t') && joined >> of.tasks;)
    {
      joined.ignore();
      tasks.push_back(of);
    }
    return tasks;
  }
}
