#include "primitives.hpp"

#include "geometry.hpp"
#include "starts.cuh"

#include <nearfield/cuda/device.hpp>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace nearfield::detail
{
  namespace
  {
    struct cell_load
    {
      std::uint32_t const* counts;
      std::uint32_t group;
      std::uint64_t cells;

      __host__ __device__ std::uint64_t operator()(std::uint64_t cell) const
      {
        if (cell >= cells) return 0;
        std::uint64_t load = counts[cell];
        if (cell % group == group - 1)
        {
          std::uint32_t points = 0;
          for (std::uint32_t k = 0; k < group; ++k) points += counts[cell - k];
          load += static_cast<std::uint64_t>((points + item_points - 1) / item_points) << 32;
        }
        return load;
      }
    };

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

    struct is_first_of_item
    {
      std::uint64_t const* keys;
      std::uint32_t n, group;

      __device__ bool operator()(std::uint32_t p) const
      {
        std::uint64_t const key = keys[p];
        return (p - lower_bound(keys, n, key - key % group)) % item_points == 0;
      }
    };

    /// CUB's way: the first call tells how much scratch the second one wants.
    template <class Call>
    void with_scratch(cuda_stream stream, char const* what, Call call)
    {
      std::size_t bytes = 0;
      check_cuda(call(nullptr, bytes), what);
      stream_array<char> const scratch(bytes + 1, stream, what);
      check_cuda(call(scratch.data(), bytes), what);
    }

    template <class Load>
    void scan(Load load, std::uint64_t* out, std::size_t n, cuda_stream stream)
    {
      auto const in =
          thrust::make_transform_iterator(thrust::make_counting_iterator(std::uint64_t(0)), load);
      with_scratch(stream, "radius_search: scan",
                   [&](void* scratch, std::size_t& bytes)
                   {
                     return cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out,
                                                          static_cast<std::int64_t>(n), stream);
                   });
    }
  }

  void scan_cells(std::uint32_t const* counts, std::uint64_t* starts, std::size_t cells,
                  std::uint32_t group, cuda_stream stream)
  {
    scan(cell_load{counts, group, cells}, starts, cells + 1, stream);
  }

  void scan_counts(std::uint32_t const* counts, std::uint64_t* offsets, std::size_t n,
                   cuda_stream stream)
  {
    scan(count_or_zero<std::uint32_t>{counts, n}, offsets, n + 1, stream);
  }

  void scan_counts(std::uint64_t const* counts, std::uint64_t* offsets, std::size_t n,
                   cuda_stream stream)
  {
    scan(count_or_zero<std::uint64_t>{counts, n}, offsets, n + 1, stream);
  }

  void sort_by_key(stream_array<std::uint64_t>& keys, stream_array<std::uint32_t>& values, int bits)
  {
    cuda_stream const stream = keys.stream();
    stream_array<std::uint64_t> sorted_keys(keys.size(), stream, "cuda_cell_list: sort");
    stream_array<std::uint32_t> sorted_values(values.size(), stream, "cuda_cell_list: sort");
    with_scratch(stream, "cuda_cell_list: sort",
                 [&](void* scratch, std::size_t& bytes)
                 {
                   return cub::DeviceRadixSort::SortPairs(
                       scratch, bytes, keys.data(), sorted_keys.data(), values.data(),
                       sorted_values.data(), static_cast<std::int64_t>(keys.size()), 0, bits,
                       stream);
                 });
    keys.swap(sorted_keys);
    values.swap(sorted_values);
  }

  void sort_keys(stream_array<std::uint64_t>& keys, int bits)
  {
    cuda_stream const stream = keys.stream();
    stream_array<std::uint64_t> sorted(keys.size(), stream, "radius_search: sort");
    with_scratch(stream, "radius_search: sort",
                 [&](void* scratch, std::size_t& bytes)
                 {
                   return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys.data(), sorted.data(),
                                                         static_cast<std::int64_t>(keys.size()), 0,
                                                         bits, stream);
                 });
    keys.swap(sorted);
  }

  void select_items(std::uint64_t const* keys, std::uint32_t* places, std::uint32_t* count,
                    std::size_t n, std::uint32_t group, cuda_stream stream)
  {
    auto const all = thrust::make_counting_iterator(std::uint32_t(0));
    is_first_of_item const is_first{keys, static_cast<std::uint32_t>(n), group};
    with_scratch(stream, "cuda_cell_list: items",
                 [&](void* scratch, std::size_t& bytes)
                 {
                   return cub::DeviceSelect::If(scratch, bytes, all, places, count,
                                                static_cast<std::int64_t>(n), is_first, stream);
                 });
  }
}
