#pragma once

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstddef>
#include <cstdint>

namespace nearfield::detail
{
  /// As CUB requires: the first call returns the size of the scratch memory for the second. Memory that is large enough is
  /// used again.
  template <class Call>
  void with_scratch(cuda_stream stream, char const* what, Call call, device_array<char>& scratch)
  {
    std::size_t bytes = 0;
    check_cuda(call(nullptr, bytes), what);
    if (scratch.size() <= bytes) scratch = device_array<char>(bytes + 1, stream, what);
    check_cuda(call(scratch.data(), bytes), what);
  }
  template <class Call>
  void with_scratch(cuda_stream stream, char const* what, Call call)
  {
    device_array<char> scratch;
    with_scratch(stream, what, call, scratch);
  }

  /// out[i] = load(0) + ... + load(i - 1), for i = 0 ... n - 1.
  template <class Load, class Index>
  void exclusive_sum(Load load, std::uint64_t* out, Index n, cuda_stream stream, char const* what,
                     device_array<char>& memory)
  {
    auto const in = thrust::make_transform_iterator(thrust::make_counting_iterator(Index(0)), load);
    with_scratch(
        stream, what, [&](void* scratch, std::size_t& bytes)
        { return cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, n, stream); }, memory);
  }
  template <class Load, class Index>
  void exclusive_sum(Load load, std::uint64_t* out, Index n, cuda_stream stream, char const* what)
  {
    device_array<char> memory;
    exclusive_sum(load, out, n, stream, what, memory);
  }

  /// Writes the numbers below n that are wanted to `out`, ascending, and how many there are to *count (device memory).
  template <class Wanted>
  void select_numbers(std::size_t n, Wanted const& wanted, std::uint32_t* out, std::uint32_t* count,
                      cuda_stream stream, char const* what)
  {
    auto const all = thrust::make_counting_iterator(std::uint32_t(0));
    with_scratch(stream, what,
                 [&](void* scratch, std::size_t& bytes)
                 {
                   return cub::DeviceSelect::If(scratch, bytes, all, out, count,
                                                static_cast<std::int64_t>(n), wanted, stream);
                 });
  }
}
