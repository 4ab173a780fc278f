#pragma once

#include "moving_points.hpp"
#include "p2p_codelet.hpp"
#include "p2p_sides.hpp"

#include <nearfield/p2p/tuning.hpp>
#include <nearfield/starpu/near_field.hpp>

#include <cstdint>
#include <memory>
#include <utility>

/// \file
/// The task of a step over a moving_tree.

namespace nearfield::starpu::detail
{
  template <class T>
  class moving_work;

  /// The argument of the task.
  template <class T>
  struct moving_argument : p2p_argument
  {
    moving_work<T>* step;
    std::uint64_t round;  ///< of the positions
    std::uint64_t number; ///< of the step, from 0
  };

  /// What the tasks of a step over moving points share: they follow each other, since each writes the outputs.
  template <class T>
  class moving_work
  {
  public:
    explicit moving_work(kernel<T> const& interaction) : k(interaction) {}
    moving_work(moving_work const&) = delete;
    moving_work& operator=(moving_work const&) = delete;
    virtual ~moving_work() = default;

    /// The step, where the task runs; one of the kernels is null.
    virtual void run(running_task const& task, moving_argument<T> const& argument,
                     p2p_kernels<T> const* on_cpu, cuda_kernels<T> const* on_gpu) = 0;

    kernel<T> const k;
    monitor watch;
  };

  /// The work of steps over points of Dim dimensions.
  template <class T, int Dim>
  class moving_work_of final : public moving_work<T>
  {
  public:
    moving_work_of(std::shared_ptr<moving_points<T, Dim>> of, kernel<T> const& interaction,
                   step_options const& how)
        : moving_work<T>(interaction), points(std::move(of)), options_(how)
    {}

    std::shared_ptr<moving_points<T, Dim>> const points;

    [[nodiscard]] bool has_one_set() const { return !points->y; }
    /// The buffers of the task.
    template <class... Buffers>
    [[nodiscard]] p2p_sides<T> sides(Buffers... of) const
    {
      p2p_form form{"near_field", p2p_roles::outer, options_.accumulate ? STARPU_RW : STARPU_W};
      if (has_one_set()) form.roles = p2p_roles::inner;
      return {form, *this->k.type, of...};
    }
    /// The form on CPUs. Throws nearfield::error for form mutual where there is none.
    [[nodiscard]] pair_form form_on_cpu() const
    {
      return nearfield::detail::choose_form("near_field", options_.form, backend::simd,
                                            form_case_of(1));
    }

    void run(running_task const& task, moving_argument<T> const& argument,
             p2p_kernels<T> const* on_cpu, cuda_kernels<T> const* on_gpu) override;

  private:
    [[nodiscard]] nearfield::detail::form_case form_case_of(int n_rhs) const
    {
      auto const& shape = *this->k.type;
      return {shape.name, shape.has_way_back, shape.n_out, has_one_set(), n_rhs};
    }
    void clear(p2p_sides<T> const& given, cuda_stream const* gpu) const noexcept;
    void run_on_gpu(p2p_sides<T> const& given, moving_argument<T> const& argument,
                    cuda_kernels<T> const& kernels, cuda_stream stream) const;
    void run_on_cpu(p2p_sides<T> const& given, moving_argument<T> const& argument,
                    p2p_kernels<T> const& kernels) const;

    step_options options_;
  };

  /// The codelet; its buffers have the p2p_roles inner or outer, with outputs that it may overwrite.
  template <class T>
  starpu_codelet& moving_codelet(kernel_type<T> const& k, backend_set backends);
}
