#pragma once

#include "codelet.hpp"
#include "kernels/src/p2p/group_job.hpp"
#include "rates.hpp"

#include <nearfield/starpu/kernel_of.hpp>

#include <mutex>
#include <vector>

namespace nearfield
{
  class cuda_list;
}
namespace nearfield::detail
{
  class gpu_clock;
}

namespace nearfield::starpu::detail
{
  /// The argument of a P2P task.
  struct p2p_argument : task_argument
  {
    void const* k = nullptr; ///< the interaction; not copied, since it may be large
    int number = 0; ///< of its type, by which a codelet detects the argument of another interaction
    bool is_singular = false;
    bool tests_for_zero = false;
    /// points of different leaves may coincide
    bool ranges_may_coincide = false;
    // only for tasks with a list
    int n_rhs = 1; ///< right-hand sides
    nearfield::detail::task_head const* head = nullptr;
    nearfield::detail::group_exclusions excluded = {};
    /// of a task for one GPU, which made it: then no buffer has the list
    cuda_list const* list_on_gpu = nullptr;
    /// adds to outputs that a task before has written, and overwrites no others
    bool accumulates = false;
    nearfield::detail::gpu_clock* clock =
        nullptr; ///< null: what the task takes on a GPU is not counted
  };

  /// The argument of tasks of k, which must outlive it, with rough rates of large boxes.
  template <class T>
  p2p_argument argument_of(kernel<T> const& k, monitor* watch)
  {
    return {{.watch = watch,
             .cpu_rate = rough_rate_of(k, backend::simd),
             .gpu_rate = rough_rate_of(k, backend::cuda) / workers_of_a_gpu()},
            k.k.get(),
            k.type->number,
            k.is_singular,
            k.tests_for_zero};
  }

  /// Throws nearfield::error if cuda is named and there are no CUDA kernels, or if only cuda is named and the
  /// running StarPU has no GPU worker. Called for each task, since the next runtime of a process may have other
  /// workers.
  NEARFIELD_API void check_cuda_backend(kernel_shape const& k, backend_set backends);

  /// "cuda", "scalar", or the instruction set of the SIMD kernels of k.
  std::string_view worker_of(kernel_shape const& k, backend where);

  /// The number of P2P tasks that each worker has run with each implementation.
  NEARFIELD_API std::vector<monitor::worker_tasks> statistics_of(monitor const& watch,
                                                                 kernel_shape const& k);

  /// The codelet of an operation with the kernels of an interaction.
  template <class T>
  class p2p_codelet : public codelet
  {
  public:
    /// The registered codelet of an operation, made as `Codelet(what, k, of_operation...)`. Throws
    /// nearfield::error if NEARFIELD_ISA names an instruction set that is not available, and what
    /// check_cuda_backend() throws.
    template <class Codelet, class... OfOperation>
    static Codelet& of(char const* operation, kernel_type<T> const& k, backend_set backends,
                       OfOperation const&... of_operation)
    {
      check_cuda_backend(k, backends);
      return registered<Codelet>(describe(operation, k, backends), &k, k, of_operation...);
    }

  protected:
    p2p_codelet(description const& what, kernel_type<T> const& k);

    [[nodiscard]] p2p_argument const& argument_of(starpu_task const& task) const final;
    /// Of what derives from p2p_argument and is the argument of this codelet.
    [[nodiscard]] virtual std::size_t argument_size() const { return sizeof(p2p_argument); }

    [[nodiscard]] kernel_shape const& shape() const { return type_; }
    [[nodiscard]] nearfield::detail::p2p_kernels<T> const& cpu_kernels(implementation on) const
    {
      return on == implementation::simd ? simd_ : scalar_;
    }
    [[nodiscard]] nearfield::detail::cuda_kernels<T> const& gpu_kernels() const { return cuda_; }

  private:
    static description describe(char const* operation, kernel_type<T> const& k,
                                backend_set backends);

    kernel_type<T> const& type_;
    nearfield::detail::p2p_kernels<T> simd_, scalar_;
    nearfield::detail::cuda_kernels<T> cuda_;
    mutable kernel<T> default_kernel_{}; ///< for raw tasks without an argument
    mutable p2p_argument default_;
    mutable std::once_flag has_default_;
  };
}
