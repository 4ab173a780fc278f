#include "conf.hpp"

#include <algorithm>
#include <thread>

#include <sched.h>

namespace nearfield::starpu::detail
{
  int allowed_cpus()
  {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    // fails if the machine has more CPUs than cpu_set_t can hold
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return CPU_COUNT(&allowed);
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }

  void leave_a_core(starpu_conf& conf, int n_gpus, int n_cpus)
  {
    if (n_gpus == 0 || conf.ncpus != -1 || conf.reserve_ncpus != -1) return;
    // reserve_ncpus counts cores, and a CPU may be half of one (SMT)
    if (n_cpus / 2 >= n_gpus + 2)
      conf.reserve_ncpus = 1;
    else
      conf.ncpus = std::clamp(n_cpus - n_gpus - 1, 1, int(STARPU_MAXCPUS));
  }
}
