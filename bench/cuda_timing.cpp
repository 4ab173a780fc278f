#include "cuda_timing.hpp"
#include "core/src/cuda/trace.hpp"
#include "peaks.hpp"

#include <nearfield/cuda/device.hpp>

#include <benchmark/benchmark.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace nf = nearfield;

namespace bench
{
  namespace
  {
    class event
    {
    public:
      event() { nf::check_cuda(cudaEventCreate(&event_), "cudaEventCreate"); }
      ~event() { cudaEventDestroy(event_); }
      event(event const&) = delete;
      event& operator=(event const&) = delete;

      void record() { nf::check_cuda(cudaEventRecord(event_), "cudaEventRecord"); }
      /// Waits for this event.
      [[nodiscard]] double seconds_since(event const& begin) const
      {
        float milliseconds = 0;
        nf::check_cuda(cudaEventSynchronize(event_), "cudaEventSynchronize");
        nf::check_cuda(cudaEventElapsedTime(&milliseconds, begin.event_, event_),
                       "cudaEventElapsedTime");
        return 1e-3 * milliseconds;
      }

    private:
      cudaEvent_t event_ = nullptr;
    };

    void add_context()
    {
      nf::gpu const gpu = nf::gpus().at(0);
      std::string driver = "unknown";
      std::ifstream("/sys/module/nvidia/version") >> driver;
      int cuda = 0;
      nf::check_cuda(cudaDriverGetVersion(&cuda), "cudaDriverGetVersion");
      benchmark::AddCustomContext("gpu", gpu.name);
      benchmark::AddCustomContext("driver", driver + ", CUDA " + std::to_string(cuda / 1000) + "." +
                                                std::to_string(cuda % 1000 / 10));
    }
  }

  double seconds_on_gpu(std::function<void()> const& f)
  {
    event begin, end;
    begin.record();
    f();
    end.record();
    return end.seconds_since(begin);
  }

  std::map<std::string, double> stages_of_search(std::function<void()> const& f)
  {
    std::deque<event> events; // one at the start, and one after each stage
    std::vector<std::string> names;
    auto const end_stage = [&](char const* stage, nf::cuda_stream)
    {
      events.emplace_back().record();
      names.emplace_back(stage);
    };
    events.emplace_back().record();
    {
      nf::detail::stage_trace const trace(end_stage);
      f();
    }
    end_stage("end", nullptr);
    std::map<std::string, double> seconds;
    for (std::size_t s = 0; s < names.size(); ++s)
      seconds[names[s]] += events[s + 1].seconds_since(events[s]);
    return seconds;
  }

  int start_cuda_benchmarks(int& argc, char** argv)
  {
    // otherwise the first launch of each kernel would load it
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    if (auto const problem = nf::cuda_problem(); !problem.empty())
    {
      std::printf("SKIPPED: %s\n", problem.c_str());
      return 77;
    }
    bool const told = std::any_of(argv, argv + argc, [](std::string_view argument)
                                  { return argument.starts_with("--benchmark_context="); });
    if (!told) add_context();
    benchmark::AddCustomContext("compilers", NEARFIELD_COMPILERS);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    add_peaks_of_gpu();
    return 0;
  }
}
