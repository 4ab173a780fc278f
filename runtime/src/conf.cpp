#include "conf.hpp"

#include <nearfield/starpu/runtime.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include <sched.h>

namespace nearfield::starpu::detail
{
  namespace
  {
    /// Empty if the machine has more CPUs than cpu_set_t can hold.
    std::vector<int> numbers_of_allowed_cpus()
    {
      cpu_set_t allowed;
      CPU_ZERO(&allowed);
      std::vector<int> numbers;
      if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
          if (CPU_ISSET(cpu, &allowed)) numbers.push_back(cpu);
      return numbers;
    }
  }

  int allowed_cpus()
  {
    int const n = static_cast<int>(numbers_of_allowed_cpus().size());
    return n > 0 ? n : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }

  int allowed_cores()
  {
    std::set<std::string> cores; // by their CPUs, such as "0,64"
    for (int const cpu : numbers_of_allowed_cpus())
    {
      std::string cpus;
      std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                         "/topology/thread_siblings_list");
      if (!std::getline(file, cpus)) return allowed_cpus();
      cores.insert(cpus);
    }
    return cores.empty() ? allowed_cpus() : static_cast<int>(cores.size());
  }

  std::string worker_limit_of(int n_cores)
  {
    if (n_cores <= STARPU_MAXCPUS) return "";
    return "StarPU " + version() + " was built for at most " + std::to_string(STARPU_MAXCPUS) +
           " CPU workers, and there are " + std::to_string(n_cores) +
           " cores: ./dev starpu builds one for 128";
  }

  void leave_a_core(starpu_conf& conf, int n_gpus, int n_cpus)
  {
    if (n_gpus == 0 || conf.ncpus != -1 || conf.reserve_ncpus != -1) return;
    // StarPU's numbers count cores, and a CPU may be half of one (SMT)
    if (n_cpus / 2 > n_gpus + 1 + most_workers_beside_gpus)
      conf.ncpus = std::min(most_workers_beside_gpus, int(STARPU_MAXCPUS));
    else if (n_cpus / 2 >= n_gpus + 2)
      conf.reserve_ncpus = 1;
    else
      conf.ncpus = std::clamp(n_cpus - n_gpus - 1, 1, int(STARPU_MAXCPUS));
  }
}
