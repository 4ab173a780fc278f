#include "machine.hpp"

#include <nearfield/core/isa.hpp>

#include <fstream>

#include <sched.h>

namespace nearfield::app
{
  std::string cpu_name()
  {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("model name"))
      {
        auto const colon = line.find(": ");
        if (colon != std::string::npos) return line.substr(colon + 2);
      }
    return "unknown CPU";
  }

  int cpu_count()
  {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return CPU_COUNT(&set);
  }

  std::string available_isa_names()
  {
    std::string names;
    for (isa const which : available_isas())
      names += (names.empty() ? "" : " ") + std::string(name_of(which));
    return names;
  }
}
