#pragma once

#include <nearfield/starpu/slab_tasks.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace nearfield::starpu
{
  /// How a radius search is cut into tasks. Results do not depend on it.
  struct slab_options
  {
    /// Approximate number of candidate pairs per slab; 0: up to 32 slabs per worker, and for to_coo
    /// small enough that the pairs of a slab stay in the second-level cache
    std::uint64_t candidates = 0;
  };

  namespace detail
  {
    // About 50,000 pairs per slab of a uniform cloud: 400 kB of indices.
    inline constexpr std::uint64_t cached_candidates = std::uint64_t(1) << 18;
    // Searching fewer takes less time than the overhead of a task.
    inline constexpr std::uint64_t least_candidates = std::uint64_t(1) << 13;

    /// Candidates per slab: equal shares of `all` for the workers, but at most `most`.
    inline std::uint64_t slab_size(slab_options const& options, std::uint64_t all,
                                   std::uint64_t most)
    {
      if (options.candidates > 0) return options.candidates;
      return std::min(most, std::max(least_candidates, all / (32 * cpu_workers())));
    }

    /// Calls f(first, last) in tasks for blocks [first, last) of n rows.
    template <class F>
    void run_rows(runtime const& starpu, std::size_t n, std::uint64_t work, F const& f)
    {
      std::size_t const pieces = std::min<std::size_t>(n, 32 * cpu_workers());
      run_slabs(starpu, slab_work::sort, pieces, work,
                [&](std::size_t p) { f(p * n / pieces, (p + 1) * n / pieces); });
    }

    /// A view cut into slabs, and the tasks that search them.
    template <class T, int Dim>
    class slab_search
    {
    public:
      slab_search(runtime const& starpu, cell_view<T, Dim> const& cells, pairs which,
                  slab_options const& options, std::uint64_t most = ~std::uint64_t(0))
          : starpu_(starpu), cells_(cells), which_(which),
            slabs_(cut(nearfield::detail::candidates_before_boxes(cells, which), options, most))
      {}

      [[nodiscard]] std::uint64_t candidates() const { return candidates_; }
      [[nodiscard]] std::vector<nearfield::detail::slab> const& slabs() const { return slabs_; }

      /// Calls f(job, s) in tasks for every slab s.
      template <class F>
      void run(slab_work what, F const& f) const
      {
        run_slabs(starpu_, what, slabs_.size(), candidates_,
                  [&](std::size_t s)
                  { f(nearfield::detail::job_of(cells_, which_, slabs_[s]), s); });
      }

      /// The number of pairs in each slab. If `per_point` is not null, also writes the number of each
      /// point, at the caller's index.
      [[nodiscard]] std::vector<std::uint64_t> count(index_type* per_point) const
      {
        std::vector<std::uint64_t> found(slabs_.size());
        run(slab_work::count, [&](auto const& job, std::size_t s)
            { found[s] = nearfield::detail::count_rows(isa::best, job, per_point); });
        return found;
      }

      /// Calls row(sink, ...) for all rows, from several threads at once.
      void rows(nearfield::detail::row_content content, nearfield::detail::row_function<T, Dim> row,
                void* sink) const
      {
        run(slab_work::fill, [&](auto const& job, std::size_t)
            { nearfield::detail::search_rows(isa::best, job, content, row, sink); });
      }

    private:
      std::vector<nearfield::detail::slab> cut(std::vector<std::uint64_t> const& before,
                                               slab_options const& options, std::uint64_t most)
      {
        candidates_ = before.back();
        return nearfield::detail::cut_slabs(before, slab_size(options, candidates_, most));
      }

      runtime const& starpu_;
      cell_view<T, Dim> const& cells_;
      pairs which_;
      std::uint64_t candidates_ = 0;
      std::vector<nearfield::detail::slab> slabs_;
    };
  }
}
