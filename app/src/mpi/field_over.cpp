#include "mpi/field_over.hpp"

#include <nearfield/cuda/device.hpp>

#include <starpu_mpi.h>

#include <algorithm>
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
    /// The GPUs that ranks have; one that several share counts once.
    int gpus_of_all(ranks const& all, int mine)
    {
      std::string lines;
      int const seen = mine > 0 ? static_cast<int>(gpus().size()) : 0;
      for (int device = 0; device < seen; ++device)
        lines +=
            std::to_string(std::hash<std::string>()(nearfield::detail::identity_of(device))) + '\n';
      std::istringstream joined(all.join(lines));
      std::set<std::string> different;
      for (std::string one; std::getline(joined, one);) different.insert(one);
      return static_cast<int>(
          std::min<std::uint64_t>(different.size(), all.sum(static_cast<std::uint64_t>(mine))));
    }
  }

  void describe_workers(ranks const& all, session const& running, run_result& result)
  {
    result.step.workers = static_cast<int>(all.sum(static_cast<std::uint64_t>(running.workers())));
    result.step.gpus = gpus_of_all(all, running.runtime().n_gpus());
  }

  /// Those of all ranks; names of workers begin with that of their rank.
  std::vector<worker_tasks> tasks_of_all(ranks const& all, std::vector<worker_tasks> const& mine)
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
