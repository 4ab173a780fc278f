#include "table.hpp"

#include <nearfield/p2p/isa.hpp>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    search_table const& table_of(isa which)
    {
      switch (available(which))
      {
#if defined(NEARFIELD_WITH_SSE2)
      case isa::sse2:
        return sse2_search();
#endif
#if defined(NEARFIELD_WITH_AVX2)
      case isa::avx2:
        return avx2_search();
#endif
#if defined(NEARFIELD_WITH_AVX512)
      case isa::avx512:
        return avx512_search();
#endif
      default:
        return scalar_search();
      }
    }

    template <class T, int Dim>
    search_kernels<T, Dim> const& kernels_for(isa which)
    {
      search_table const& table = table_of(which);
      if constexpr (std::is_same_v<T, float> && Dim == 2)
        return table.f32_2;
      else if constexpr (std::is_same_v<T, float>)
        return table.f32_3;
      else if constexpr (Dim == 2)
        return table.f64_2;
      else
        return table.f64_3;
    }

    template <class T, int Dim>
    std::uint64_t candidates_of_box(search_job<T, Dim> const& job, index_type box)
    {
      interaction_list const& list = job.which == pairs::half ? job.cells->half : job.cells->full;
      std::uint64_t sources = list.own[box].end - list.own[box].begin;
      for (source_range const& range : list.neighbours(box)) sources += range.end - range.begin;
      return sources;
    }
  }

  template <class T, int Dim>
  std::uint64_t count_candidates(search_job<T, Dim> const& job)
  {
    std::uint64_t sum = 0;
    for (index_type b = job.first_box; b < job.last_box; ++b)
    {
      std::uint64_t const n = job.cells->targets.count(b);
      std::uint64_t const own = job.cells->one_set ? n : 0;
      std::uint64_t const all = n > 0 ? n * candidates_of_box(job, b) : 0;
      // point k of a box meets those after it, or all but itself
      sum += all - (job.which == pairs::half ? own * (own + 1) / 2 : own);
    }
    return sum;
  }

  template <class T, int Dim>
  std::uint64_t count_rows(isa which, search_job<T, Dim> const& job, index_type* per_point)
  {
    return kernels_for<T, Dim>(which).count(job, per_point);
  }

  template <class T, int Dim>
  void search_rows(isa which, search_job<T, Dim> const& job, row_content content,
                   row_function<T, Dim> row, void* sink)
  {
    auto const run = kernels_for<T, Dim>(which).rows[static_cast<int>(content)];
    std::uint64_t longest = 0;
    for (index_type b = job.first_box; b < job.last_box; ++b)
      if (job.cells->targets.count(b) > 0) longest = std::max(longest, candidates_of_box(job, b));
    search_scratch scratch;
    // A register is stored whole behind the last hit, and may be read so; rows of a power of two would share
    // sets of the cache.
    scratch.stride = (longest + 2 * cell_view<T, Dim>::padding + 15) / 16 * 16 + 16;
    std::size_t const columns = content == row_content::indices     ? 0
                                : content == row_content::distances ? 1
                                                                    : 1 + Dim;
    auto const j = std::make_unique_for_overwrite<index_type[]>(block_size * scratch.stride);
    auto const values = std::make_unique_for_overwrite<T[]>(block_size * columns * scratch.stride);
    scratch.j = j.get();
    scratch.values = values.get();
    run(job, scratch, row, sink);
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template std::uint64_t count_candidates(search_job<T, Dim> const&);                              \
  template std::uint64_t count_rows(isa, search_job<T, Dim> const&, index_type*);                  \
  template void search_rows(isa, search_job<T, Dim> const&, row_content, row_function<T, Dim>,     \
                            void*);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
}
