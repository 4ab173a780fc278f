#include "run.hpp"

#include <fstream>
#include <string>

namespace bench
{
  namespace
  {
    bool any_failed = false;

    /// As Linux names it.
    std::string cpu_name()
    {
      std::ifstream file("/proc/cpuinfo");
      for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
      return "unknown";
    }
  }

  void fail(benchmark::State& state, std::string const& reason)
  {
    any_failed = true;
    state.SkipWithError(reason.c_str());
  }

  int run_benchmarks()
  {
    benchmark::AddCustomContext("commit", NEARFIELD_COMMIT);
    benchmark::AddCustomContext("cpu", cpu_name());
    benchmark::RunSpecifiedBenchmarks();
    return any_failed ? 1 : 0;
  }
}
