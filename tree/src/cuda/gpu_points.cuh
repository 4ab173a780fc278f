#pragma once

#include "gpu_points.hpp"
#include "launch.cuh"
#include "on_device.hpp"
#include "points.cuh"
#include "primitives.hpp"
#include "staging.hpp"
#include "tree_keys.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace nearfield::detail
{
  template <class T, int Dim>
  __global__ void keys_on_axes(device_points<T, Dim> points, device_axes<Dim> axes,
                               key_layout layout, std::uint64_t* keys, index_type* order)
  {
    std::uint32_t const i = thread_index();
    if (i >= points.n) return;
    keys[i] = axes.key(points, i, layout);
    order[i] = i;
  }

  template <class T, int Dim>
  class gpu_points<T, Dim>::device
  {
  public:
    device(int number, executor& on) : on_(on), number_(checked(number))
    {
      on_device const here(number_);
      bus_.emplace(on.workers());
      check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                 "gpu_points: cudaStreamCreate");
    }
    device(device const&) = delete;
    device& operator=(device const&) = delete;
    ~device()
    {
      on_device const here(number_);
      cudaStreamDestroy(stream_);
      static_cast<void>(cudaGetLastError());
    }

    void sort(strided<T const, Dim> const& points, std::array<key_axis, Dim> const& axes,
              key_layout const& layout, std::uint64_t* keys, index_type* order,
              std::array<T*, Dim> const& sorted)
    {
      on_device const here(number_);
      memory_guard const guard{most_kept_};
      sort_here(points, axes, layout, keys, order, sorted);
    }

  private:
    /// Returns memory to others, such as StarPU, which leaves a tenth of the GPU to us. A little stays for next time.
    struct memory_guard
    {
      std::uint64_t most_kept; ///< bytes

      ~memory_guard()
      {
        try
        {
          pool_memory const now = memory_of_pool();
          if (now.held - now.used > most_kept) trim_pool();
        }
        catch (error const&)
        {
          // the next call on this device will tell
        }
      }
    };

    [[nodiscard]] int checked(int number)
    {
      auto const found = gpus();
      if (number < 0 || static_cast<std::size_t>(number) >= found.size())
        throw error("gpu: found device " + std::to_string(number) + "; this process has " +
                        std::to_string(found.size()) + ", counted from 0",
                    error_kind::not_available);
      most_kept_ = found[static_cast<std::size_t>(number)].memory_bytes / 20;
      return number;
    }

    /// A column of the host, which the threads write.
    template <class V>
    static staged_column column_to(V* to, device_array<V>& from)
    {
      return {from.data(), from.size(), sizeof(V),
              [to](void* piece, std::size_t first, std::size_t n)
              {
                std::copy_n(static_cast<V const*>(piece), n, to + first);
              }};
    }

    void sort_here(strided<T const, Dim> const& points, std::array<key_axis, Dim> const& axes,
                   key_layout const& layout, std::uint64_t* keys, index_type* order,
                   std::array<T*, Dim> const& sorted)
    {
      char const* const what = "gpu_points: device memory";
      std::size_t const n = points.size();
      if (n == 0) return;
      // before anything crosses the bus
      if (n * std::max(Dim * sizeof(T) + 24, 2 * Dim * sizeof(T) + 12) > free_gpu_memory())
        throw error("gpu_points: too little device memory for " + std::to_string(n) + " points",
                    error_kind::out_of_memory);
      std::array<device_array<T>, Dim> x, x_sorted;
      std::array<T const*, Dim> from;
      std::array<T*, Dim> to;
      std::vector<staged_column> columns;
      for (int d = 0; d < Dim; ++d)
      {
        x[d] = device_array<T>(n, stream_, what);
        from[d] = x[d].data();
        columns.push_back({x[d].data(), n, sizeof(T),
                           [column = points[d]](void* piece, std::size_t first, std::size_t count)
                           {
                             T* const values = static_cast<T*>(piece);
                             for (std::size_t i = 0; i < count; ++i) values[i] = column[first + i];
                           }});
      }
      bus_->upload(on_, columns, stream_);
      device_array<std::uint64_t> key_of(n, stream_, what);
      device_array<index_type> place_of(n, stream_, what);
      keys_on_axes<T, Dim><<<blocks_for(n, block_threads), block_threads, 0, stream_>>>(
          device_points<T, Dim>(soa<T const, Dim>(from, n)), device_axes<Dim>(axes), layout,
          key_of.data(), place_of.data());
      check_cuda(cudaGetLastError(), "gpu_points: keys_on_axes");
      if (layout.level > 0) sort_by_key(key_of, place_of, Dim * layout.level, what);
      columns = {column_to(keys, key_of), column_to(order, place_of)};
      for (int d = 0; d < Dim; ++d)
      {
        x_sorted[d] = device_array<T>(n, stream_, what);
        to[d] = x_sorted[d].data();
        columns.push_back(column_to(sorted[d], x_sorted[d]));
      }
      device_gather<T>(stream_, place_of.data(), n, from.data(), to.data(), Dim);
      bus_->download(on_, columns, stream_);
    }

    executor& on_;
    std::uint64_t most_kept_ = 0; ///< bytes
    int number_;
    std::optional<staging> bus_;
    cudaStream_t stream_ = nullptr;
  };

  template <class T, int Dim>
  gpu_points<T, Dim>::gpu_points(int number, executor& on)
      : device_(std::make_unique<device>(number, on))
  {}
  template <class T, int Dim>
  gpu_points<T, Dim>::~gpu_points() = default;

  template <class T, int Dim>
  void gpu_points<T, Dim>::sort(strided<T const, Dim> const& points,
                                std::array<key_axis, Dim> const& axes, key_layout const& layout,
                                std::uint64_t* keys, index_type* order,
                                std::array<T*, Dim> const& sorted)
  {
    device_->sort(points, axes, layout, keys, order, sorted);
  }
}
