#pragma once

#include "cells.cuh"
#include "device_search_run.cuh"
#include "expand.hpp"
#include "launch.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/search/pairs.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

/// \file
/// Columns that are made of pairs once these are written: distances, displacements, images, indices of any width.

namespace nearfield::detail
{
  /// A column of indices of 32 or 64 bits.
  struct index_places
  {
    void* first;
    std::ptrdiff_t stride;
    bool is_wide;

    __device__ void put(std::uint64_t p, std::uint32_t index) const
    {
      auto const at = static_cast<std::ptrdiff_t>(p) * stride;
      if (is_wide)
        __stcs(static_cast<std::uint64_t*>(first) + at, std::uint64_t(index));
      else
        __stcs(static_cast<std::uint32_t*>(first) + at, index);
    }
  };

  /// The columns that are made of pairs once these are written; null: not asked for.
  template <class T, int Dim>
  struct made_columns
  {
    index_places i, j;
    strided_column<T> r2, r;
    std::array<strided_column<T>, Dim> displacements, to_j;
    std::array<strided_column<std::int32_t>, Dim> images;
    strided_column<std::uint32_t> packed;
    std::uint32_t* too_large; ///< becomes 1 if an image cannot be packed

    [[nodiscard]] __host__ __device__ bool have_geometry() const
    {
      return r2.first || r.first || displacements[0].first || to_j[0].first;
    }
    [[nodiscard]] __host__ __device__ bool have_images() const
    {
      return images[0].first || packed.first;
    }
    [[nodiscard]] bool any() const
    {
      return i.first || j.first || have_geometry() || have_images();
    }
  };

  /// What images are made of: counters by shift, and those of points by index; null where there are none.
  template <int Dim>
  struct image_parts
  {
    image_counters<Dim> const* of_shifts;
    counters_of_points<Dim> of_targets, of_sources;

    /// `first_image`: where the images of a system begin.
    __device__ image_counters<Dim> image(std::uint32_t i, std::uint32_t j, std::uint32_t shift,
                                         std::uint32_t first_image) const
    {
      image_counters<Dim> sum{}, of_point{};
      if (shift != 0)
        for (int a = 0; a < Dim; ++a) sum[a] = of_shifts[first_image + shift][a];
      if (of_targets.any())
      {
        of_point = of_targets[i];
        for (int a = 0; a < Dim; ++a) sum[a] += of_point[a];
      }
      if (of_sources.any())
      {
        of_point = of_sources[j];
        for (int a = 0; a < Dim; ++a) sum[a] -= of_point[a];
      }
      return sum;
    }
  };

  template <class V>
  __device__ void put(strided_column<V> const& column, std::uint64_t p, V value)
  {
    if (column.first) __stcs(&column[p], value);
  }
  __device__ inline float rounded_root(float x)
  {
    return __fsqrt_rn(x);
  }
  __device__ inline double rounded_root(double x)
  {
    return __dsqrt_rn(x);
  }

