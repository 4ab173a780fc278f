#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace nearfield::detail
{
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
