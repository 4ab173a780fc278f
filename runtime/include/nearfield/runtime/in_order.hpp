#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace nearfield::detail
{
  /// Takes items that threads bring in any order, in the order of their numbers from 0. Nobody
  /// waits: an item whose predecessors are missing stays, and goes with the last of them.
  template <class Item>
  class in_order
  {
  public:
    /// take(item) is called for this item and those behind it, as far as none is missing; by one
    /// thread at a time. Where another thread is at it, that one takes this item too.
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
    bool is_taking_ = false; // stays where take() throws: nothing is taken behind a gap
  };
}
