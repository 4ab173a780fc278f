#pragma once

#include <nearfield/core/boxes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// \file
/// Stores of indices that bypass the caches. A plain store first reads the line that it changes: for a list
/// that no cache holds that is half of the traffic, and the lines evict others.

namespace nearfield::detail
{
  inline constexpr index_type line_size = 64 / sizeof(index_type);

#if defined(__SSE2__)
  /// The values of one cache line, in registers.
  struct index_lanes
  {
    __m128i lanes[4];

    static index_lanes of(index_type const* from)
    {
      index_lanes line;
      for (int l = 0; l < 4; ++l)
        line.lanes[l] = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from) + l);
      return line;
    }
    static index_lanes all(index_type value)
    {
      __m128i const lanes = _mm_set1_epi32(static_cast<int>(value));
      return {{lanes, lanes, lanes, lanes}};
    }
    void store(index_type* to) const
    {
      for (int l = 0; l < 4; ++l) _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + l, lanes[l]);
    }
    /// Stores past the caches; `to` must start a line.
    void stream(index_type* to) const
    {
      for (int l = 0; l < 4; ++l) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + l, lanes[l]);
    }
    /// Orders the streamed stores before later stores of this thread.
    static void finish() { _mm_sfence(); }
  };
#else
  struct index_lanes
  {
    index_type lanes[line_size];

    static index_lanes of(index_type const* from)
    {
      index_lanes line;
      std::copy_n(from, line_size, line.lanes);
      return line;
    }
    static index_lanes all(index_type value)
    {
      index_lanes line;
      std::fill_n(line.lanes, line_size, value);
      return line;
    }
    void store(index_type* to) const { std::copy_n(lanes, line_size, to); }
    void stream(index_type* to) const { store(to); }
    static void finish() {}
  };
#endif

  /// The number of places from `to` up to the next line.
  inline index_type places_to_line(index_type const* to)
  {
    auto const place = reinterpret_cast<std::uintptr_t>(to) / sizeof(index_type);
    return static_cast<index_type>(-place % line_size);
  }

  /// As std::copy_n, past the caches.
  inline void stream_copy(index_type const* from, std::size_t n, index_type* to)
  {
    std::size_t k = std::min<std::size_t>(n, places_to_line(to));
    std::copy_n(from, k, to);
    for (; n - k >= line_size; k += line_size) index_lanes::of(from + k).stream(to + k);
    std::copy_n(from + k, n - k, to + k);
    index_lanes::finish();
  }

  /// Appends rows of pairs to columns whose first places start lines. What does not fill a line
  /// waits for the next row.
  class pair_stream
  {
  public:
    /// Starts at place `at`.
    void begin(index_type* i, index_type* j, std::uint64_t at)
    {
      waiting_ = static_cast<index_type>(at % line_size);
      i_ = i + (at - waiting_);
      j_ = j + (at - waiting_);
      std::copy_n(i_, waiting_, line_i_); // the partial line is written again
      std::copy_n(j_, waiting_, line_j_);
      begun_ = true;
    }
    [[nodiscard]] bool begun() const { return begun_; }

    /// May read up to a line past the last of the `count` values of j.
    void add(index_type i, index_type const* j, index_type count)
    {
      index_lanes const all_i = index_lanes::all(i);
      all_i.store(line_i_ + waiting_);
      index_lanes::of(j).store(line_j_ + waiting_);
      if (waiting_ + count < line_size)
      {
        waiting_ += count;
        return;
      }
      index_type k = line_size - waiting_;
      stream(index_lanes::of(line_i_), index_lanes::of(line_j_));
      for (; count - k >= line_size; k += line_size) stream(all_i, index_lanes::of(j + k));
      all_i.store(line_i_);
      index_lanes::of(j + k).store(line_j_);
      waiting_ = count - k;
    }

    /// Writes the values that wait.
    void finish()
    {
      if (!begun_) return;
      std::copy_n(line_i_, waiting_, i_);
      std::copy_n(line_j_, waiting_, j_);
      index_lanes::finish();
    }

  private:
    void stream(index_lanes const& i, index_lanes const& j)
    {
      i.stream(i_);
      j.stream(j_);
      i_ += line_size;
      j_ += line_size;
    }

    index_type* i_ = nullptr;
    index_type* j_ = nullptr;
    index_type waiting_ = 0;
    bool begun_ = false;
    alignas(64) index_type line_i_[2 * line_size];
    alignas(64) index_type line_j_[2 * line_size];
  };
}
