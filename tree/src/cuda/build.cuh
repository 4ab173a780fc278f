#pragma once

#include "launch.cuh"
#include "points.cuh"
#include "sorted_points.cuh"

#include <cstdint>

/// \file
/// Kernels that sort points by cell. Few cells: a histogram whose atomics give each point a rank in its cell,
/// a scan, and a scatter. These atomics leave the order inside cells to chance; rank_points corrects it when
/// a search needs it. Many or crowded cells: a stable radix sort.

namespace nearfield::detail
{
  /// Cells of more points than this are sorted by radix sort, since the cost of rank_points is quadratic.
  inline constexpr std::uint32_t crowd = 512;

  /// Whether the cells fit into the memory for them, as *fits says; null: they do.
  __device__ inline bool do_fit(std::uint32_t const* fits)
  {
    return !fits || *fits != 0;
  }

  /// *crowded is in host memory, and is seldom written; null: nobody asks. Brings the records to come into the cache: a
  /// write of half a sector reads memory first, unless the sector is there.
  template <class T, int Dim, class Cells>
  __global__ void count_cells(device_points<T, Dim> points, __grid_constant__ Cells const cells,
                              std::uint32_t const* fits, std::uint32_t* counts, cell_rank* ranks,
                              uint4* records, std::uint32_t volatile* crowded)
  {
    std::uint32_t const i = thread_index();
    if (i >= points.n || !do_fit(fits)) return;
    records[i] = {};
    auto const cell = static_cast<std::uint32_t>(cells.key(points, i));
    std::uint32_t const rank = atomicAdd(counts + cell, 1u);
    ranks[i] = {cell, rank};
    if (rank >= crowd && crowded) *crowded = 1;
  }

  /// Writes the records in the order of cells.
  template <class T, int Dim, class Cells>
  __global__ void scatter_points(device_points<T, Dim> points, __grid_constant__ Cells const cells,
                                 std::uint32_t const* fits, cell_rank const* ranks,
                                 std::uint32_t const* starts, uint4* records)
  {
    std::uint32_t const i = thread_index();
    if (i >= points.n || !do_fit(fits)) return;
    cell_rank const my = ranks[i];
    records[starts[my.cell] + my.rank] = cells.record(points, i);
  }

  /// Sorts inside each cell by index, and writes the order too.
  static __global__ void rank_points(uint4 const* __restrict__ in,
                                     cell_rank const* __restrict__ ranks,
                                     std::uint32_t const* __restrict__ starts, std::uint32_t n,
                                     std::uint32_t const* fits, uint4* __restrict__ records,
                                     std::uint32_t* __restrict__ order)
  {
    std::uint32_t const p = thread_index();
    if (p >= n || !do_fit(fits)) return;
    uint4 const record = in[p];
    std::uint32_t const cell = ranks[record.w].cell, begin = starts[cell], end = starts[cell + 1];
    std::uint32_t place = begin;
    for (std::uint32_t q = begin; q < end; ++q) place += __ldg(&in[q].w) < record.w;
    records[place] = record;
    order[place] = record.w;
  }

  template <class T, int Dim, class Cells>
  __global__ void keys_of_points(device_points<T, Dim> points, __grid_constant__ Cells const cells,
                                 std::uint64_t* keys, std::uint32_t* order)
  {
    std::uint32_t const i = thread_index();
    if (i >= points.n) return;
    keys[i] = cells.key(points, i);
    order[i] = i;
  }

  template <class T, int Dim, class Cells>
  __global__ void gather_records(device_points<T, Dim> points, __grid_constant__ Cells const cells,
                                 std::uint32_t const* order, uint4* records)
  {
    std::uint32_t const p = thread_index();
    if (p < points.n) records[p] = cells.record(points, order[p]);
  }

  /// For points sorted by key: the cell of the first point of each item.
  static __global__ void cells_of_items(std::uint64_t const* keys, std::uint32_t n_items,
                                        std::uint32_t n_points, std::uint32_t* item_begin,
                                        std::uint64_t* item_cell)
  {
    std::uint32_t const item = thread_index();
    if (item == n_items) item_begin[item] = n_points;
    if (item <= n_items)
      item_cell[item] = item < n_items ? keys[item_begin[item]] : ~std::uint64_t(0);
  }

  /// The system of each item, which is that of its first point.
  static __global__ void systems_of_items(std::uint32_t const* item_begin,
                                          std::uint32_t const* of_position, std::uint32_t n_items,
                                          std::uint32_t* item_system)
  {
    std::uint32_t const item = thread_index();
    if (item < n_items) item_system[item] = of_position[item_begin[item]];
  }
}
