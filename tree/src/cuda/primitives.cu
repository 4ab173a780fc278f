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
      cell_counts of;

      __device__ std::uint32_t group() const { return of.group_found ? *of.group_found : of.group; }
      /// Calls f with the cells of a group.
      template <class F>
      __device__ void for_each_cell(std::uint32_t g, F const& f) const
      {
        std::uint32_t const n = group();
        std::uint64_t const first = std::uint64_t(g) * n;
        std::uint64_t const end = min(first + n, std::uint64_t(of.cells));
        for (std::uint64_t cell = first; cell < end; ++cell) f(cell);
      }
      __device__ std::uint64_t operator()(std::uint32_t g) const
      {
        std::uint32_t points = 0;
        for_each_cell(g, [&](std::uint64_t cell) { points += of.counts[cell]; });
        return static_cast<std::uint64_t>((points + item_points - 1) / item_points) << 32 | points;
      }
    };

    constexpr int table_threads = 256;

    /// Writes the cells and items of a group, from the loads before it; the thread after the
    /// last group writes the ends.
    __global__ void fill_table(group_load const load, std::uint64_t const* before, cell_table to)
    {
      std::uint32_t const g = blockIdx.x * table_threads + threadIdx.x;
      std::uint32_t const group = load.group(), cells = load.of.cells;
      std::uint32_t const groups = (cells + group - 1) / group;
      if (g > groups) return;
      auto item = static_cast<std::uint32_t>(before[g] >> 32);
      auto const begin = static_cast<std::uint32_t>(before[g]);
      if (g == groups)
      {
        to.starts[cells] = begin;
        to.item_begin[item] = begin;
        to.item_cell[item] = ~0u;
        __threadfence_system(); // after what earlier kernels told the host
        *to.n_items = item + 1;
        return;
      }
      std::uint32_t at = begin, p = begin;
      load.for_each_cell(g,
                         [&](std::uint64_t cell)
                         {
                           to.starts[cell] = at;
                           at += load.of.counts[cell];
                           for (; p < at; p += item_points, ++item)
                           {
                             to.item_begin[item] = p;
                             to.item_cell[item] = static_cast<std::uint32_t>(cell);
                             if (to.item_system) to.item_system[item] = to.system_of_position[p];
                           }
                         });
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

  void scan_cells(cell_counts const& of, cell_table const& to, scan_memory& memory,
                  cuda_stream stream)
  {
    group_load const load{of};
    // groups of at least one cell, and the end
    std::uint32_t const n = (of.group_found ? of.cells : of.cells / of.group) + 1;
    if (memory.before.size() < n)
      memory.before = device_array<std::uint64_t>(n, stream, "cuda_cell_list: cells");
    exclusive_sum(load, memory.before.data(), n, stream, "cuda_cell_list: cells", memory.scratch);
    fill_table<<<blocks_for(n, table_threads), table_threads, 0, stream>>>(
        load, memory.before.data(), to);
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
