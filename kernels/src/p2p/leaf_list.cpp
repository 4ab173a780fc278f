#include <nearfield/core/error.hpp>
#include <nearfield/p2p/near_field.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nearfield
{
  namespace
  {
    using shift_type = std::array<double, 3>;

    std::string const prefix = "leaf_list: ";

    /// Leaf b meets leaf j. In this order, leaves that follow one another become one range.
    struct meeting
    {
      index_type b;
      std::uint16_t shift;
      index_type j;

      auto operator<=>(meeting const&) const = default;
    };

    void check_offsets(char const* name, std::span<index_type const> offsets)
    {
      if (!offsets.empty() && offsets[0] != 0)
        throw error(prefix + name + " begin with " + std::to_string(offsets[0]) +
                    "; give offsets that ascend from 0");
      for (std::size_t b = 1; b < offsets.size(); ++b)
        if (offsets[b - 1] > offsets[b])
          throw error(prefix + name + " descend at " + std::to_string(b) +
                      "; give offsets that ascend from 0");
    }

    void check(boxes const& targets, boxes const& sources, leaf_list::neighbour_lists const& of)
    {
      check_offsets("the offsets of targets", targets.offsets);
      check_offsets("the offsets of sources", sources.offsets);
      check_offsets("the offsets of neighbours", of.offsets);
      index_type const n = targets.size();
      std::size_t const n_entries =
          n > 0 && of.offsets.size() == n + std::size_t(1) ? of.offsets[n] : 0;
      if (n > 0 && of.offsets.size() != n + std::size_t(1))
        throw error(prefix + "found " + std::to_string(of.offsets.size()) +
                    " offsets of neighbours for " + std::to_string(n) + " leaves; give " +
                    std::to_string(n + std::size_t(1)));
      if (of.leaves.size() != n_entries)
        throw error(prefix + "found " + std::to_string(of.leaves.size()) +
                    " neighbours, the offsets end at " + std::to_string(n_entries) +
                    "; give as many");
      for (index_type const j : of.leaves)
        if (j >= sources.size())
          throw error(prefix + "found the neighbour " + std::to_string(j) + " of " +
                      std::to_string(sources.size()) + " leaves; give numbers of leaves");
      if (!of.shift_of.empty() && of.shift_of.size() != n_entries)
        throw error(prefix + "found " + std::to_string(of.shift_of.size()) +
                    " numbers of shifts for " + std::to_string(n_entries) +
                    " neighbours; give one for each, or none");
      for (std::uint16_t const s : of.shift_of)
        if (s >= std::max<std::size_t>(of.shifts.size(), 1))
          throw error(prefix + "found shift number " + std::to_string(s) + " of " +
                      std::to_string(of.shifts.size()) + "; give numbers of shifts");
      for (shift_type const& shift : of.shifts)
        for (double const component : shift)
          if (!std::isfinite(component))
            throw error(prefix + "found a shift that is not finite; give finite ones");
      if (!of.shifts.empty() && of.shifts[0] != shift_type{})
        throw error(prefix + "shift 0 is not zero; number shifts from 1");
    }

    /// All shifts, each once, with the numbers that those of the caller and their opposites have here.
    struct shift_table
    {
      std::vector<shift_type> all{{}};
      std::vector<std::uint16_t> here, opposite;

      explicit shift_table(std::span<shift_type const> given)
      {
        for (shift_type const& shift : given)
        {
          here.push_back(number_of(shift));
          opposite.push_back(number_of({-shift[0], -shift[1], -shift[2]}));
        }
        if (given.empty()) here = opposite = {0};
      }

      std::uint16_t number_of(shift_type const& shift)
      {
        auto const number =
            static_cast<std::size_t>(std::find(all.begin(), all.end(), shift) - all.begin());
        if (number == all.size()) all.push_back(shift);
        if (number > std::numeric_limits<std::uint16_t>::max())
          throw error(prefix + "found more than 65535 shifts and opposite ones; give fewer");
        return static_cast<std::uint16_t>(number);
      }
    };

    /// Sorts the meetings, each once, into rows of ranges.
    void make_rows(std::vector<meeting>& met, index_type n, boxes const& sources,
                   std::vector<index_type>& offsets, std::vector<interaction_list::range>& ranges)
    {
      std::sort(met.begin(), met.end());
      met.erase(std::unique(met.begin(), met.end()), met.end());
      offsets.assign(1, 0);
      auto at = met.begin();
      for (index_type b = 0; b < n; ++b)
      {
        for (; at != met.end() && at->b == b; ++at)
        {
          index_type const begin = sources.begin(at->j), end = sources.end(at->j);
          if (begin == end) continue;
          bool const follows = ranges.size() > offsets.back() && ranges.back().end == begin &&
                               ranges.back().shift == at->shift;
          if (follows)
            ranges.back().end = end;
          else
            ranges.push_back({begin, end, 0, at->shift});
        }
        offsets.push_back(static_cast<index_type>(ranges.size()));
      }
    }
  }

  leaf_list::leaf_list(boxes const& points, neighbour_lists const& neighbours)
      : leaf_list(points, points, true, neighbours)
  {}

  leaf_list::leaf_list(boxes const& targets, boxes const& sources,
                       neighbour_lists const& neighbours)
      : leaf_list(targets, sources, false, neighbours)
  {}

  leaf_list::leaf_list(boxes const& targets, boxes const& sources, bool one_set,
                       neighbour_lists const& of)
      : targets_(targets.offsets.begin(), targets.offsets.end()),
        n_sources_(sources.size() > 0 ? sources.end(sources.size() - 1) : 0), has_one_set_(one_set)
  {
    check(targets, sources, of);
    index_type const n = targets.size();
    shift_table shifts(of.shifts);
    std::vector<meeting> full, half;
    for (index_type b = 0; b < n; ++b)
      for (index_type e = of.offsets[b]; e < of.offsets[b + 1]; ++e)
      {
        index_type const j = of.leaves[e];
        std::uint16_t const given = of.shift_of.empty() ? std::uint16_t(0) : of.shift_of[e];
        meeting const there{b, shifts.here[given], j}, back{j, shifts.opposite[given], b};
        if (one_set && b == j && there.shift == 0) continue; // own
        full.push_back(there);
        if (!one_set) continue;
        full.push_back(back);
        bool const is_first = b < j || (b == j && there.shift < back.shift);
        half.push_back(is_first ? there : back);
      }
    make_rows(full, n, sources, full_.offsets, full_.ranges);
    make_rows(half, n, sources, half_.offsets, half_.ranges);
    for (index_type b = 0; b < n; ++b)
      own_.push_back(one_set ? interaction_list::range{targets.begin(b), targets.end(b)}
                             : interaction_list::range{});
    shifts_ = std::move(shifts.all);
  }

  leaf_list::part leaf_list::leaves(index_type first, index_type last) const
  {
    if (first > last || last > targets().size())
      throw error(prefix + "found the leaves [" + std::to_string(first) + ", " +
                  std::to_string(last) + ") of " + std::to_string(targets().size()) +
                  "; give leaves of the list");
    return {*this, first, last};
  }
}
