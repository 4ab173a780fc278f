#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/search/rows.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

/// \file
/// The slabs of cells of a radius search, and the tasks that search them.

namespace nearfield::starpu
{
  /// How a radius search is cut into tasks. Results do not depend on it.
  struct radius_search_options
  {
    /// Approximate number of candidate pairs per slab; 0: up to 32 slabs per worker, and for to_coo
    /// small enough that the pairs of a slab stay in the second-level cache
    std::uint64_t candidates = 0;
  };
}

namespace nearfield::starpu::detail
{
  /// The kinds of search tasks. Each has a codelet and a performance model.
  enum class search_work
  {
    count,
    fill,
    sort,
    reduce
  };

  /// Runs work(s) for every s in [0, n) in tasks on CPU workers, up to 32 tasks per worker, and returns when
  /// all have ended. Rethrows the first exception; values of s not started by then are skipped. Throws
  /// nearfield::error if there is no CPU worker.
  ///
  /// A task takes the next s, not a fixed one. So work starts in ascending order of s whatever the scheduler
  /// does, and an ordered consumer (in_order) waits only for work in progress.
  NEARFIELD_API void run_in_tasks(runtime const& starpu, search_work what, std::size_t n,
                                  std::uint64_t candidates,
                                  std::function<void(std::size_t)> const& work);

  /// The most tasks of a search: 32 for each CPU worker.
  NEARFIELD_API std::size_t most_tasks();

  // About 50,000 pairs per slab of a uniform cloud: 400 kB of indices.
  inline constexpr std::uint64_t cached_candidates = std::uint64_t(1) << 18;
  // Searching fewer takes less time than the overhead of a task.
  inline constexpr std::uint64_t least_candidates = std::uint64_t(1) << 13;

  /// Candidates per slab: equal shares of `all` for the workers, but at most `most`.
  inline std::uint64_t slab_size(radius_search_options const& options, std::uint64_t all,
                                 std::uint64_t most)
  {
    if (options.candidates > 0) return options.candidates;
    return std::min(most, std::max(least_candidates, all / most_tasks()));
  }

  /// Calls f(first, last) in tasks for blocks [first, last) of n rows.
  template <class F>
  void run_rows(runtime const& starpu, std::size_t n, std::uint64_t work, F const& f)
  {
    std::size_t const pieces = std::min(n, most_tasks());
    run_in_tasks(starpu, search_work::sort, pieces, work,
                 [&](std::size_t p) { f(p * n / pieces, (p + 1) * n / pieces); });
  }

  /// A view cut into slabs, and the tasks that search them.
  template <class T, int Dim>
  class slab_search
  {
  public:
    slab_search(runtime const& starpu, cell_view<T, Dim> const& cells, pairs which,
                radius_search_options const& options, std::uint64_t most = ~std::uint64_t(0))
        : starpu_(starpu), cells_(cells), which_(which),
          slabs_(cut(nearfield::detail::candidates_before_boxes(cells, which), options, most))
    {}

    [[nodiscard]] std::uint64_t candidates() const { return candidates_; }
    [[nodiscard]] std::vector<nearfield::detail::slab> const& slabs() const { return slabs_; }

    /// Calls f(job, s) in tasks for every slab s.
    template <class F>
    void run(search_work what, F const& f) const
    {
      run_in_tasks(starpu_, what, slabs_.size(), candidates_,
                   [&](std::size_t s)
                   { f(nearfield::detail::job_of(cells_, which_, slabs_[s]), s); });
    }

    /// The number of pairs in each slab. If `per_point` is not null, also writes the number of each
    /// point, at the caller's index.
    [[nodiscard]] std::vector<std::uint64_t> count(index_type* per_point) const
    {
      std::vector<std::uint64_t> found(slabs_.size());
      run(search_work::count, [&](auto const& job, std::size_t s)
          { found[s] = nearfield::detail::count_rows(isa::best, job, per_point); });
      return found;
    }

    /// Calls row(sink, ...) for all rows, from several threads at once.
    void rows(nearfield::detail::row_content content, nearfield::detail::row_function<T, Dim> row,
              void* sink) const
    {
      run(search_work::fill, [&](auto const& job, std::size_t)
          { nearfield::detail::search_rows(isa::best, job, content, row, sink); });
    }

  private:
    std::vector<nearfield::detail::slab> cut(std::vector<std::uint64_t> const& before,
                                             radius_search_options const& options,
                                             std::uint64_t most)
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

  /// Consumes numbered items in the order 0, 1, 2 ..., though threads deliver them in any order. No
  /// thread waits: an item whose predecessors are missing is kept, and consumed after the last of them.
  template <class Item>
  class in_order
  {
  public:
    /// Calls take(item) for this item and its successors up to the first missing one. One thread at a
    /// time does so; if another is taking, it takes this item too.
    template <class Take>
    void put(std::size_t number, Item item, Take&& take)
    {
      std::unique_lock lock(mutex_);
      waiting_.emplace(number, std::move(item));
      if (is_taking_) return;
      is_taking_ = true;
      while (!waiting_.empty() && waiting_.begin()->first == next_)
      {
        auto node = waiting_.extract(waiting_.begin());
        lock.unlock();
        take(std::move(node.mapped()));
        lock.lock();
        ++next_;
      }
      is_taking_ = false;
    }

  private:
    std::mutex mutex_;
    std::map<std::size_t, Item> waiting_;
    std::size_t next_ = 0;
    bool is_taking_ = false; // stays set if take() throws: nothing is taken after a gap
  };
}
