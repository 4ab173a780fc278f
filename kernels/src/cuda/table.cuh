#pragma once

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.cuh>

namespace nearfield::detail
{
  /// The CUDA kernels of entry `interaction` of the list.
  template <class T, class... Ks>
  cuda_kernels<T> nth_cuda_kernels(type_list<Ks...>, int interaction)
  {
    static cuda_kernels<T> const table[] = {make_cuda_kernels<Ks, T>()...};
    return table[interaction];
  }
}
