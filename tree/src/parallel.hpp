#pragma once

#include <nearfield/core/executor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nearfield::detail
{
  /// The calling thread.
  class this_thread final : public executor
  {
  public:
    [[nodiscard]] int workers() const override { return 1; }
    void run(int n, std::function<void(int)> const& f) override
    {
      for (int part = 0; part < n; ++part) f(part);
    }
  };

  /// How a loop over n items is cut: part p has the items [begin(p), begin(p + 1)).
  struct loop_parts
  {
    std::size_t n;
    int parts;

    [[nodiscard]] std::size_t begin(int part) const
    {
      return static_cast<std::size_t>(std::uint64_t(n) * static_cast<std::uint64_t>(part) /
                                      static_cast<std::uint64_t>(parts));
    }
  };

  /// One part for each worker (or several, where parts take unequal time), but never fewer than `least` items in a part
  /// unless there is only one.
  inline loop_parts cut(executor const& on, std::size_t n, std::size_t least = 1024,
                        int parts_per_worker = 1)
  {
    int const workers = std::max(1, on.workers());
    int const most = workers == 1 ? 1 : parts_per_worker * workers;
    return {
        n, static_cast<int>(std::clamp<std::size_t>(n / least, 1, static_cast<std::size_t>(most)))};
  }

  /// Calls f(part, begin, end) for each part.
  template <class F>
  void for_each_part(executor& on, loop_parts const& loop, F const& f)
  {
    auto const call = [&](int part)
    {
      f(part, loop.begin(part), loop.begin(part + 1));
    };
    if (loop.parts == 1)
      call(0);
    else
      on.run(loop.parts, call);
  }
}
