#pragma once

#include <nearfield/core/config.hpp>

#include <starpu.h>

#include <string>

namespace nearfield::starpu::detail
{
  /// The number of CPUs that this thread may use, fewer than the machine has under taskset or a batch system.
  NEARFIELD_API int allowed_cpus();

  /// The same of the thread that made the first runtime, when it did: threads may be bound to a core since.
  NEARFIELD_API int cpus_at_start();

  /// The number of cores among those CPUs, of which a core with SMT has several.
  NEARFIELD_API int allowed_cores();

  /// What worker_limit() says on a machine with n_cores.
  NEARFIELD_API std::string worker_limit_of(int n_cores);

  /// Idle workers of more cores take a step on several GPUs: of 64 cores, 16 workers left it 3.66 times one launch on four
  /// H100s, one for each core 2.0 to 3.5 times.
  inline constexpr int most_workers_beside_gpus = 16;

  /// With GPUs, StarPU starts a CPU worker per core, less one core for each GPU. This leaves one more core free
  /// for the main thread, but keeps at least one CPU worker to copy data between the caller's arrays and the
  /// tasks, and starts no more than most_workers_beside_gpus. Changes nothing without GPUs, or if the environment sets the number of workers or reserved cores
  /// (STARPU_NCPU, STARPU_NCPUS, STARPU_RESERVE_NCPU).
  NEARFIELD_API void leave_a_core(starpu_conf& conf, int n_gpus, int n_cpus);
}
