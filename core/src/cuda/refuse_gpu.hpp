#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

namespace nearfield::detail
{
  /// What a build without CUDA answers to whoever wants a GPU.
  [[noreturn]] inline void refuse_gpu()
  {
    throw error("cuda: " + cuda_problem(), error_kind::not_available);
  }
}
