#pragma once

#include "../gaps.hpp"
#include "bounds.cuh"
#include "launch.cuh"
#include "primitives.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// \file
/// sorted_axis of a GPU: it finds the same gaps, so that cells and leaves are those of the CPU.

namespace nearfield::detail
{
  template <class T>
  __global__ void order_coordinates(strided_column<T const> x, std::uint32_t n, std::uint64_t* keys,
                                    std::uint32_t* places)
  {
    std::uint32_t const i = thread_index();
    if (i >= n) return;
    keys[i] = ordered_bits(static_cast<double>(x[i]));
    places[i] = i;
  }

  /// Counts by exponent how far each coordinate is from the one `step` places before. One thread for each, in blocks
  /// of block_threads.
  static __global__ void count_distances(std::uint64_t const* sorted, std::uint32_t n,
                                         std::uint32_t step, unsigned long long* counts)
  {
    constexpr int exponents = 2047;
    __shared__ std::uint32_t of_block[exponents];
    for (int e = static_cast<int>(threadIdx.x); e < exponents; e += block_threads) of_block[e] = 0;
    __syncthreads();
    for (std::uint32_t i = thread_index(); i < n; i += gridDim.x * block_threads)
      if (i >= step)
      {
        double const d =
            __dsub_rn(from_ordered_bits(sorted[i]), from_ordered_bits(sorted[i - step]));
        atomicAdd(of_block + (__double_as_longlong(d) >> 52), 1u);
      }
    __syncthreads();
    for (int e = static_cast<int>(threadIdx.x); e < exponents; e += block_threads)
      if (of_block[e] > 0) atomicAdd(counts + e, static_cast<unsigned long long>(of_block[e]));
  }

  static __global__ void find_gaps(std::uint64_t const* sorted, std::uint32_t n, double length,
                                   std::uint32_t most, axis_gap* gaps, std::uint32_t* n_gaps)
  {
    std::uint32_t const i = thread_index();
    if (i == 0 || i >= n) return;
    double const before = from_ordered_bits(sorted[i - 1]), after = from_ordered_bits(sorted[i]);
    if (!(__dsub_rn(after, before) > length)) return;
    std::uint32_t const at = atomicAdd(n_gaps, 1u);
    if (at < most) gaps[at] = {before, after, i};
  }

  class device_axis
  {
  public:
    device_axis() = default;
    /// Of one or two sets.
    template <class T>
    device_axis(strided_column<T const> a, std::size_t n_a, strided_column<T const> b,
                std::size_t n_b, cuda_stream stream)
        : sorted_(n_a + n_b, stream, what)
    {
      device_array<std::uint32_t> places(n_a + n_b, stream, what);
      auto const copy = [&](strided_column<T const> x, std::size_t n, std::size_t first)
      {
        if (n == 0) return;
        order_coordinates<<<blocks_for(n, block_threads), block_threads, 0, stream>>>(
            x, static_cast<std::uint32_t>(n), sorted_.data() + first, places.data() + first);
        check_cuda(cudaGetLastError(), "gaps: order_coordinates");
      };
      copy(a, n_a, 0);
      copy(b, n_b, n_a);
      if (sorted_.size() > 0) sort_by_key(sorted_, places, 64, what);
    }

    [[nodiscard]] axis_spacing spacing(std::uint64_t places) const
    {
      axis_spacing found;
      found.n = sorted_.size();
      if (found.n == 0) return found;
      auto const coordinate = [&](std::size_t i)
      {
        std::uint64_t bits = 0;
        device_copy(&bits, sorted_.data() + i, sizeof bits, sorted_.stream());
        return from_ordered_bits(bits);
      };
      found.lower = coordinate(0);
      found.upper = coordinate(found.n - 1);
      found.to_next = count(1);
      found.to_nth = count(places);
      return found;
    }

    /// Ascending; longer than this.
    [[nodiscard]] std::vector<axis_gap> gaps(double length) const
    {
      auto const n = static_cast<std::uint32_t>(sorted_.size());
      std::uint32_t n_gaps = 0;
      std::vector<axis_gap> found(1024);
      if (n == 0) return {};
      for (;;)
      {
        device_array<axis_gap> all(found.size(), sorted_.stream(), what);
        device_array<std::uint32_t> number(1, sorted_.stream(), what);
        device_clear(number.data(), sizeof n_gaps, sorted_.stream());
        find_gaps<<<blocks_for(n, block_threads), block_threads, 0, sorted_.stream()>>>(
            sorted_.data(), n, length, static_cast<std::uint32_t>(found.size()), all.data(),
            number.data());
        check_cuda(cudaGetLastError(), "gaps: find_gaps");
        device_copy(&n_gaps, number.data(), sizeof n_gaps, sorted_.stream());
        bool const is_whole = n_gaps <= found.size();
        found.resize(n_gaps);
        if (!is_whole) continue;
        if (n_gaps > 0)
          device_copy(found.data(), all.data(), n_gaps * sizeof(axis_gap), sorted_.stream());
        std::ranges::sort(found, {}, &axis_gap::n_before);
        return found;
      }
    }

  private:
    static constexpr char const* what = "gaps between points";

    [[nodiscard]] distance_counts count(std::uint64_t step) const
    {
      distance_counts found;
      device_array<std::uint64_t> counts(found.of.size(), sorted_.stream(), what);
      device_clear(counts.data(), sizeof found.of, sorted_.stream());
      auto const n = static_cast<std::uint32_t>(sorted_.size());
      unsigned const blocks = std::min(blocks_for(n, block_threads), 4 * multiprocessors());
      static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
      count_distances<<<blocks, block_threads, 0, sorted_.stream()>>>(
          sorted_.data(), n, static_cast<std::uint32_t>(step),
          reinterpret_cast<unsigned long long*>(counts.data()));
      check_cuda(cudaGetLastError(), "gaps: count_distances");
      device_copy(found.of.data(), counts.data(), sizeof found.of, sorted_.stream());
      return found;
    }

    device_array<std::uint64_t> sorted_;
  };

  /// The pieces of axes in device memory.
  template <int Dim>
  class device_pieces
  {
  public:
    device_pieces() = default;
    device_pieces(std::array<std::vector<axis_piece>, Dim> const& pieces, cuda_stream stream)
    {
      for (int d = 0; d < Dim; ++d)
        if (!pieces[d].empty()) pieces_[d] = device_array<axis_piece>(std::span(pieces[d]), stream);
    }

    [[nodiscard]] axis_pieces of(int axis) const
    {
      return {pieces_[axis].data(), static_cast<std::uint32_t>(pieces_[axis].size())};
    }

  private:
    std::array<device_array<axis_piece>, Dim> pieces_;
  };
}
