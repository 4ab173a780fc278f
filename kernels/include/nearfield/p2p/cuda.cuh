#pragma once

/// \file
/// The CUDA back-end of an interaction, for .cu files: the launches, and the macro that compiles them for a
/// user-defined interaction.

#include <nearfield/p2p/cuda_gather.cuh>
#include <nearfield/p2p/cuda_mutual_box.cuh>

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <type_traits>

namespace nearfield::detail
{
  inline int multiprocessors()
  {
    int device = 0, n = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device);
    return n;
  }

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

  template <class K, class T>
  int launch_gather(void const* interaction, cuda_job<T> const& from) noexcept
  {
    device_job<K, T> job(from);
    if (!from.items)
    {
      // one box: enough pieces and parts to fill the GPU
      index_type const wanted = 8 * static_cast<index_type>(multiprocessors());
      constexpr index_type most_parts = 8;
      index_type const n = from.n_targets;
      // the own points of an item must fit in one tile
      constexpr index_type most_targets = std::bit_floor(static_cast<index_type>(
          std::min(gather_most_targets, gather_box<K, T>::memory::tile_size)));
      job.piece = n / most_targets >= wanted                  ? most_targets
                  : n / gather_targets * most_parts >= wanted ? gather_targets
                                                              : gather_least_targets;
      job.n_wide = job.n_items = (n + job.piece - 1) / job.piece;
      if (has_clusters(gather_box_kernel<K, T>))
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
    how.blockDim = dim3(from.items ? gather_threads : gather_box<K, T>::threads);
    how.stream = reinterpret_cast<cudaStream_t>(from.stream);
    how.attrs = &cluster;
    how.numAttrs = job.parts > 1 ? 1 : 0;
    auto* const kernel = from.items ? gather_kernel<K, T> : gather_box_kernel<K, T>;
    int const code = cudaLaunchKernelEx(&how, kernel, job, *static_cast<K const*>(interaction));
    // clear the recorded error, or the next launch would report it
    if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
    return code;
  }

  template <class K, class T>
  int launch_mutual(void const* interaction, cuda_job<T> const& from) noexcept
  {
    device_job<K, T> job(from);
    K const& k = *static_cast<K const*>(interaction);
    auto const stream = reinterpret_cast<cudaStream_t>(from.stream);
    constexpr index_type warps = mutual_threads / 32;
    if (!from.items)
    {
      index_type const wanted = 16 * static_cast<index_type>(multiprocessors());
      job.piece = mutual_targets_of_item * warps;
      job.n_items = (from.n_targets + job.piece - 1) / job.piece;
      // at least one tile of sources per part
      index_type const most_parts = (from.n_sources + mutual_threads - 1) / mutual_threads;
      while (2 * job.parts <= most_parts && job.n_items * job.parts < wanted) job.parts *= 2;
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

  /// Instantiates the CUDA kernels of K in precision T.
  template <class K, class T>
  cuda_kernels<T> make_cuda_kernels()
  {
    static_assert(std::is_trivially_copyable_v<K>,
                  "an interaction is copied to the GPU byte by byte: give it members of trivially "
                  "copyable types");
    cuda_kernels<T> kernels;
    kernels.gather = &launch_gather<K, T>;
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
  nearfield::cuda_kernels<float> nearfield::detail::own_cuda_kernels<__VA_ARGS__, float>()         \
  {                                                                                                \
    return make_cuda_kernels<__VA_ARGS__, float>();                                                \
  }                                                                                                \
  template <>                                                                                      \
  nearfield::cuda_kernels<double> nearfield::detail::own_cuda_kernels<__VA_ARGS__, double>()       \
  {                                                                                                \
    return make_cuda_kernels<__VA_ARGS__, double>();                                               \
  }
