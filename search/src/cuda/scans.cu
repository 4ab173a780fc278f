#include "scans.hpp"

#include "scratch.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <utility>

namespace nearfield::detail
{
  namespace
  {
    template <class C>
    struct count_or_zero
    {
      C const* counts;
      std::uint64_t n;

      __host__ __device__ std::uint64_t operator()(std::uint64_t i) const
      {
        return i < n ? counts[i] : 0;
      }
    };
  }

  template <class Count>
  void scan_counts(Count const* counts, std::uint64_t* offsets, std::size_t n, cuda_stream stream)
  {
    exclusive_sum(count_or_zero<Count>{counts, n}, offsets, static_cast<std::int64_t>(n + 1),
                  stream, "radius_search: scan");
  }
  template void scan_counts(std::uint32_t const*, std::uint64_t*, std::size_t, cuda_stream);
  template void scan_counts(std::uint64_t const*, std::uint64_t*, std::size_t, cuda_stream);

  void sort_keys(device_array<std::uint64_t>& keys, device_array<unsigned short>& values)
  {
    cuda_stream const stream = keys.stream();
    char const* const what = "radius_search: sort";
    auto const n = static_cast<std::int64_t>(keys.size());
    device_array<std::uint64_t> sorted(keys.size(), stream, what);
    device_array<unsigned short> sorted_values(values.size(), stream, what);
    with_scratch(stream, what,
                 [&](void* scratch, std::size_t& bytes)
                 {
                   if (values.size() == 0)
                     return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys.data(),
                                                           sorted.data(), n, 0, 64, stream);
                   return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.data(),
                                                          sorted.data(), values.data(),
                                                          sorted_values.data(), n, 0, 64, stream);
                 });
    std::swap(keys, sorted);
    std::swap(values, sorted_values);
  }
}
