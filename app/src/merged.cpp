#include "merged.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>
#include <limits>
#include <tuple>

namespace nearfield::app
{
  namespace
  {
    // The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, doi:10.1145/2660193.2660195).
    std::uint64_t mixed(std::uint64_t x)
    {
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
      x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
      return x ^ (x >> 31);
    }

    std::uint64_t with(std::uint64_t hash, double value)
    {
      return mixed(hash + 0x9e3779b97f4a7c15 +
                   std::bit_cast<std::uint64_t>(value + 0.0)); // -0 is 0
    }

    // Whether float represents all coordinates minus the origin.
    bool is_exact_in_float(named_points const& from, std::span<double const> origin)
    {
      auto const& positions = from.points.positions;
      for (std::size_t d = 0; d < positions.size(); ++d)
        for (double const x : positions[d])
          if (double const moved = x - origin[d]; static_cast<float>(moved) != moved) return false;
      return true;
    }

    // The number of points that rounding brings to the place of an earlier one; of the first of them, its number and
    // that of the earlier one.
    struct merged_points
    {
      std::uint64_t count = 0, first = none, second = none;
      static constexpr auto none = std::numeric_limits<std::uint64_t>::max();

      void add(merged_points const& other)
      {
        count += other.count;
        if (other.second < second) std::tie(first, second) = std::tie(other.first, other.second);
      }
    };

    // Appends those keys of points, which `first` counts on from, whose `rounded` has the part-th of `parts` ranges.
    void append_keys(named_points const& from, std::span<double const> origin, std::uint64_t first,
                     std::uint64_t part, std::uint64_t parts, std::vector<point_key>& to)
    {
      auto const& positions = from.points.positions;
      for (std::size_t i = 0; i < from.points.size(); ++i)
      {
        point_key key{0, 0, first + i};
        for (std::size_t d = 0; d < positions.size(); ++d)
          key.rounded = with(key.rounded, static_cast<float>(positions[d][i] - origin[d]));
        if ((key.rounded >> 32) * parts >> 32 != part) continue;
        for (auto const& column : positions) key.exact = with(key.exact, column[i]);
        to.push_back(key);
      }
    }

    // Sorts the keys, and finds points with one place and different coordinates.
    merged_points find_merged(std::span<point_key> keys)
    {
      std::ranges::sort(keys, {},
                        [](point_key const& key) { return std::tie(key.rounded, key.number); });
      merged_points found;
      for (std::size_t k = 1, first = 0; k < keys.size(); ++k)
      {
        if (keys[k].rounded != keys[first].rounded) first = k;
        if (keys[k].exact != keys[first].exact) found.add({1, keys[first].number, keys[k].number});
      }
      return found;
    }

    // Sources are numbered after all `n_targets`.
    void say(merged_points const& found, named_points const& targets, named_points const* sources,
             std::uint64_t n_targets)
    {
      if (found.count == 0) return;
      auto const place = [&](std::uint64_t number)
      {
        bool const is_target = number < n_targets || !sources;
        return "point " + std::to_string(is_target ? number : number - n_targets) + " of " +
               (is_target ? targets : *sources).name;
      };
      std::cerr << "nearfield: points that f32 cannot tell apart: " << found.count << ", the first "
                << place(found.second) << ", which falls on " << place(found.first)
                << "; pairs at one place may count for nothing: use --precision f64" << std::endl;
    }
  }

  std::uint64_t report_merged(ranks const& all, named_points const& targets,
                              named_points const* sources, std::span<double const> origin)
  {
    if (!all.any(!is_exact_in_float(targets, origin) ||
                 (sources && !is_exact_in_float(*sources, origin))))
      return 0;
    auto const n_targets = all.sum(std::uint64_t(targets.points.size()));
    // equal places meet in one part: of a thread or, of several ranks, of a rank
    threads on(all.size() > 1 ? 1 : std::numeric_limits<int>::max());
    std::vector<std::vector<point_key>> keys(
        static_cast<std::size_t>(std::max(all.size(), on.workers())));
    all.attempt(
        [&]
        {
          on.run(static_cast<int>(keys.size()),
                 [&](int part)
                 {
                   auto const p = static_cast<std::size_t>(part);
                   append_keys(targets, origin, targets.first, p, keys.size(), keys[p]);
                   if (sources)
                     append_keys(*sources, origin, n_targets + sources->first, p, keys.size(),
                                 keys[p]);
                 });
        });
    all.exchange(keys);
    std::vector<merged_points> found(keys.size());
    on.run(static_cast<int>(keys.size()),
           [&](int part)
           {
             auto const p = static_cast<std::size_t>(part);
             found[p] = find_merged(keys[p]);
           });
    merged_points result;
    for (auto const& each : found) result.add(each);
    auto const second = all.least(result.second);
    auto const first = all.least(result.second == second ? result.first : merged_points::none);
    result = {all.sum(result.count), first, second};
    if (all.is_first()) say(result, targets, sources, n_targets);
    return result.count;
  }
}
