#include "merged.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>
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
  }

  bool is_exact_in_float(named_points const& from, std::span<double const> origin)
  {
    auto const& positions = from.points.positions;
    for (std::size_t d = 0; d < positions.size(); ++d)
      for (double const x : positions[d])
        if (double const moved = x - origin[d]; static_cast<float>(moved) != moved) return false;
    return true;
  }

  void merged_points::add(merged_points const& other)
  {
    bool const is_other = other.count > 0 && (count == 0 || other.second < second);
    count += other.count;
    if (is_other) std::tie(first, second) = std::tie(other.first, other.second);
  }

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

  std::uint64_t report_merged(named_points const& targets, named_points const* sources,
                              std::span<double const> origin)
  {
    if (is_exact_in_float(targets, origin) && (!sources || is_exact_in_float(*sources, origin)))
      return 0;
    threads on(std::numeric_limits<int>::max());
    std::vector<merged_points> found(static_cast<std::size_t>(on.workers()));
    on.run(on.workers(),
           [&](int part)
           {
             auto const p = static_cast<std::size_t>(part);
             std::vector<point_key> keys;
             append_keys(targets, origin, 0, p, found.size(), keys);
             if (sources)
               append_keys(*sources, origin, targets.points.size(), p, found.size(), keys);
             found[p] = find_merged(keys);
           });
    merged_points result;
    for (auto const& each : found) result.add(each);
    report_merged(result, targets, sources, targets.points.size());
    return result.count;
  }

  void report_merged(merged_points const& found, named_points const& targets,
                     named_points const* sources, std::uint64_t n_targets)
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
