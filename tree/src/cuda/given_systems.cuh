#pragma once

#include "../systems.hpp"
#include "launch.cuh"
#include "system_grids.cuh"

#include <nearfield/cuda/device.hpp>

#include <algorithm>
#include <span>
#include <vector>

/// \file
/// Systems as they were given, on the device: kept from one list to the next if they are the same.

namespace nearfield::detail
{
  template <class T>
  __global__ void find_systems(system_start<T> const* starts, std::uint32_t n_systems,
                               bool are_targets, std::uint32_t n, std::uint32_t const* order,
                               std::uint32_t* of_position, std::uint32_t* of_point)
  {
    std::uint32_t const p = thread_index();
    if (p >= n) return;
    std::uint32_t const s =
        count_before(n_systems,
                     [&](std::uint32_t k)
                     {
                       system_start<T> const& end = starts[k + 1];
                       return (are_targets ? end.first_target : end.first_source) <= p;
                     });
    of_position[p] = s;
    if (order) of_point[order[p]] = s;
  }

  template <class T>
  device_array<T> device_copy_of(std::vector<T> const& values, cuda_stream stream, char const* what)
  {
    device_array<T> copy(values.size(), stream, what);
    copy.copy_from(values);
    return copy;
  }

  template <class V>
  bool are_equal(std::vector<V> const& kept, std::span<V const> given)
  {
    return std::equal(kept.begin(), kept.end(), given.begin(), given.end());
  }

  inline systems_of_set systems_in(std::span<index_type const> order, std::size_t n,
                                   cuda_stream stream)
  {
    systems_of_set of;
    char const* const what = "cuda_cell_list: systems";
    of.of_position = device_array<std::uint32_t>(n, stream, what);
    if (order.empty()) return of;
    of.of_point = device_array<std::uint32_t>(n, stream, what);
    of.order = device_array<std::uint32_t>(order, stream);
    return of;
  }

  template <class T, int Dim>
  std::shared_ptr<system_parts<T> const>
  parts_of(device_systems<T, Dim> const& before, systems<Dim> const& given,
           std::array<std::size_t, 2> const& n_points, bool one_set, cuda_stream stream)
  {
    auto const* const old = before.parts.get();
    if (old && are_equal<index_type>(old->offsets, given.offsets) &&
        are_equal<index_type>(old->query_offsets, given.query_offsets) &&
        are_equal<index_type>(old->order, given.order) &&
        are_equal<index_type>(old->query_order, given.query_order) &&
        are_equal<double>(old->cutoffs, given.cutoffs))
      return before.parts;
    executor& here = threads_or_here(nullptr);
    check_order(here, "cuda_cell_list", "order", given.order, given.offsets.back());
    if (!one_set)
      check_order(here, "cuda_cell_list", "query_order", given.query_order,
                  given.query_offsets.back());
    auto const parts = std::make_shared<system_parts<T>>();
    auto const keep = [](auto& to, auto const& from)
    {
      to.assign(from.begin(), from.end());
    };
    keep(parts->offsets, given.offsets);
    keep(parts->query_offsets, given.query_offsets);
    keep(parts->order, given.order);
    keep(parts->query_order, given.query_order);
    keep(parts->cutoffs, given.cutoffs);
    auto const& sources = parts->offsets;
    auto const& targets = one_set ? sources : parts->query_offsets;
    std::size_t const n = sources.size() - 1;
    std::vector<system_start<T>> starts(n + 1);
    for (std::size_t s = 0; s <= n; ++s)
      starts[s] = {s == n ? T(0) : static_cast<T>(given.cutoffs[given.cutoffs.size() == 1 ? 0 : s]),
                   targets[s], sources[s]};
    parts->starts = device_copy_of(starts, stream, "cuda_cell_list: systems");
    for (int set = 0; set < 2; ++set)
    {
      if (n_points[set] == 0) continue;
      auto& of = parts->sets[set];
      of = systems_in(set == 0 && !one_set ? parts->query_order : parts->order, n_points[set],
                      stream);
      auto const points = static_cast<std::uint32_t>(n_points[set]);
      find_systems<<<blocks_for(points, block_threads), block_threads, 0, stream>>>(
          parts->starts.data(), static_cast<std::uint32_t>(n), set == 0, points, of.order.data(),
          of.of_position.data(), of.of_point.data());
      check_cuda(cudaGetLastError(), "cuda_cell_list: find_systems");
    }
    return parts;
  }

  template <int Dim>
  bool are_same(cell<Dim> const& a, cell<Dim> const& b)
  {
    return a.vectors == b.vectors && a.periodic == b.periodic && a.origin == b.origin;
  }
  template <class T, int Dim>
  std::shared_ptr<system_frames<Dim> const> frames_of(device_systems<T, Dim> const& before,
                                                      std::span<cell<Dim> const> cells,
                                                      cuda_stream stream)
  {
    cell<Dim> const open;
    if (cells.empty()) cells = {&open, 1};
    if (before.frames && std::equal(cells.begin(), cells.end(), before.frames->cells.begin(),
                                    before.frames->cells.end(), are_same<Dim>))
      return before.frames;
    auto const made = std::make_shared<system_frames<Dim>>();
    made->cells.assign(cells.begin(), cells.end());
    std::vector<cell_frame<Dim>> frames(cells.size());
    for (std::size_t s = 0; s < cells.size(); ++s)
      in_system(s, [&] { frames[s] = frame_of(cells[s]); });
    made->frames = device_copy_of(frames, stream, "cuda_cell_list: cells");
    return made;
  }
}
