#include "gpu_memory.hpp"

#include <starpu.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace nearfield::starpu::detail
{
  nearfield::detail::gpu_memory smallest_gpu_memory()
  {
    nearfield::detail::gpu_memory smallest;
    std::map<unsigned, int> workers_of_node;
    for (unsigned worker = 0; worker < starpu_worker_get_count(); ++worker)
      if (starpu_worker_get_type(static_cast<int>(worker)) == STARPU_CUDA_WORKER)
        ++workers_of_node[starpu_worker_get_memory_node(worker)];
    // while a worker runs a task it prefetches the data of further ones: two tasks in all by default
    char const* const pipeline = std::getenv("STARPU_CUDA_PIPELINE");
    int const tasks_of_worker = pipeline ? std::max(1, std::atoi(pipeline)) : 2;
    for (auto const& [node, workers] : workers_of_node)
    {
      auto const bytes = static_cast<double>(starpu_memory_get_total(node)); // -1: no limit
      if (bytes > 0 && (smallest.bytes == 0 || bytes < smallest.bytes)) smallest.bytes = bytes;
      smallest.tasks_at_once = std::max(smallest.tasks_at_once, workers * tasks_of_worker);
    }
    return smallest;
  }
}
