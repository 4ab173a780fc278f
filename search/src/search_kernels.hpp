#pragma once

#include <nearfield/search/rows.hpp>

namespace nearfield::detail
{
  /// The sources that a block of targets meets at once: a full step from position `first` on, without
  /// its last `absent` sources.
  struct search_step
  {
    index_type first;
    index_type absent;
  };

  /// Consecutive steps of a box that use the same image.
  struct step_run
  {
    index_type begin;
    index_type end;
    index_type shift;
    /// the targets are among the sources: their first step is own_step, which starts at position own_first
    bool has_own;
    index_type own_step;
    index_type own_first;
  };

  /// Scratch memory of a search, provided by its caller: the steps of a box, and rows of hits of a few targets.
  struct search_scratch
  {
    search_step* steps;
    step_run* runs;
    /// the distance of one row from the next, in values
    std::size_t stride;
    index_type* j;
    void* values; // of T: for each target a row of r2, then one per axis
    /// for each target a row of image_run, images_stride apart; null and 0 if no images are asked for
    image_run* images;
    std::size_t images_stride;
    std::size_t first_system; // whose boxes a job has
  };

  /// The number of targets that share a pass over the neighbours of their box: the rows of a scratch.
  inline constexpr int block_size = 4;

  template <class T, int Dim>
  struct search_kernels
  {
    std::uint64_t (*count)(search_job<T, Dim> const&, search_scratch const&, index_type* per_point);
    /// by row_content
    void (*rows[3])(search_job<T, Dim> const&, search_scratch const&, row_function<T, Dim>, void*);
  };

  /// The search of one instruction set.
  struct isa_search
  {
    search_kernels<float, 2> f32_2;
    search_kernels<float, 3> f32_3;
    search_kernels<double, 2> f64_2;
    search_kernels<double, 3> f64_3;
  };

  // One file each; only those in NEARFIELD_ISAS are built.
  isa_search const& scalar_search();
  isa_search const& sse2_search();
  isa_search const& avx2_search();
  isa_search const& avx512_search();
  isa_search const& neon64_search();
}
