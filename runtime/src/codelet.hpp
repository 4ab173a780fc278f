#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/cuda/stream.hpp>
#include <nearfield/starpu/backends.hpp>
#include <nearfield/starpu/monitor.hpp>

#include <starpu.h>

#include <cstdint>
#include <functional>
#include <string>

/// \file
/// What all codelets of the library have in common: one way into a task, and one list of codelets.

namespace nearfield::starpu::detail
{
  /// By their numbers in a monitor.
  enum class implementation
  {
    simd,
    scalar,
    cuda
  };

  /// What travels with every task; codelets add their own.
  struct task_argument
  {
    /// where the task reports; null: runtime::wait() of the process
    monitor* watch = nullptr;
    /// directed pairs, for the performance model; 0: to be found from the buffers
    double work = 0;
  };

  /// A task that has begun.
  struct running_task
  {
    implementation on;
    void** buffers;
    task_argument const& argument;
    cuda_stream stream; ///< on a GPU
  };

  /// A codelet for tasks of any number of buffers: a task says how many it has and how it accesses them. StarPU
  /// hands its tasks the codelet's address, by which they find the rest.
  class NEARFIELD_API codelet : public starpu_codelet
  {
  public:
    struct description
    {
      std::string name; ///< of the tasks
      std::string
          symbol; ///< of the model: a file's name, in which odd characters become underscores
      char const* range;    ///< on the time line of a profiler
      backend_set backends; ///< cuda counts where has_cuda does too
      bool has_cuda = false;
      /// the model is by work: data of equal size can mean very different numbers of pairs
      bool has_work = true;
      bool is_counted = true; ///< by the monitor
    };

    explicit codelet(description const& what);
    codelet(codelet const&) = delete;
    codelet& operator=(codelet const&) = delete;
    virtual ~codelet() = default;

  protected:
    /// Throws error for an argument of another codelet.
    [[nodiscard]] virtual task_argument const& argument_of(starpu_task const& task) const;
    /// May throw; the exception goes to the monitor of the argument.
    virtual void run(running_task const& task) const = 0;
    /// Of a task whose argument does not state it.
    [[nodiscard]] virtual double work_of(starpu_task*) const noexcept { return 1; }

  private:
    template <implementation On>
    static void call(void** buffers, void*) noexcept;
    static std::uint32_t footprint(starpu_task* task) noexcept;

    std::string name_, symbol_;
    char const* range_;
    bool is_counted_;
    starpu_perfmodel model_{};
  };

  /// The codelet of that symbol, set of back-ends and interaction (an address, or null), made by the first call.
  /// It lives until the process ends: StarPU writes the models when it stops, maybe after static objects are
  /// gone.
  NEARFIELD_API codelet& registered(codelet::description const& what, void const* interaction,
                                    std::function<codelet*()> const& make);
  template <class Codelet, class... Rest>
  Codelet& registered(codelet::description const& what, void const* interaction = nullptr,
                      Rest const&... rest)
  {
    return static_cast<Codelet&>(
        registered(what, interaction, [&] { return new Codelet(what, rest...); }));
  }

  /// Why no task of this library can run on a GPU, in one line with the remedy; empty where StarPU, as it runs
  /// now, has workers for GPUs.
  std::string gpu_problem();
}
