#pragma once

/// \file
/// The CUDA back-end of an interaction, for .cu files: the launches, and the macro that compiles them for a
/// user-defined interaction.

#include <nearfield/cuda/device.hpp>
#include <nearfield/p2p/cuda_gather_several.cuh>
#include <nearfield/p2p/cuda_mutual_box.cuh>
#include <nearfield/p2p/cuda_mutual_several.cuh>

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <type_traits>

namespace nearfield::detail
{
  /// Whether the code that this device runs for a kernel was compiled for an architecture with clusters (9.0
  /// or newer): a newer device may run code for an older one.
  template <class Kernel>
  bool has_clusters(Kernel* kernel)
  {
    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess)
    {
      static_cast<void>(cudaGetLastError());
      return false;
    }
    return attributes.ptxVersion >= 90;
  }

  /// Launches the one-sided pass of the right-hand sides from number `first` on: `lists` is the kernel for lists,
  /// `boxes` that for one box, with blocks of threads_of_box and items of at most most_targets.
  template <class K, class T, class Columns>
  int launch_gather_pass(K const& k, cuda_job<T> const& from, int first,
                         void (*lists)(device_job<Columns, T>, K),
                         void (*boxes)(device_job<Columns, T>, K), int threads_of_box,
                         index_type most_targets)
  {
    device_job<Columns, T> job(from, first);
    if (!from.items)
    {
      // one box: enough pieces and parts to fill the GPU
      index_type const wanted = 8 * multiprocessors();
      constexpr index_type most_parts = 8;
      index_type const n = from.n_targets;
      job.piece = n / most_targets >= wanted                  ? most_targets
                  : n / gather_targets * most_parts >= wanted ? gather_targets
                                                              : gather_least_targets;
      job.n_wide = job.n_items = (n + job.piece - 1) / job.piece;
      if (has_clusters(boxes))
        while (job.parts < most_parts && job.n_items * job.parts < wanted) job.parts *= 2;
    }
    if (job.n_items == 0) return cudaSuccess;
    constexpr index_type warps = gather_threads / 32;
    index_type const n_narrow = job.n_items - job.n_wide - job.n_medium;
    index_type const blocks = job.n_wide + (job.n_medium + 1) / 2 + (n_narrow + warps - 1) / warps;

    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = job.parts;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t how{};
    how.gridDim = dim3(blocks * job.parts);
    how.blockDim = dim3(from.items ? gather_threads : threads_of_box);
    how.stream = reinterpret_cast<cudaStream_t>(from.stream);
    how.attrs = &cluster;
    how.numAttrs = job.parts > 1 ? 1 : 0;
    int const code = cudaLaunchKernelEx(&how, from.items ? lists : boxes, job, k);
    // clear the recorded error, or the next launch would report it
    if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
    return code;
  }

  template <class K, class T>
  int launch_gather(void const* interaction, cuda_job<T> const& from) noexcept
  {
    K const& k = *static_cast<K const*>(interaction);
    constexpr int width =
        right_hand_sides_of_pass(sizeof(T), point_columns<K>, K::n_in, K::n_out, false);
    int code = cudaSuccess, first = 0;
    if constexpr (width > 1)
      for (; code == cudaSuccess && from.n_rhs - first > right_hand_sides_one_by_one(K::n_out);
           first += width)
      {
        auto* const kernel = gather_several_kernel<K, T, several<K, width>>;
        code = launch_gather_pass(k, from, first, kernel, kernel, gather_threads, gather_targets);
      }
    // the own points of an item must fit in one tile
    constexpr index_type most_targets = std::bit_floor(static_cast<index_type>(
        std::min(gather_most_targets, gather_box<K, T>::memory::tile_size)));
    for (; code == cudaSuccess && first < from.n_rhs; ++first)
      code = launch_gather_pass(k, from, first, gather_kernel<K, T>, gather_box_kernel<K, T>,
                                gather_box<K, T>::threads, most_targets);
    return code;
  }

  /// Sets the parts that the items of one box are met in, so that about `wanted` of them fill the GPU, each with
  /// at least `least` sources.
  template <class Columns, class T>
  void cut_box(device_job<Columns, T>& job, index_type piece, index_type wanted, index_type least)
  {
    job.piece = piece;
    job.n_items = (job.n_targets + piece - 1) / piece;
    index_type const most_parts = (job.n_sources + least - 1) / least;
    while (2 * job.parts <= most_parts && job.n_items * job.parts < wanted) job.parts *= 2;
  }

  template <class K, class T>
  int launch_mutual_one(K const& k, cuda_job<T> const& from, int first)
  {
    device_job<K, T> job(from, first);
    auto const stream = reinterpret_cast<cudaStream_t>(from.stream);
    constexpr index_type warps = mutual_threads / 32;
    if (!from.items)
    {
      cut_box(job, mutual_targets_of_item * warps, 16 * multiprocessors(), mutual_threads);
      if (job.n_items > 0)
        mutual_box_kernel<K, T><<<job.n_items * job.parts, mutual_threads, 0, stream>>>(job, k);
    }
    else if (job.n_items > 0)
    {
      index_type const blocks = (job.n_items + warps - 1) / warps;
      bool const tested = job.always_tests || (from.ranges_may_coincide && job.tests_own_points());
      if (tested)
        mutual_kernel<true, K, T><<<blocks, mutual_threads, 0, stream>>>(job, k);
      else
        mutual_kernel<false, K, T><<<blocks, mutual_threads, 0, stream>>>(job, k);
    }
    return cudaGetLastError();
  }

  template <class K, class T>
  int launch_mutual_pass(K const& k, cuda_job<T> const& from, int first)
  {
    using shape = mutual_several<K, T>;
    device_job<typename shape::columns, T> job(from, first);
    if (!from.items) cut_box(job, shape::most_targets, 64 * multiprocessors(), 128);
    dim3 const warps(job.n_items, from.items ? shape::most_pieces : job.parts);
    if (job.n_items > 0)
      mutual_several_kernel<K, T, typename shape::columns>
          <<<warps, 32, 0, reinterpret_cast<cudaStream_t>(from.stream)>>>(job, k);
    return cudaGetLastError();
  }

  template <class K, class T>
  int launch_mutual(void const* interaction, cuda_job<T> const& from) noexcept
  {
    K const& k = *static_cast<K const*>(interaction);
    constexpr int width =
        right_hand_sides_of_pass(sizeof(T), point_columns<K>, K::n_in, K::n_out, true);
    int code = cudaSuccess, first = 0;
    if constexpr (width > 1)
      for (; code == cudaSuccess && from.n_rhs - first > right_hand_sides_one_by_one(K::n_out);
           first += width)
        code = launch_mutual_pass(k, from, first);
    for (; code == cudaSuccess && first < from.n_rhs; ++first)
      code = launch_mutual_one(k, from, first);
    return code;
  }

  /// Instantiates the CUDA kernels of K in precision T.
  template <class K, class T>
  cuda_kernels<T> make_cuda_kernels()
  {
    static_assert(std::is_trivially_copyable_v<K>,
                  "an interaction is copied to the GPU byte by byte: give it members of trivially "
                  "copyable types");
    cuda_kernels<T> kernels;
    kernels.one_sided = &launch_gather<K, T>;
    if constexpr (has_way_back<K>) kernels.mutual = &launch_mutual<K, T>;
    return kernels;
  }
}

/// Compiles the CUDA kernels of a user-defined interaction, in float and double. Write it at global
/// scope, in one .cu file:
///
///     NEARFIELD_CUDA_KERNELS(my::softened)
#define NEARFIELD_CUDA_KERNELS(...)                                                                \
  template <>                                                                                      \
  nearfield::detail::cuda_kernels<float> nearfield::detail::own_cuda_kernels<__VA_ARGS__, float>() \
  {                                                                                                \
    return make_cuda_kernels<__VA_ARGS__, float>();                                                \
  }                                                                                                \
  template <>                                                                                      \
  nearfield::detail::cuda_kernels<double>                                                          \
  nearfield::detail::own_cuda_kernels<__VA_ARGS__, double>()                                       \
  {                                                                                                \
    return make_cuda_kernels<__VA_ARGS__, double>();                                               \
  }
