#pragma once

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstddef>
#include <cstdint>

namespace nearfield::detail
{
  /// As CUB requires: the first call returns the size of the scratch memory for the second.
  template <class Call>
  void with_scratch(cuda_stream stream, char const* what, Call call)
  {
    std::size_t bytes = 0;
    check_cuda(call(nullptr, bytes), what);
    device_array<char> scratch(bytes + 1, stream, what);
    check_cuda(call(scratch.data(), bytes), what);
  }

  /// out[i] = load(0) + ... + load(i - 1), for i = 0 ... n - 1.
  template <class Load, class Index>
  void exclusive_sum(Load load, std::uint64_t* out, Index n, cuda_stream stream, char const* what)
  {
    auto const in = thrust::make_transform_iterator(thrust::make_counting_iterator(Index(0)), load);
    with_scratch(stream, what,
                 [&](void* scratch, std::size_t& bytes)
                 { return cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, n, stream); });
  }
}
