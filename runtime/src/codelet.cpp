#include "codelet.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <map>
#include <mutex>
#include <tuple>

namespace nearfield::starpu::detail
{
  namespace
  {
    std::string file_name(std::string symbol)
    {
      auto const may_stand = [](char c)
      {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_' || c == '-' || c == '.';
      };
      for (char& c : symbol)
        if (!may_stand(c)) c = '_';
      return symbol;
    }

    // what a task takes beside its work, from its worker or from a stream, in microseconds
    constexpr double around_cpu_task = 20, around_gpu_task = 10;
    // of a task whose argument gives none: bytes copied, or candidates tested
    constexpr double some_cpu_rate = 1e9, some_gpu_rate = 1e11;
    constexpr double simd_over_scalar = 10;
  }

  codelet::codelet(description const& what)
      : name_(what.name), symbol_(file_name(what.symbol)), profiler_name_(what.profiler_name),
        is_counted_(what.is_counted)
  {
    monitor::of_process(); // made here: a worker may have no memory for it
    // a function in place of measured times: those of irregular tasks never suffice, the first steps would run
    // anywhere, and StarPU aborts when it reads a damaged file of them
    model_.type = STARPU_PER_ARCH;
    model_.symbol = symbol_.c_str();
    model_.arch_cost_function = &microseconds;

    starpu_codelet_init(this);
    starpu_codelet::name = name_.c_str();
    model = what.has_model ? &model_ : nullptr;
    nbuffers = STARPU_VARIABLE_NBUFFERS;
    // lws, eager and prio always take the first one; others try each until all are measured
    int n = 0;
    if (what.backends.has_simd()) cpu_funcs[n++] = &call<implementation::simd>;
    if (what.backends.has_scalar()) cpu_funcs[n++] = &call<implementation::scalar>;
    where = n > 0 ? STARPU_CPU : 0;
#if defined(STARPU_USE_CUDA)
    if (what.has_cuda && what.backends.has_cuda())
    {
      cuda_funcs[0] = &call<implementation::cuda>;
      cuda_flags[0] = STARPU_CUDA_ASYNC;
      where |= STARPU_CUDA;
    }
#endif
  }

  task_argument const& codelet::argument_of(starpu_task const& task) const
  {
    return *static_cast<task_argument const*>(task.cl_arg);
  }

  template <implementation On>
  void codelet::call(void** buffers, void*) noexcept
  {
    starpu_task const& task = *starpu_task_get_current();
    auto const& mine = static_cast<codelet const&>(*task.cl);
    nearfield::detail::profiler_range const here(mine.profiler_name_);
    monitor* watch = &monitor::of_process();
    try
    {
      task_argument const& argument = mine.argument_of(task);
      if (argument.watch) watch = argument.watch;
      if (mine.is_counted_) watch->count(static_cast<int>(On));
      cuda_stream stream = nullptr;
#if defined(STARPU_USE_CUDA)
      if constexpr (On == implementation::cuda) stream = starpu_cuda_get_local_stream();
#endif
      mine.run({On, buffers, argument, stream});
    }
    catch (...)
    {
      watch->caught(); // exceptions must not pass through StarPU
    }
  }

  double codelet::work_of(starpu_task* task) const noexcept
  {
    double bytes = 0;
    for (unsigned b = 0; b < STARPU_TASK_GET_NBUFFERS(task); ++b)
      bytes += static_cast<double>(starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, b)));
    return bytes;
  }

  double codelet::microseconds(starpu_task* task, starpu_perfmodel_arch* arch,
                               unsigned implementation) noexcept
  {
    auto const& mine = static_cast<codelet const&>(*task->cl);
    task_argument argument;
    try
    {
      argument = mine.argument_of(*task);
    }
    catch (...)
    {
      // the task itself will report it
    }
    double const work = argument.work > 0 ? argument.work : mine.work_of(task);
    auto const of = [](double rate, double otherwise)
    {
      return rate > 0 ? rate : otherwise;
    };
    if (arch->ndevices > 0 && arch->devices[0].type == STARPU_CUDA_WORKER)
      return around_gpu_task + 1e6 * work / of(argument.gpu_rate, some_gpu_rate);
    double const slower = implementation > 0 ? simd_over_scalar : 1; // scalar comes second
    return around_cpu_task + slower * 1e6 * work / of(argument.cpu_rate, some_cpu_rate);
  }

  codelet& registered(codelet::description const& what, void const* interaction,
                      std::function<codelet*()> const& make)
  {
    using key = std::tuple<std::string, void const*, unsigned>;
    static auto& mutex = *new std::mutex;
    static auto& all = *new std::map<key, codelet*>;
    std::lock_guard const lock(mutex);
    codelet*& found = all[{what.symbol, interaction, what.backends.index()}];
    if (!found) found = make();
    return *found;
  }

  codelet::description copying(std::string const& name, std::size_t size_of_real,
                               char const* profiler_name, backend where)
  {
    return {.name = name,
            .symbol = "nearfield_" + name + (size_of_real == 4 ? "_f32" : "_f64") +
                      (where == backend::cuda ? "_cuda" : ""),
            .profiler_name = profiler_name,
            .backends = where,
            .has_cuda = built_with_cuda(),
            .is_counted = false};
  }

  std::string gpu_problem()
  {
    if (!starpu_is_initialized())
      return "StarPU is not running: call starpu_init, or keep a nearfield::starpu::runtime";
    if (!has_cuda())
      return "this StarPU was built without CUDA: ./dev starpu-cuda builds one with it";
    if (auto problem = cuda_problem(); !problem.empty()) return problem;
    return starpu_cuda_worker_get_count() > 0 ? ""
                                              : "StarPU has no GPU worker (--gpus, STARPU_NCUDA)";
  }
}
