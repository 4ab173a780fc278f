#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/starpu/tasks.hpp>

#include <starpu.h>

#include <cstddef>
#include <functional>
#include <string>

/// \file
/// What all codelets of the library have in common: the entry point of tasks and the registry of codelets.

namespace nearfield::starpu::detail
{
  /// Implementations; their values are the indices in a monitor.
  enum class implementation
  {
    simd,
    scalar,
    cuda
  };

  /// The argument of every task; codelets derive from it.
  struct task_argument
  {
    /// where the task reports; null: runtime::wait() of the process
    monitor* watch = nullptr;
    // for schedulers that ask how long the task takes
    double work = 0; ///< directed pairs, or what else there is to do; 0: computed from the buffers
    double cpu_rate = 0; ///< work a second of a CPU worker; 0: some
    double gpu_rate = 0; ///< the same of a worker of a GPU, which may have several
  };

  /// A task that is running.
  struct running_task
  {
    implementation on;
    void** buffers;
    task_argument const& argument;
    cuda_stream stream; ///< on a GPU
  };

  /// A codelet for tasks with any number of buffers; each task gives their number and access modes. Tasks find
  /// this object by the address of the starpu_codelet that StarPU passes them, so it must not be copied.
  class NEARFIELD_API codelet : public starpu_codelet
  {
  public:
    struct description
    {
      std::string name; ///< of the tasks
      std::string
          symbol; ///< of the performance model; characters that a file name may not have become underscores
      char const* profiler_name; ///< name on the timeline of a profiler
      backend_set backends;      ///< cuda only takes effect with has_cuda
      bool has_cuda = false;
      bool is_counted = true; ///< by the monitor
      bool has_model = true;  ///< of performance, for schedulers
    };

    explicit codelet(description const& what);
    codelet(codelet const&) = delete;
    codelet& operator=(codelet const&) = delete;
    virtual ~codelet() = default;

  protected:
    /// Overrides throw nearfield::error for an argument of another codelet.
    [[nodiscard]] virtual task_argument const& argument_of(starpu_task const& task) const;
    /// May throw; the exception goes to the monitor of the argument.
    virtual void run(running_task const& task) const = 0;
    /// The work of a task whose argument does not give it: the bytes of its buffers.
    [[nodiscard]] virtual double work_of(starpu_task* task) const noexcept;

  private:
    template <implementation On>
    static void call(void** buffers, void*) noexcept;
    /// What the task takes, about: for schedulers that compare workers.
    static double microseconds(starpu_task* task, starpu_perfmodel_arch* arch,
                               unsigned implementation) noexcept;

    std::string name_, symbol_;
    char const* profiler_name_;
    bool is_counted_;
    starpu_perfmodel model_{};
  };

  /// Of tasks that call a function.
  template <void (*Run)(running_task const&)>
  class codelet_of final : public codelet
  {
    using codelet::codelet;

    void run(running_task const& task) const override { Run(task); }
  };

  /// The codelet of this symbol, set of back-ends and interaction (an address, or null), made by the first
  /// call. It is never destroyed: StarPU looks at the models when it stops, maybe after static objects are gone.
  NEARFIELD_API codelet& registered(codelet::description const& what, void const* interaction,
                                    std::function<codelet*()> const& make);
  template <class Codelet, class... Rest>
  Codelet& registered(codelet::description const& what, void const* interaction = nullptr,
                      Rest const&... rest)
  {
    return static_cast<Codelet&>(
        registered(what, interaction, [&] { return new Codelet(what, rest...); }));
  }

  /// Of tasks that copy reals of this size on CPU workers or on GPUs, and are not counted in statistics.
  codelet::description copying(std::string const& name, std::size_t size_of_real,
                               char const* profiler_name, backend where);

  /// The codelet of tasks that copy values of T by a function, on CPU workers or on GPUs.
  template <class T, void (*Run)(running_task const&)>
  starpu_codelet& copying_codelet(char const* name, char const* profiler_name, backend where)
  {
    auto const made = [&](backend on) -> starpu_codelet&
    {
      return registered<codelet_of<Run>>(copying(name, sizeof(T), profiler_name, on));
    };
    if (where == backend::cuda)
    {
      static auto& on_gpu = made(backend::cuda);
      return on_gpu;
    }
    static auto& on_cpu = made(backend::scalar);
    return on_cpu;
  }

  /// Why no task of this library can run on a GPU, in one line with the remedy; empty if StarPU is running with
  /// GPU workers.
  std::string gpu_problem();
}