  /// Of a batch, system_of_target is the system of each target.
  template <class T, int Dim, bool Batch>
  __global__ void make_columns(__grid_constant__ pair_definition<T, Dim> const pair,
                               __grid_constant__ image_parts<Dim> const images,
                               std::uint32_t const* system_of_target, pair_columns const of,
                               written_pairs const written,
                               __grid_constant__ made_columns<T, Dim> const to)
  {
    bool const geometry = to.have_geometry(), from_words = of.images.packed,
               from_points = to.have_images() && !from_words,
               reads_system = Batch && (geometry || from_points),
               reads_i = to.i.first || geometry || reads_system ||
                         (from_points && images.of_targets.any()),
               reads_j = to.j.first || geometry || (from_points && images.of_sources.any());
    std::uint64_t const stride = gridDim.x * std::uint64_t(block_threads), n = written.n();
    for (std::uint64_t p = blockIdx.x * std::uint64_t(block_threads) + threadIdx.x; p < n;
         p += stride)
    {
      std::uint32_t const i = reads_i ? of.i[p] : 0, j = reads_j ? of.j[p] : 0,
                          shift = of.images.shift ? of.images.shift[p] : 0;
      std::uint32_t const s = reads_system ? system_of_target[i] : 0;
      if (to.i.first) to.i.put(p, i);
      if (to.j.first) to.j.put(p, j);
      if (geometry)
      {
        pair_system<T, Dim> const system = pair.template system<Batch>(s);
        T const r2 = pair.distance_squared(system, i, j, shift);
        put(to.r2, p, r2);
        if (to.r.first) put(to.r, p, rounded_root(r2));
#pragma unroll
        for (int a = 0; a < Dim; ++a)
        {
          T const d = pair.difference(system, a, i, j, shift) + T(0); // -0 becomes 0
          put(to.displacements[a], p, d);
          put(to.to_j[a], p, T(0) - d);
        }
      }
      if (!to.have_images()) continue;
      image_counters<Dim> image;
      if (from_words)
      {
        std::uint32_t const word = __ldcs(of.images.packed + p);
#pragma unroll
        for (int a = 0; a < Dim; ++a) image[a] = counter_of_word(word, a);
      }
      else
        image = images.image(i, j, shift, Batch ? pair.systems[s].first_image : 0);
#pragma unroll
      for (int a = 0; a < Dim; ++a) put(to.images[a], p, image[a]);
      if (to.packed.first)
      {
        if (!fits_word(image)) *to.too_large = 1;
        put(to.packed, p, packed_word(image));
      }
    }
  }

  /// What points add to words of images, by position (image_output).
  template <int Dim>
  __global__ void words_of_points(counters_of_points<Dim> const counters,
                                  std::uint32_t const* order, std::uint32_t n, std::uint32_t* words)
  {
    std::uint32_t const p = thread_index();
    if (p < n) words[p] = counters.packed[order[p]] - packed_word(image_counters<Dim>());
  }

  /// Whether the images of all pairs fit into 10 bits an axis, and their opposites.
  template <class T, int Dim>
  bool images_fit(cells_on_gpu<T, Dim> const& cells)
  {
    return cells.images().most() <= counters_of_points<Dim>::most_of_images &&
           cells.target_images().are_near && cells.source_images().are_near;
  }

  /// Makes columns of pairs. Throws nearfield::error for images that cannot be packed.
  template <class T, int Dim>
  void put_columns(cells_on_gpu<T, Dim> const& cells, made_columns<T, Dim> to,
                   pair_columns const& of, written_pairs const& written)
  {
    cuda_stream const stream = cells.stream();
    bool const may_be_large = to.packed.first && !images_fit(cells);
    device_array<std::uint32_t> too_large(may_be_large ? 1 : 0, stream, "radius_search: images");
    if (may_be_large) device_clear(too_large.data(), sizeof(std::uint32_t), stream);
    to.too_large = too_large.data();
    auto const blocks =
        static_cast<unsigned>(std::min<std::uint64_t>(written.room / block_threads + 1, 1 << 16));
    auto const kernel =
        cells.is_batch() ? &make_columns<T, Dim, true> : &make_columns<T, Dim, false>;
    kernel<<<blocks, block_threads, 0, stream>>>(
        definition_of(cells),
        {cells.images().counters(), cells.target_images(), cells.source_images()},
        cells.system_of_target(), of, written, to);
    check_cuda(cudaGetLastError(), "radius_search: make_columns");
    std::uint32_t is_too_large = 0;
    if (may_be_large) device_copy(&is_too_large, too_large.data(), sizeof is_too_large, stream);
    if (is_too_large != 0)
      throw error("radius_search: a pair is too many vectors of the box apart, and packed images "
                  "hold -512 to 511; ask for image_columns::counters");
  }
}
