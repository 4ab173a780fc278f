#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/kernel_of.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace nearfield::starpu::detail
{
  /// What a near_field is made of: a step over the caller's columns (step.hpp), or over a tree whose points move
  /// (moving_step.cpp). Functions do what those of near_field with the same names say.
  template <class T>
  class any_step
  {
  public:
    virtual ~any_step() = default;

    virtual void submit() = 0;
    virtual void deliver() = 0;
    virtual void wait() = 0;
    virtual void wait_for_inputs() = 0;
    virtual void positions_changed() = 0;
    virtual void inputs_changed() = 0;
    [[nodiscard]] virtual pair_form form() const = 0;
    [[nodiscard]] virtual std::size_t n_tasks() const = 0;
    [[nodiscard]] virtual std::vector<worker_tasks> statistics() const = 0;
  };

  /// GPUs, if that is automatic, the runtime has some and there are kernels for them.
  inline backend choose_backend(runtime const& starpu, interaction_shape const& k, backend wanted)
  {
    bool const can_use_gpus = k.has_cuda && starpu.n_gpus() > 0;
    return wanted == backend::automatic && can_use_gpus ? backend::cuda : wanted;
  }
}
