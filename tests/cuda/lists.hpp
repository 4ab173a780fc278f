#pragma once

#include "points.hpp"

#include <nearfield/core/boxes.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

/// \file
/// Lists for tests of steps, and what the plain loop must know of them.

namespace nearfield::test
{
  /// meets(i, j) as the full list has it.
  class meetings
  {
  public:
    meetings(boxes const& targets, interaction_list const& list) : list_(list)
    {
      for (index_type b = 0; b < targets.size(); ++b) box_.insert(box_.end(), targets.count(b), b);
    }

    [[nodiscard]] bool operator()(std::size_t i, std::size_t j) const
    {
      index_type const b = box_[i];
      auto const holds = [j](interaction_list::range const& range)
      {
        return j >= range.begin && j < range.end;
      };
      return holds(list_.own[b]) || std::ranges::any_of(list_.neighbours(b), holds);
    }

  private:
    std::vector<index_type> box_;
    interaction_list list_;
  };

  /// A target of each of about `count` boxes, the largest and the smallest among them.
  inline std::vector<std::size_t> sample_of_boxes(boxes const& targets, std::size_t count)
  {
    std::vector<index_type> by_size;
    for (index_type b = 0; b < targets.size(); ++b)
      if (targets.count(b) > 0) by_size.push_back(b);
    std::ranges::sort(by_size, {}, [&](index_type b) { return targets.count(b); });
    std::vector<std::size_t> sample;
    random_numbers random(13);
    for (std::size_t s = 0; s < count; ++s)
    {
      index_type const b = by_size[s * (by_size.size() - 1) / (count - 1)];
      sample.push_back(targets.begin(b) + random.below(targets.count(b)));
    }
    return sample;
  }

  /// Boxes around the limits of items, a row in which each meets the three on either side.
  struct row_of_boxes
  {
    std::vector<index_type> offsets{0}, full_offsets{0}, half_offsets{0};
    std::vector<interaction_list::range> own, full, half;

    row_of_boxes()
    {
      for (index_type const count :
           {0,  1,   2,    16,  17, 20, 21,  0,    31,  32,  33, 63, 64,  65, 96,
            97, 127, 128,  129, 0,  0,  7,   192,  193, 255, 0,  64, 257, 3,  1,
            40, 17,  1030, 5,   0,  62, 385, 2100, 11,  64,  63, 18, 1,   0})
      {
        own.push_back({.begin = offsets.back(), .end = offsets.back() + count});
        offsets.push_back(own.back().end);
      }
      index_type const n = static_cast<index_type>(own.size());
      for (index_type b = 0; b < n; ++b)
      {
        // not merged: short ranges, empty ones among them
        for (index_type c = b < 3 ? 0 : b - 3; c < std::min(n, b + 4); ++c)
        {
          if (c != b) full.push_back(own[c]);
          if (c > b) half.push_back(own[c]);
        }
        full_offsets.push_back(static_cast<index_type>(full.size()));
        half_offsets.push_back(static_cast<index_type>(half.size()));
      }
    }

    [[nodiscard]] boxes points() const { return {offsets}; }
    [[nodiscard]] interaction_list list() const { return {own, full_offsets, full, {}}; }
    [[nodiscard]] interaction_list half_list() const { return {own, half_offsets, half, {}}; }
  };
}
