#include "machine.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>

namespace nearfield::app
{
  namespace
  {
    constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

    // The number after `name` in a file of "name number" lines, or in a file of one number; none if there is no file, or
    // it says "max".
    std::optional<std::uint64_t> number_of(std::filesystem::path const& path,
                                           std::string const& name = "")
    {
      std::ifstream file(path);
      for (std::string line; std::getline(file, line);)
      {
        std::istringstream words(line);
        std::string word;
        std::uint64_t number = 0;
        if (!name.empty()) words >> word;
        if (word == name && words >> number) return number;
      }
      return std::nullopt;
    }

    std::uint64_t left_in(std::filesystem::path const& group)
    {
      auto const limit = number_of(group / "memory.max"),
                 usage = number_of(group / "memory.current");
      if (!limit || !usage) return unlimited;
      std::uint64_t const cache =
          std::min(number_of(group / "memory.stat", "inactive_file").value_or(0), *usage);
      std::uint64_t const used = *usage - cache;
      return used < *limit ? *limit - used : 0;
    }

    // A group is also limited by all groups above it. In a container, `path` may be that of the host, and
    // the root of the mount the container's own group.
    std::uint64_t left_in_all(std::filesystem::path const& mount, std::filesystem::path path)
    {
      std::uint64_t least = left_in(mount);
      for (path = path.relative_path(); !path.empty(); path = path.parent_path())
        least = std::min(least, left_in(mount / path));
      return least;
    }
  }

  int cpu_count()
  {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return CPU_COUNT(&set);
  }

  std::uint64_t available_memory(std::filesystem::path const& root)
  {
    std::uint64_t least = unlimited;
    if (auto const kib = number_of(root / "proc/meminfo", "MemAvailable:")) least = *kib * 1024;

    // the line of control groups of version 2: "0::/path"
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);)
      if (line.starts_with("0::"))
        least = std::min(least, left_in_all(root / "sys/fs/cgroup", line.substr(3)));
    return least;
  }

  void spare_address_space()
  {
#if defined(M_ARENA_MAX) // glibc
    rlimit space{};
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
      mallopt(M_ARENA_MAX, 1);
#endif
  }

  std::uint64_t peak_memory()
  {
    // not getrusage(), whose peak may include that of the parent process
    return number_of("/proc/self/status", "VmHWM:").value_or(0) * 1024;
  }
}
