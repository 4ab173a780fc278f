#pragma once

#include "../reduce.hpp"
#include "bounds.cuh"
#include "launch.cuh"
#include "packed_images.cuh"
#include "points.cuh"

#include <nearfield/core/cell.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

/// \file
/// reduce_points() of a GPU: the same images, to the bit.

namespace nearfield::detail
{
  /// How far points lie along the normals of an oblique frame.
  template <class T, int Dim>
  struct places_along
  {
    using value_type = double;
    static constexpr int n = Dim;
    device_points<T, Dim> points;
    cell_frame<Dim> frame;

    __device__ std::array<double, Dim> operator()(std::uint32_t i) const
    {
      std::array<double, Dim> x, along;
#pragma unroll
      for (int a = 0; a < Dim; ++a) x[a] = static_cast<double>(points.x[a][i]);
#pragma unroll
      for (int a = 0; a < Dim; ++a) along[a] = frame.along(a, x);
      return along;
    }
  };

  /// How often the vectors of a box were subtracted from points, by index; null: all points were inside. Most counters
  /// fit into a word, which takes a third of the time to read.
  template <int Dim>
  struct counters_of_points
  {
    static constexpr std::uint32_t none = ~0u; ///< they do not fit
    static constexpr std::int32_t near = 127;
    /// the most that counters of images may be, so that their sums with those of two near points fit into words
    static constexpr std::int32_t most_of_images = 511 - 2 * near;

    std::uint32_t const* packed = nullptr; ///< packed_word() of each
    image_counters<Dim> const* all = nullptr;
    bool are_near = true; ///< none is larger than `near`, without its sign

    [[nodiscard]] __device__ static bool is_near(image_counters<Dim> const& counters)
    {
      bool is = true;
#pragma unroll
      for (int a = 0; a < Dim; ++a) is &= std::abs(counters[a]) <= near;
      return is;
    }

    [[nodiscard]] __host__ __device__ bool any() const { return packed != nullptr; }
    __device__ image_counters<Dim> operator[](std::uint32_t i) const
    {
      std::uint32_t const word = __ldg(packed + i);
      if (word == none) return all[i];
      image_counters<Dim> counters{};
#pragma unroll
      for (int a = 0; a < Dim; ++a) counters[a] = counter_of_word(word, a);
      return counters;
    }
  };

  /// Images of points in the box, in device memory, and how often its vectors were subtracted, by index.
  template <class T, int Dim>
  struct points_in_box
  {
    std::array<device_array<T>, Dim> columns;
    device_array<image_counters<Dim>> images; ///< empty: all points were inside
    device_array<std::uint32_t> packed;
    bool are_near = true; ///< as those of counters()

    /// Makes memory for n points, unless it is there.
    void fit(std::size_t n, cuda_stream stream)
    {
      if (images.size() == n) return;
      images = device_array<image_counters<Dim>>(n, stream, "cuda_cell_list: images of points");
      packed = device_array<std::uint32_t>(n, stream, "cuda_cell_list: images of points");
      for (auto& column : columns)
        column = device_array<T>(n, stream, "cuda_cell_list: points in the box");
    }

    [[nodiscard]] counters_of_points<Dim> counters() const
    {
      return {packed.data(), images.data(), are_near};
    }
    /// These points, or the given ones if all of them are inside.
    [[nodiscard]] strided<T const, Dim> or_else(strided<T const, Dim> const& given) const
    {
      if (images.size() == 0) return given;
      std::array<T const*, Dim> first;
      for (int a = 0; a < Dim; ++a) first[a] = columns[a].data();
      return soa<T const, Dim>(first, images.size());
    }
  };

  /// The one frame of all points.
  template <int Dim>
  struct one_frame
  {
    cell_frame<Dim> frame;

    __device__ cell_frame<Dim> const& operator()(std::uint32_t) const { return frame; }
  };

  /// *bad becomes 2^32 - 1 - i for the first point i that has too many images to count; it is 0 before.
  /// *any_far becomes 1 if counters are not near. Null: not asked for.
  template <class T, int Dim, class Frames>
  __global__ void reduce_kernel(device_points<T, Dim> const points,
                                __grid_constant__ Frames const frames,
                                std::array<T*, Dim> const columns, image_counters<Dim>* images,
                                std::uint32_t* packed, std::uint32_t* bad, std::uint32_t* any_far)
  {
    std::uint32_t const i = thread_index();
    if (i >= points.n) return;
    reduced_point<T, Dim> const point = frames(i).reduce(points.at(i));
#pragma unroll
    for (int a = 0; a < Dim; ++a) columns[a][i] = point.at[a];
    images[i] = point.image;
    using counters = counters_of_points<Dim>;
    packed[i] = fits_word(point.image) ? packed_word(point.image) : counters::none;
    if (bad && !point.fits) atomicMax(bad, ~i);
    if (any_far && !counters::is_near(point.image)) *any_far = 1;
  }

  /// Brings points, at least one, into the box. frames(i) is the frame of point i. Uses memory of the right size again.
  template <class T, int Dim, class Frames>
  void bring_into_box(device_points<T, Dim> const& points, Frames const& frames, std::uint32_t* bad,
                      std::uint32_t* any_far, points_in_box<T, Dim>& to, cuda_stream stream)
  {
    to.fit(points.n, stream);
    std::array<T*, Dim> columns;
    for (int a = 0; a < Dim; ++a) columns[a] = to.columns[a].data();
    reduce_kernel<T, Dim><<<blocks_for(points.n, block_threads), block_threads, 0, stream>>>(
        points, frames, columns, to.images.data(), to.packed.data(), bad, any_far);
    check_cuda(cudaGetLastError(), "cuda_cell_list: reduce_kernel");
  }

  /// What kernels find out about points that have moved; zero before.
  struct found_moves
  {
    std::uint32_t has_left; ///< whether a point has moved further than the skin allows
    std::uint32_t any_far;  ///< whether a point is many boxes away (counters_of_points)
  };
}
