#include "sort.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    /// A part of a run.
    struct key_run
    {
      std::uint64_t const* begin;
      std::uint64_t const* end;
      index_type index; ///< of the first key in all runs
    };

    /// The run whose first keys come before those of all others, and their end. Of equal keys those of the first run
    /// come first.
    std::pair<std::size_t, std::uint64_t const*> first_of(std::span<key_run const> runs)
    {
      std::size_t first = 0, second = 1;
      auto const key = [&](std::size_t r)
      {
        return *runs[r].begin;
      };
      if (runs.size() == 1) return {0, runs[0].end};
      if (key(1) < key(0)) std::swap(first, second);
      for (std::size_t r = 2; r < runs.size(); ++r)
        if (key(r) < key(first))
          second = std::exchange(first, r);
        else if (key(r) < key(second))
          second = r;
      key_run const& run = runs[first];
      return {first, first < second ? std::upper_bound(run.begin, run.end, key(second))
                                    : std::lower_bound(run.begin, run.end, key(second))};
    }
  }

  void merge_keys(executor& on, std::span<key_span const> runs, page_vector<std::uint64_t>& keys,
                  std::span<index_type> order, sort_scratch& scratch)
  {
    std::size_t longest = 0, with_keys = 0;
    std::vector<std::size_t> before{0};
    for (std::size_t r = 0; r < runs.size(); ++r)
    {
      before.push_back(before.back() + runs[r].size());
      with_keys += !runs[r].empty();
      if (runs[r].size() > runs[longest].size()) longest = r;
    }
    std::size_t const n = before.back(), length = runs[longest].size();
    renew(keys, n);
    // The merge looks at every run whenever it changes from one to another; what it saves is a few passes over the keys.
    if ((n - length) * with_keys > n / 4)
    {
      for (std::size_t r = 0; r < runs.size(); ++r)
        for_each_part(on, cut(on, runs[r].size()),
                      [&](int, std::size_t begin, std::size_t end)
                      {
                        std::ranges::copy(runs[r].subspan(begin, end - begin),
                                          keys.data() + before[r] + begin);
                      });
      return sort_keys(on, keys, order, scratch);
    }
    // Parts begin at keys of the longest run, so that equal keys are in one part.
    loop_parts const loop = cut(on, n), of_longest{length, loop.parts};
    auto const begin_of = [&](int part, std::size_t r) -> std::size_t
    {
      if (part == 0) return 0;
      if (part == loop.parts) return runs[r].size();
      return static_cast<std::size_t>(
          std::ranges::lower_bound(runs[r], runs[longest][of_longest.begin(part)]) -
          runs[r].begin());
    };
    for_each_part(on, loop,
                  [&](int part, std::size_t, std::size_t)
                  {
                    std::vector<key_run> rest;
                    std::size_t to = 0;
                    for (std::size_t r = 0; r < runs.size(); ++r)
                    {
                      std::size_t const begin = begin_of(part, r), end = begin_of(part + 1, r);
                      to += begin;
                      if (begin < end)
                        rest.push_back({runs[r].data() + begin, runs[r].data() + end,
                                        static_cast<index_type>(before[r] + begin)});
                    }
                    while (!rest.empty())
                    {
                      auto const [r, end] = first_of(rest);
                      for (auto& [at, run_end, index] = rest[r]; at < end; ++at, ++to)
                      {
                        keys[to] = *at;
                        order[to] = index++;
                      }
                      if (end == rest[r].end)
                        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(r));
                    }
                  });
  }
}
