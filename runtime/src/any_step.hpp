#pragma once

#include <nearfield/p2p/tuning.hpp>
#include <nearfield/starpu/kernel_of.hpp>
#include <nearfield/starpu/runtime.hpp>

namespace nearfield::starpu::detail
{
  /// GPUs, if that is automatic, the runtime has some and there are kernels for them.
  inline backend choose_backend(runtime const& starpu, interaction_shape const& k, backend wanted)
  {
    bool const can_use_gpus = k.has_cuda && starpu.n_gpus() > 0;
    return wanted == backend::automatic && can_use_gpus ? backend::cuda : wanted;
  }

  /// What choose_form() goes by, but for sizes.
  inline nearfield::detail::form_case form_case_of(interaction_shape const& k, bool has_one_set,
                                                   int n_rhs)
  {
    nearfield::detail::form_case of{k.name, k.has_way_back, k.n_out, has_one_set, n_rhs};
    of.has_cutoff = k.has_cutoff;
    return of;
  }
}
