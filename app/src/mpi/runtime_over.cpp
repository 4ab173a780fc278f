#include "mpi/runtime_over.hpp"

#include <nearfield/cuda/device.hpp>

#include <starpu_mpi.h>

#include <functional>
#include <set>
#include <sstream>
#include <string>

namespace nearfield::app
{
  std::shared_ptr<void> start_messages()
  {
    starpu::check(starpu_mpi_init_comm(nullptr, nullptr, 0, MPI_COMM_WORLD),
                  "starpu_mpi_init_comm");
    return {nullptr, [](void*)
            {
              starpu_mpi_shutdown();
            }};
  }

  namespace
  {
    /// The GPUs of all ranks' workers; one that several share counts once.
    int gpus_of_all(mpi_ranks const& all)
    {
      std::vector<std::uint64_t> mine; // hashes
      for (int worker = 0; worker < static_cast<int>(starpu_worker_get_count()); ++worker)
        if (starpu_worker_get_type(worker) == STARPU_CUDA_WORKER)
          mine.push_back(std::hash<std::string>()(
              nearfield::detail::identity_of(starpu_worker_get_devid(worker))));
      auto const of_all = all.gather_all<std::uint64_t>(mine).values;
      return static_cast<int>(std::set(of_all.begin(), of_all.end()).size());
    }
  }

  void describe_workers(mpi_ranks const& all, session const& running,
                        std::vector<starpu::monitor::worker_tasks> const& mine, step_report& report)
  {
    report.workers = static_cast<int>(all.sum(std::uint64_t(running.workers())));
    report.gpus = gpus_of_all(all);
    report.runtime = starpu_name();
    std::ostringstream lines;
    for (auto const& of : mine)
      lines << "rank " << all.rank() << ", " << of.worker << '\t' << of.implementation << '\t'
            << of.tasks << '\n';
    auto const texts = all.gather_all<char>(lines.str()).values;
    std::istringstream joined(std::string(texts.begin(), texts.end()));
    report.tasks.clear();
    for (worker_tasks of; std::getline(joined, of.worker, '\t') &&
                          std::getline(joined, of.implementation, '\t') && joined >> of.tasks;)
    {
      joined.ignore();
      report.tasks.push_back(of);
    }
  }
}
