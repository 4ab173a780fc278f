#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace nearfield
{
  /// The position of a point in an array, or of a box in a list. A cloud has fewer than 2^32 points;
  /// counts of pairs are 64-bit.
  using index_type = std::uint32_t;

  /// Consecutive source points [begin, end) that one target box meets.
  struct source_range
  {
    index_type begin = 0; ///< the first of them
    index_type end = 0;   ///< one past the last
    /// which set of source columns `begin` and `end` count in: 0 where there is one
    std::uint16_t chunk = 0;
    /// which shift of the list is added to the sources: 0 is none
    std::uint16_t shift = 0;

    friend bool operator==(source_range const&, source_range const&) = default;
  };

  /// Points sorted by box: box b holds the points [offsets[b], offsets[b + 1]).
  struct boxes
  {
    std::span<index_type const> offsets; ///< n + 1 for n boxes, ascending from 0; empty: no box

    /// The number of boxes.
    [[nodiscard]] index_type size() const
    {
      return offsets.empty() ? 0 : static_cast<index_type>(offsets.size() - 1);
    }
    /// The first point of box b.
    [[nodiscard]] index_type begin(index_type b) const { return offsets[b]; }
    /// One past the last point of box b.
    [[nodiscard]] index_type end(index_type b) const { return offsets[b + 1]; }
    /// The number of points in box b.
    [[nodiscard]] index_type count(index_type b) const { return end(b) - begin(b); }
  };

  /// Who meets whom: target box b meets the source points of its own box, own[b], and those of its
  /// neighbours, ranges[offsets[b]] ... ranges[offsets[b + 1] - 1], without its own.
  ///
  /// In a *half* list of one set every pair of boxes stands once, at the box that comes first, so
  /// every range lies after its target box; a mutual kernel serves both sides of it.
  struct interaction_list
  {
    std::span<source_range const> own; ///< one for each target box, [0, 0) where it has no sources
    std::span<index_type const> offsets;  ///< n + 1 for n target boxes, ascending from 0
    std::span<source_range const> ranges; ///< box after box
    /// length^1, added to the sources of a range; shifts[0] is zero; empty stands for {0}
    std::span<std::array<double, 3> const> shifts;

    /// The ranges of the sources that box b meets beside its own.
    [[nodiscard]] std::span<source_range const> neighbours(index_type b) const
    {
      return ranges.subspan(offsets[b], offsets[b + 1] - offsets[b]);
    }
  };
}
