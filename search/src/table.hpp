#pragma once

#include <nearfield/search/traversal.hpp>

namespace nearfield::detail
{
  /// Sources that a block of targets meets at once: those from position `first` on, without the last
  /// `absent` of as many as are taken at once.
  struct search_step
  {
    index_type first;
    index_type absent;
  };

  /// Steps of a box one after the other, all through the same image.
  struct search_run
  {
    index_type begin;
    index_type end;
    index_type shift;
    /// the targets are among the sources, in steps side by side: own_step begins at position own_first
    bool has_own;
    index_type own_step;
    index_type own_first;
  };

  /// What a search works in, in memory of the caller's: the steps of a box, and rows of hits of a few
  /// targets.
  struct search_scratch
  {
    search_step* steps;
    search_run* runs;
    /// values from one row to the next
    std::size_t stride;
    index_type* j;
    void* values; // of T: r2, then each axis, a row of every target in each
  };

  /// How many targets of one box a pass over its neighbours serves, and rows a scratch has.
  inline constexpr int block_size = 4;

  template <class T, int Dim>
  struct search_kernels
  {
    std::uint64_t (*count)(search_job<T, Dim> const&, search_scratch const&, index_type* per_point);
    /// by content
    void (*rows[3])(search_job<T, Dim> const&, search_scratch const&, row_function<T, Dim>, void*);
  };

  /// The search of one instruction set.
  struct search_table
  {
    search_kernels<float, 2> f32_2;
    search_kernels<float, 3> f32_3;
    search_kernels<double, 2> f64_2;
    search_kernels<double, 3> f64_3;
  };

  // One file each; only those in NEARFIELD_ISAS are built.
  search_table const& scalar_search();
  search_table const& sse2_search();
  search_table const& avx2_search();
  search_table const& avx512_search();
}
