#pragma once

#include <nearfield/starpu/radius_search.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>

/// \file
/// The tasks of a radius search: how many there are, who takes which slab of cells, and how large slabs are.

namespace nearfield::starpu::detail
{
  /// Runs work(s) for every s in [0, n) in tasks on CPU workers, up to 32 tasks per worker, and returns when
  /// all have ended. Rethrows the first exception; values of s not started by then are skipped. Throws
  /// nearfield::error if there is no CPU worker. StarPU's models tell tasks of the scalar search from others.
  ///
  /// A task takes the next s, not a fixed one. So work starts in ascending order of s whatever the scheduler
  /// does, and an ordered consumer (in_order) waits only for work in progress.
  void run_in_tasks(runtime const& starpu, search_work what, isa where, std::size_t n,
                    std::uint64_t candidates, std::function<void(std::size_t)> const& work);

  /// How many tasks a pass of a search has at most: 32 for each CPU worker.
  std::size_t most_tasks();

  /// Candidates per slab: equal shares of `all` for the workers, but at most `most`.
  std::uint64_t slab_size(radius_search_options const& options, std::uint64_t all,
                          std::uint64_t most);

  /// Calls f(first, last) in tasks for blocks [first, last) of n rows.
  void run_rows(runtime const& starpu, std::size_t n, std::uint64_t work,
                std::function<void(std::size_t, std::size_t)> const& f);

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
