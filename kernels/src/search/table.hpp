#pragma once

#include <nearfield/search/traversal.hpp>

namespace nearfield::detail
{
  /// Rows of hits of a few targets, in memory of the caller's.
  struct search_scratch
  {
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
    std::uint64_t (*count)(search_job<T, Dim> const&, index_type* per_point);
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
