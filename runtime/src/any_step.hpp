#pragma once

#include <nearfield/starpu/kernel_of.hpp>
#include <nearfield/starpu/runtime.hpp>

namespace nearfield::starpu::detail
{
  /// GPUs, if that is automatic, the runtime has some and there are kernels for them.
  inline backend choose_backend(runtime const& starpu, kernel_shape const& k, backend wanted)
  {
    bool const can_use_gpus = k.has_cuda && starpu.n_gpus() > 0;
    return wanted == backend::automatic && can_use_gpus ? backend::cuda : wanted;
  }
}
