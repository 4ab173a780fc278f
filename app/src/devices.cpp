#include "devices.hpp"

#include "task_step.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <cstdlib>
#include <limits>

namespace nearfield::app
{
  namespace
  {
#if defined(STARPU_MAXCPUS)
    constexpr int most_workers = STARPU_MAXCPUS;
#else
    constexpr int most_workers = std::numeric_limits<int>::max(); // without StarPU all are refused
#endif
  }

  void check_workers(int workers, std::string const& remedy)
  {
    if (workers > most_workers)
      throw error("--workers: found " + std::to_string(workers) +
                  "; this StarPU was built for 1 to " + std::to_string(most_workers) +
                  " CPU workers (./dev starpu builds one for 128); " + remedy);
  }

  void check_devices(execution_options const& options)
  {
    check_workers(options.workers.value_or(0), "leave --workers out for what the machine has");
    int const asked = options.gpus.value_or(0);
    bool const cuda_only = options.backend == backend::cuda;
    auto const refuse = [&](std::string const& what)
    {
      throw error("--gpus: found " + std::to_string(asked) + what);
    };
    if (asked > 0 && is_of_cpu(options.backend))
      refuse(std::string(" with --backend ") + name_of(options.backend) +
             ", which runs on the CPU; leave out one of them");
    if (cuda_only && options.gpus == 0)
      refuse(" with --backend cuda, which runs on GPUs only; give 1 or more, or another --backend");
    if (!cuda_only && asked == 0) return;

    bool const has_tasks = starpu_is_built_in && options.workers != 0;
    if (!has_tasks && !cuda_only)
      refuse(", but without StarPU (--workers 0) the calling thread computes on the CPU; "
             "give --backend cuda, or leave out --workers 0");
    if (!has_tasks && asked > 1)
      refuse(", but without StarPU (--workers 0) the calling thread drives one GPU; give 1");

    std::string const option = cuda_only ? "--backend cuda" : "--gpus";
    if (std::string const problem = cuda_problem(); !problem.empty())
      throw error(option + ": " + problem);
    if (has_tasks && !starpu_has_cuda())
      throw error(option + ": " + starpu_name() +
                  " was built without CUDA; ./dev starpu-cuda builds one with it, and "
                  "--backend cuda --workers 0 computes on one GPU without StarPU");
    if (auto const there = gpus().size(); static_cast<std::size_t>(asked) > there)
      refuse(", this machine has " + std::to_string(there) + "; give at most that");
  }

  std::string no_gpu()
  {
    // the text after the colon is the remedy
    std::string const problem = cuda_problem();
    return problem.empty() ? "" : "no GPU (" + problem.substr(0, problem.find(": ")) + ")";
  }

  std::string no_gpu_tasks()
  {
    if (std::string const problem = no_gpu(); !problem.empty()) return problem;
    if (!starpu_is_built_in) return "no StarPU";
    if (!starpu_has_cuda()) return "StarPU without CUDA";
    char const* const limit = std::getenv("STARPU_NCUDA");
    return limit && std::atoi(limit) == 0 ? "STARPU_NCUDA is 0" : "";
  }

  bool has_tasks()
  {
    return starpu_is_built_in;
  }
}
