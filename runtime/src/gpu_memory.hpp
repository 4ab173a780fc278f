#pragma once

#include "fit_memory.hpp"

#include <nearfield/core/config.hpp>

#include <map>
#include <vector>

namespace nearfield::starpu::detail
{
  /// The workers of each GPU, by its number; none while StarPU is not running.
  std::map<int, std::vector<int>> workers_of_gpus();
  /// One worker of each GPU.
  std::vector<int> first_workers_of_gpus();

  /// The memory that the running StarPU may use on the GPU where it has least: STARPU_LIMIT_CUDA_MEM,
  /// STARPU_LIMIT_CUDA_<n>_MEM, or most of the GPU's memory.
  NEARFIELD_API nearfield::detail::gpu_memory smallest_gpu_memory();
}
