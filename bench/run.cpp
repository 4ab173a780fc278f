#include "run.hpp"

namespace bench
{
  namespace
  {
    bool any_failed = false;
  }

  void fail(benchmark::State& state, std::string const& reason)
  {
    any_failed = true;
    state.SkipWithError(reason.c_str());
  }

  int run_benchmarks()
  {
    benchmark::RunSpecifiedBenchmarks();
    return any_failed ? 1 : 0;
  }
}
