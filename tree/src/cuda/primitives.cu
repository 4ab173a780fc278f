#include "primitives.hpp"

#include "geometry.hpp"
#include "scratch.cuh"
#include "starts.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <utility>

namespace nearfield::detail
{
  namespace
  {
    /// Items << 32 | points of a group of cells; 0 after the last group.
    struct group_load
    {
      std::uint32_t const* counts;
      std::uint32_t group, groups;

      __device__ std::uint64_t operator()(std::uint32_t g) const
      {
        if (g >= groups) return 0;
        std::uint32_t points = 0;
        for (std::uint32_t k = 0; k < group; ++k) points += counts[g * group + k];
        return static_cast<std::uint64_t>((points + item_points - 1) / item_points) << 32 | points;
      }
    };

    constexpr int table_threads = 256;

    /// Writes the cells and items of a group, from the loads before it; the thread after the
    /// last group writes the ends.
    __global__ void fill_table(group_load const load, std::uint64_t const* before, cell_table to)
    {
      std::uint32_t const g = blockIdx.x * table_threads + threadIdx.x;
      if (g > load.groups) return;
      auto item = static_cast<std::uint32_t>(before[g] >> 32);
      auto const begin = static_cast<std::uint32_t>(before[g]);
      std::uint32_t const first = g * load.group;
      if (g == load.groups)
      {
        to.starts[first] = begin;
        to.item_begin[item] = begin;
        __threadfence_system(); // after what earlier kernels told the host
        *to.items_for_host = item + 1;
        return;
      }
      std::uint32_t at = begin;
      for (std::uint32_t k = 0; k < load.group; ++k)
      {
        to.starts[first + k] = at;
        at += load.counts[first + k];
      }
      for (std::uint32_t p = begin; p < at; p += item_points, ++item)
      {
        to.item_begin[item] = p;
        to.item_cell[item] = first;
      }
    }

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
  }

  void scan_cells(std::uint32_t const* counts, cell_table const& to, std::size_t cells,
                  std::uint32_t group, cuda_stream stream)
  {
    group_load const load{counts, group, static_cast<std::uint32_t>(cells / group)};
    device_array<std::uint64_t> before(load.groups + std::size_t(1), stream,
                                       "cuda_cell_list: cells");
    exclusive_sum(load, before.data(), load.groups + 1, stream, "cuda_cell_list: cells");
    fill_table<<<load.groups / table_threads + 1, table_threads, 0, stream>>>(load, before.data(),
                                                                              to);
    check_cuda(cudaGetLastError(), "cuda_cell_list: fill_table");
  }

  void sort_by_key(device_array<std::uint64_t>& keys, device_array<std::uint32_t>& values, int bits,
                   char const* what)
  {
    cuda_stream const stream = keys.stream();
    std::size_t const n = keys.size();
    device_array<std::uint64_t> other_keys(n, stream, what);
    device_array<std::uint32_t> other_values(n, stream, what);
    cub::DoubleBuffer<std::uint64_t> key_buffer(keys.data(), other_keys.data());
    cub::DoubleBuffer<std::uint32_t> value_buffer(values.data(), other_values.data());
    with_scratch(stream, what,
                 [&](void* scratch, std::size_t& bytes)
                 {
                   return cub::DeviceRadixSort::SortPairs(scratch, bytes, key_buffer, value_buffer,
                                                          static_cast<std::int64_t>(n), 0, bits,
                                                          stream);
                 });
    // after an odd number of passes
    auto const copy_back = [&](auto& to, auto const* sorted)
    {
      if (sorted != to.data())
        check_cuda(cudaMemcpyAsync(to.data(), sorted, n * sizeof *sorted, cudaMemcpyDeviceToDevice,
                                   stream),
                   what);
    };
    copy_back(keys, key_buffer.Current());
    copy_back(values, value_buffer.Current());
  }

  void select_items(std::uint64_t const* keys, std::uint32_t* places, std::uint32_t* count,
                    std::size_t n, std::uint32_t group, cuda_stream stream)
  {
    select_numbers(n, is_first_of_item{keys, static_cast<std::uint32_t>(n), group}, places, count,
                   stream, "cuda_cell_list: items");
  }
}
