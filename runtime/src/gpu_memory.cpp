#include "gpu_memory.hpp"

#include <starpu.h>

#include <algorithm>
#include <cstdlib>

namespace nearfield::starpu::detail
{
  std::map<int, std::vector<int>> workers_of_gpus()
  {
    std::map<int, std::vector<int>> workers;
    if (!starpu_is_initialized()) return workers;
    for (int worker = 0; worker < static_cast<int>(starpu_worker_get_count()); ++worker)
      if (starpu_worker_get_type(worker) == STARPU_CUDA_WORKER)
        workers[starpu_worker_get_devid(worker)].push_back(worker);
    return workers;
  }

  std::vector<int> first_workers_of_gpus()
  {
    std::vector<int> workers;
    for (auto const& [device, of_gpu] : workers_of_gpus()) workers.push_back(of_gpu.front());
    return workers;
  }

  nearfield::detail::gpu_memory smallest_gpu_memory()
  {
    nearfield::detail::gpu_memory smallest;
    // while a worker runs a task it prefetches the data of further ones: two tasks in all by default
    char const* const pipeline = std::getenv("STARPU_CUDA_PIPELINE");
    int const tasks_of_worker = pipeline ? std::max(1, std::atoi(pipeline)) : 2;
    for (auto const& [device, workers] : workers_of_gpus())
    {
      unsigned const node = starpu_worker_get_memory_node(static_cast<unsigned>(workers.front()));
      auto const bytes = static_cast<double>(starpu_memory_get_total(node)); // -1: no limit
      if (bytes > 0 && (smallest.bytes == 0 || bytes < smallest.bytes)) smallest.bytes = bytes;
      smallest.tasks_at_once =
          std::max(smallest.tasks_at_once, static_cast<int>(workers.size()) * tasks_of_worker);
    }
    return smallest;
  }
}
