#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/parallel.hpp>
#include <nearfield/search/outputs.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

/// \file
/// A radius search on the threads of an executor: slabs of cells, who takes which, and what they find put together.

namespace nearfield::detail
{
  /// Slabs of about equal work for the threads, of at most `most` candidates.
  template <class T, int Dim>
  NEARFIELD_API std::vector<slab> slabs_for(executor& threads, cell_view<T, Dim> const& cells,
                                            pairs which, std::uint64_t most = no_limit);

  /// Calls f(job) for all slabs of a view; on one thread, for the view as a whole.
  template <cpu_place On, class T, int Dim, class F>
  void for_each_slab(On const& where, cell_view<T, Dim> const& cells, pairs which, F const& f)
  {
    executor* const threads = threads_of(where);
    if (!threads) return f(whole(cells, which));
    auto const slabs = slabs_for(*threads, cells, which);
    for_each_item(*threads, slabs.size(),
                  [&](std::size_t s) { f(job_of(cells, which, slabs[s])); });
  }

  /// Lists of more pairs than this are written past the caches.
  inline constexpr std::uint64_t cached_pairs = std::uint64_t(1) << 20;
  // About 50,000 pairs per slab of a uniform cloud: 400 kB of indices.
  inline constexpr std::uint64_t cached_candidates = std::uint64_t(1) << 18;

  /// A view cut into slabs, and the threads that search them. What the view shows must outlive it.
  template <class T, int Dim>
  class NEARFIELD_API slab_search
  {
  public:
    slab_search(executor& threads, isa where, cell_view<T, Dim> const& cells, pairs which,
                std::vector<slab> slabs);

    // The bodies of radius_search. What they throw leaves results half written.
    void write(count_pairs const& what, pair_counts& result) const;
    void write(to_csr const& what, csr<T, Dim>& result) const;
    void write(to_coo const& what, coo<T, Dim>& result) const;
    void write(to_table const& what, neighbour_table& result) const;

  private:
    void run(std::function<void(search_job<T, Dim> const&, std::size_t)> const& f) const;
    [[nodiscard]] std::vector<std::uint64_t> count(index_type* per_point) const;
    void rows(row_content content, row_function<T, Dim> row, void* sink, bool images = false) const;
    template <class F>
    void for_rows(std::size_t n, F const& f) const;
    void sort(csr<T, Dim>& list) const;
    void write_sorted(to_coo const& what, coo<T, Dim>& result) const;
    std::uint64_t write_by_pieces(to_coo const& what, coo<T, Dim>& result) const;

    executor& threads_;
    isa where_;
    cell_view<T, Dim> cells_;
    pairs which_;
    std::vector<slab> slabs_;
  };

  template <cpu_place On, class T, int Dim, class What, class Result>
  void search_list(On const& where, cell_view<T, Dim> const& cells, What const& what,
                   Result& result)
  {
    executor* const threads = threads_of(where);
    constexpr bool in_pieces = std::same_as<What, to_coo>;
    std::vector<slab> slabs;
    if (threads)
      slabs = slabs_for(*threads, cells, what.which, in_pieces ? cached_candidates : no_limit);
    else
    {
      check_pairs(cells, what.which);
      search_job<T, Dim> const all = whole(cells, what.which);
      slabs = {{all.first_box, all.last_box, in_pieces ? count_candidates(all) : 0}};
    }
    slab_search<T, Dim> const search(threads_or_here(threads), isa_of(where), cells, what.which,
                                     std::move(slabs));
    write_or_empty(result, [&] { search.write(what, result); });
  }

  /// Consumes numbered items in the order 0, 1, 2 ..., though threads deliver them in any order. No
  /// thread waits: an item whose predecessors are missing is consumed after the last of them.
  class in_order
  {
  public:
    /// Calls take(number) for this item and its successors up to the first missing one. One thread at a
    /// time does so; if another is taking, it takes this item too.
    void put(std::size_t number, std::function<void(std::size_t)> const& take)
    {
      std::unique_lock lock(mutex_);
      waiting_.insert(number);
      if (is_taking_) return;
      is_taking_ = true;
      for (; waiting_.erase(next_) > 0; ++next_)
      {
        lock.unlock();
        take(next_);
        lock.lock();
      }
      is_taking_ = false;
    }

  private:
    std::mutex mutex_;
    std::set<std::size_t> waiting_;
    std::size_t next_ = 0;
    bool is_taking_ = false; // stays set if take() throws: nothing is taken after a gap
  };
}
