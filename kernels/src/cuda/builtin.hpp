#pragma once

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/job.hpp>

namespace nearfield::detail
{
  /// The CUDA kernels of a group, in its order; one file for each group and precision.
  template <class Group, class T>
  cuda_kernels<T> const* cuda_builtins();
}
