#include "search_kernels.hpp"

#include <nearfield/core/parallel.hpp>
#include <nearfield/core/where.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    isa_search const& search_on(isa where)
    {
      switch (available(where))
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
#if defined(NEARFIELD_WITH_NEON64)
      case isa::neon64:
        return neon64_search();
#endif
      default:
        return scalar_search();
      }
    }

    template <class T, int Dim>
    search_kernels<T, Dim> const& kernels_for(isa where)
    {
      isa_search const& search = search_on(where);
      if constexpr (std::is_same_v<T, float> && Dim == 2)
        return search.f32_2;
      else if constexpr (std::is_same_v<T, float>)
        return search.f32_3;
      else if constexpr (Dim == 2)
        return search.f64_2;
      else
        return search.f64_3;
    }

    template <class T, int Dim>
    interaction_list const& list_of(search_job<T, Dim> const& job)
    {
      return job.which == pairs::half ? job.cells->half : job.cells->full;
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
      std::uint64_t const all = n > 0 ? n * list_of(job).source_count(b) : 0;
      // point k of a box meets the points after it, or all but itself
      sum += all - (job.which == pairs::half ? own * (own + 1) / 2 : own);
    }
    return sum;
  }

  template <class T, int Dim>
  std::vector<std::uint64_t> candidates_before_boxes(executor& on, cell_view<T, Dim> const& cells,
                                                     pairs which)
  {
    std::vector<std::uint64_t> before(cells.targets.size() + std::size_t(1));
    sum_before(on, std::span(before),
               [&](std::size_t i)
               {
                 auto const box = static_cast<index_type>(i);
                 return count_candidates(search_job<T, Dim>{&cells, which, box, box + 1});
               });
    return before;
  }

  std::vector<slab> cut_slabs(std::vector<std::uint64_t> const& candidates_before,
                              std::uint64_t candidates)
  {
    std::vector<slab> slabs;
    auto const n_boxes = static_cast<index_type>(candidates_before.size() - 1);
    for (index_type first = 0; first < n_boxes;)
    {
      std::uint64_t const before = candidates_before[first];
      bool const is_last = candidates_before[n_boxes] - before <= candidates;
      auto const last = is_last
                            ? n_boxes
                            : static_cast<index_type>(
                                  std::lower_bound(candidates_before.begin() + first + 1,
                                                   candidates_before.end(), before + candidates) -
                                  candidates_before.begin());
      slabs.push_back({first, last, candidates_before[last] - before});
      first = last;
    }
    return slabs;
  }

  namespace
  {
    /// Scratch memory: rows of `columns` values beside the indices, or no rows if columns < 0; and their images.
    template <class T, int Dim>
    class scratch_memory
    {
    public:
      scratch_memory(search_job<T, Dim> const& job, int columns, bool images)
      {
        interaction_list const& list = list_of(job);
        std::uint64_t sources = 0;
        std::size_t ranges = 0;
        for (index_type b = job.first_box; b < job.last_box; ++b)
          if (job.cells->targets.count(b) > 0)
          {
            sources = std::max(sources, list.source_count(b));
            ranges = std::max(ranges, list.neighbours(b).size());
          }
        // The last hits are stored as a whole register, and may be read as one. Rows of a power of two bytes
        // would share cache sets.
        scratch_.stride = (sources + 2 * cell_view<T, Dim>::padding + 15) / 16 * 16 + 16;
        std::size_t const row = block_size * scratch_.stride;
        std::size_t const values = row * static_cast<std::size_t>(std::max(columns, 0)) * sizeof(T),
                          indices = columns < 0 ? 0 : row * sizeof(index_type);
        // at least one source per step, and one range per run
        std::size_t const steps = sources * sizeof(search_step),
                          runs = (ranges + 1) * sizeof(step_run);
        scratch_.images_stride = images ? ranges + 1 : 0;
        memory_ = std::make_unique_for_overwrite<std::byte[]>(values + indices + steps + runs +
                                                              block_size * scratch_.images_stride *
                                                                  sizeof(image_run));
        std::byte* at = memory_.get();
        scratch_.values = at;
        scratch_.j = reinterpret_cast<index_type*>(at += values);
        scratch_.steps = reinterpret_cast<search_step*>(at += indices);
        scratch_.runs = reinterpret_cast<step_run*>(at += steps);
        scratch_.images = images ? reinterpret_cast<image_run*>(at + runs) : nullptr;
        auto const& systems = job.cells->systems;
        auto const first = std::partition_point(systems.begin(), systems.end(), [&](auto const& s)
                                                { return s.last_box <= job.first_box; });
        scratch_.first_system = static_cast<std::size_t>(first - systems.begin());
      }
      [[nodiscard]] search_scratch const& get() const { return scratch_; }

    private:
      std::unique_ptr<std::byte[]> memory_;
      search_scratch scratch_{};
    };
  }

  namespace
  {
    template <class T, int Dim>
    void search_all_rows(isa where, search_job<T, Dim> const& job, row_content content,
                         row_function<T, Dim> row, void* sink, bool images)
    {
      auto const run = kernels_for<T, Dim>(where).rows[static_cast<int>(content)];
      int const columns = content == row_content::indices     ? 0
                          : content == row_content::distances ? 1
                                                              : 1 + Dim;
      scratch_memory const memory(job, columns, images);
      run(job, memory.get(), row, sink);
    }

    /// Hands on the rows of a search without the pairs that do not count.
    template <class T, int Dim>
    struct filtering
    {
      row_filter<T> const& filter;
      row_function<T, Dim> next;
      void* sink;
      std::vector<unsigned char> keep = {};

      static void row(void* self, search_row<T, Dim> const& hits)
      {
        auto& [filter, next, sink, keep] = *static_cast<filtering*>(self);
        if (keep.size() < hits.count) keep.resize(2 * std::size_t(hits.count));
        filter.mark(hits.i, hits.j, hits.r2, hits.count, keep.data());
        search_row<T, Dim> left = hits;
        left.count = 0;
        // rows are in the scratch memory of the search
        auto* const j = const_cast<index_type*>(hits.j);
        auto* const r2 = const_cast<T*>(hits.r2);
        auto* run = const_cast<image_run*>(hits.images);
        for (index_type k = 0; k < hits.count; ++k)
        {
          for (; run && run->end <= k; ++run) run->end = left.count;
          j[left.count] = j[k];
          if (r2) r2[left.count] = r2[k];
          for (int a = 0; a < Dim && hits.d[a]; ++a)
            const_cast<T*>(hits.d[a])[left.count] = hits.d[a][k];
          left.count += keep[k];
        }
        if (run) run->end = left.count;
        next(sink, left);
      }
    };

    /// Calls f for the parts of a job whose rows are wanted, and hands on empty rows of the others.
    template <class T, int Dim, class F>
    void for_wanted_rows(search_job<T, Dim> const& job, row_function<T, Dim> row, void* sink,
                         F const& f)
    {
      cell_view<T, Dim> const& cells = *job.cells;
      if (cells.filter->wants_all()) return f(job);
      auto const wants = [&](index_type position)
      {
        return cells.filter->wants(cells.target_order[position]);
      };
      for (index_type box = job.first_box; box < job.last_box; ++box)
      {
        index_type const end = std::min(cells.targets.end(box), job.last);
        for (index_type p = std::max(cells.targets.begin(box), job.first); p < end;)
        {
          index_type const first = p;
          while (p < end && wants(p)) ++p;
          if (p > first) f(search_job<T, Dim>{&cells, job.which, box, box + 1, first, p});
          for (; p < end && !wants(p); ++p)
          {
            search_row<T, Dim> empty{};
            empty.position = p;
            empty.i = cells.target_order[p];
            row(sink, empty);
          }
        }
      }
    }

    struct row_counter
    {
      index_type* per_point;
      std::uint64_t total = 0;

      template <class T, int Dim>
      static void row(void* self, search_row<T, Dim> const& hits)
      {
        auto& [per_point, total] = *static_cast<row_counter*>(self);
        total += hits.count;
        if (per_point) per_point[hits.i] = hits.count;
      }
    };
  }

  template <class T, int Dim>
  std::uint64_t count_rows(isa where, search_job<T, Dim> const& job, index_type* per_point)
  {
    if (job.cells->filter)
    {
      row_counter counter{per_point};
      search_rows<T, Dim>(where, job, row_content::indices, &row_counter::row<T, Dim>, &counter);
      return counter.total;
    }
    auto const run = kernels_for<T, Dim>(where).count;
    scratch_memory const memory(job, -1, false);
    return run(job, memory.get(), per_point);
  }

  template <class T, int Dim>
  void search_rows(isa where, search_job<T, Dim> const& job, row_content content,
                   row_function<T, Dim> row, void* sink, bool images)
  {
    row_filter<T> const* const filter = job.cells->filter;
    if (!filter) return search_all_rows(where, job, content, row, sink, images);
    if (content == row_content::indices && filter->needs_distances())
      content = row_content::distances;
    filtering<T, Dim> rows{*filter, row, sink};
    for_wanted_rows(
        job, row, sink, [&](search_job<T, Dim> const& part)
        { search_all_rows(where, part, content, &filtering<T, Dim>::row, &rows, images); });
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template std::uint64_t count_candidates(search_job<T, Dim> const&);                              \
  template std::uint64_t count_rows(isa, search_job<T, Dim> const&, index_type*);                  \
  template void search_rows(isa, search_job<T, Dim> const&, row_content, row_function<T, Dim>,     \
                            void*, bool);                                                          \
  template std::vector<std::uint64_t> candidates_before_boxes(executor&, cell_view<T, Dim> const&, \
                                                              pairs);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
#undef NEARFIELD_INSTANTIATE
}
