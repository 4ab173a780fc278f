#pragma once

#include "tree/src/keys.hpp"
#include "tree/src/leaves.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nearfield::starpu_mpi::detail
{
  using namespace nearfield::detail;

  /// Ranges that ascend with the ranks, from where the leaves of each begin and end. This rank's is widened to the leaves of
  /// its neighbours, so that leaves beside an empty gap are inside; that of a rank without leaves is empty, at the end of
  /// the one before.
  inline std::vector<curve_range> ranges_around(int rank, std::vector<curve_range> extents)
  {
    auto const me = static_cast<std::size_t>(rank);
    curve_range reach;
    for (std::size_t r = 0; r < extents.size(); ++r)
      if (r < me)
        reach.begin = std::max(reach.begin, extents[r].end);
      else if (r > me && extents[r].begin < extents[r].end)
        reach.end = std::min(reach.end, extents[r].begin);
    extents[me] = reach;
    for (std::size_t r = 1; r < extents.size(); ++r)
      if (extents[r].begin == extents[r].end)
        extents[r].begin = extents[r].end = extents[r - 1].end;
    return extents;
  }

  /// Finds the ranks in whose ranges a leaf touches something. Leaves that come in the order of their keys are quicker.
  template <int Dim>
  class touched_ranks
  {
  public:
    /// `ranges` as ranges_around() gives them.
    touched_ranks(std::span<curve_range const> ranges, int key_level, int rank,
                  std::array<double, Dim> const& period)
        : ranges_(ranges), key_level_(key_level), rank_(rank), period_(period)
    {}

    /// Whether all keys around a leaf are of this rank, by the first and the last: they ascend with each index.
    [[nodiscard]] bool is_inside(leaf_cell<Dim> const& leaf) const
    {
      std::int64_t const last = (std::int64_t(1) << leaf.level) - 1;
      place low, high;
      for (int d = 0; d < Dim; ++d)
      {
        std::int64_t const at = leaf.index[d];
        if (period_[d] > 0 && (at == 0 || at == last)) return false;
        low[d] = std::max<std::int64_t>(0, at - 1);
        high[d] = std::min(last, at + 1);
      }
      curve_range const& own = range(rank_);
      return key_at(low, leaf.level) >= own.begin &&
             key_at(high, leaf.level) + after_first(leaf.level) < own.end;
    }

    /// The other ranks whose ranges a leaf touches, each once; the leaf is not inside. Where the box around it touches only
    /// one, that is the answer for all leaves in the box, even if some do not touch it: they are told in vain.
    std::vector<int> const& of(leaf_cell<Dim> const& leaf)
    {
      leaf_cell<Dim> box = leaf;
      box.level = std::max(0, leaf.level - levels_of_a_box);
      for (std::uint32_t& index : box.index) index >>= leaf.level - box.level;
      if (!box_ || *box_ != box)
      {
        box_ = box;
        look(box);
        of_box_ = found_;
      }
      if (of_box_.size() <= 1) return of_box_;
      look(leaf);
      return found_;
    }

  private:
    static constexpr int levels_of_a_box = 3; // a face of it has 64 leaves, for one look

    void look(leaf_cell<Dim> const& leaf)
    {
      found_.clear();
      leaf_ = leaf;
      std::int64_t const last = (std::int64_t(1) << leaf.level) - 1;
      for (int d = 0; d < Dim; ++d)
        for (int step = 0; step < 3; ++step)
        {
          std::int64_t const at = std::int64_t(leaf.index[d]) + step - 1;
          around_[d][step] = {at, bits(d, at, leaf.level),
                              period_[d] > 0 || (at >= 0 && at <= last)};
        }
      place at;
      look_around(0, at, 0);
    }

    /// Indices in the lattice of a level, which continues beyond a periodic box.
    using place = std::array<std::int64_t, Dim>;

    /// The bits of an index along an axis in the first key of its cells, or of those that these are images of.
    [[nodiscard]] std::uint64_t bits(int d, std::int64_t at, int level) const
    {
      auto const index = static_cast<std::uint32_t>(at & ((std::int64_t(1) << level) - 1));
      return spread<Dim>(index) << (Dim - 1 - d) << Dim * (key_level_ - level);
    }
    [[nodiscard]] std::uint64_t key_at(place const& at, int level) const
    {
      std::uint64_t key = 0;
      for (int d = 0; d < Dim; ++d) key |= bits(d, at[d], level);
      return key;
    }
    /// One less than the keys of a cell.
    [[nodiscard]] std::uint64_t after_first(int level) const
    {
      return (std::uint64_t(1) << (Dim * (key_level_ - level))) - 1;
    }

    [[nodiscard]] curve_range const& range(int rank) const
    {
      return ranges_[static_cast<std::size_t>(rank)];
    }
    /// Whether all keys of the cell with this first key are of a rank.
    [[nodiscard]] bool is_of(int rank, std::uint64_t first, int level) const
    {
      return first >= range(rank).begin && first + after_first(level) < range(rank).end;
    }

    /// The last rank whose range begins at a key or before it; -1: none.
    [[nodiscard]] int last_until(std::uint64_t key) const
    {
      return static_cast<int>(std::ranges::upper_bound(ranges_, key, {}, &curve_range::begin) -
                              ranges_.begin()) -
             1;
    }

    /// Visits the boxes around the leaf that are not this rank's alone; of the axes before d, `at` and `key` are known.
    void look_around(int d, place& at, std::uint64_t key)
    {
      if (d == Dim)
      {
        if (!is_of(rank_, key, leaf_.level)) visit(at, key, leaf_.level);
        return;
      }
      for (auto const& [index, bits_of_it, exists] : around_[d])
      {
        if (!exists) continue;
        at[d] = index;
        look_around(d + 1, at, key | bits_of_it);
      }
    }

    /// Of the box at a place, whose first key this is.
    void visit(place const& at, std::uint64_t key, int level)
    {
      // boxes around a leaf are often all of one rank
      if (!found_.empty() && is_of(found_.back(), key, level)) return;
      int const last = last_until(key + after_first(level));
      if (last < 0 || range(last).end <= key) return; // nobody has leaves there
      if (is_of(last, key, level))
      {
        if (last != rank_ && std::ranges::find(found_, last) == found_.end())
          found_.push_back(last);
        return;
      }
      // only those in the children that touch the leaf
      for (int child = 0; child < 1 << Dim; ++child)
      {
        place part;
        int const up = level + 1 - leaf_.level;
        bool touches = true;
        for (int d = 0; d < Dim; ++d)
        {
          part[d] = 2 * at[d] + (child >> d & 1);
          std::int64_t const begin = std::int64_t(leaf_.index[d]) << up;
          std::int64_t const end = (std::int64_t(leaf_.index[d]) + 1) << up;
          touches &= part[d] <= end && part[d] + 1 >= begin;
        }
        if (touches) visit(part, key_at(part, level + 1), level + 1);
      }
    }

    std::span<curve_range const> ranges_;
    int key_level_, rank_;
    std::array<double, Dim> const& period_;
    leaf_cell<Dim> leaf_{}; ///< or a box of leaves
    struct beside
    {
      std::int64_t index;
      std::uint64_t bits;
      bool exists;
    };
    std::array<std::array<beside, 3>, Dim> around_; ///< the leaf's index and those beside it
    std::vector<int> found_, of_box_;
    std::optional<leaf_cell<Dim>> box_; ///< that was looked at last
  };
}
