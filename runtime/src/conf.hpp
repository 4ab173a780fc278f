#pragma once

#include <nearfield/core/api.hpp>

#include <starpu.h>

namespace nearfield::starpu::detail
{
  /// The CPUs that this process may use: those of the machine, or fewer under taskset or a batch system.
  NEARFIELD_API int allowed_cpus();

  /// Beside GPUs StarPU starts a CPU worker a core, less one core for each GPU. Leaves the main thread one
  /// more, but at least one CPU worker, which moves data between the caller's arrays and the tasks. Nothing is
  /// changed without GPUs, or where the environment says how many workers there are or cores are spared
  /// (STARPU_NCPU, STARPU_NCPUS, STARPU_RESERVE_NCPU).
  NEARFIELD_API void leave_a_core(starpu_conf& conf, int n_gpus, int n_cpus);
}
