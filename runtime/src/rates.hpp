#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/starpu/kernel_of.hpp>

#include <cstddef>

namespace nearfield::starpu::detail
{
  /// Pairs of one interaction in one form.
  struct pair_work
  {
    interaction_shape const& k;
    std::size_t size_of_real;
    pair_form form;
    double points; ///< of a leaf or a box, on average
  };

  /// The directed pairs a second that one core (scalar, simd) or one GPU (cuda) computes of them, above 0.
  double rate_of(pair_work const& work, backend where);

  /// The number of StarPU's workers that share a GPU, at least 1.
  int workers_of_a_gpu();
}
