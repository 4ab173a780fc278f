#pragma once

#include "leaves.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace nearfield::detail
{
  /// Writes the interaction lists of boxes, row by row. The half list, made for one set only, holds the ranges of
  /// the full one that lie after each box, and images of a box that meets itself: half of them if it is the only one,
  /// all of those that add_own() added.
  class NEARFIELD_API list_writer
  {
  public:
    /// Appends to the tables; to empty ones with room for so many rows, and ranges in the full list. An error names the
    /// function and the remedy.
    list_writer(interaction_table& full, interaction_table& half, boxes const& targets,
                boxes const& sources, bool one_set, char const* function, char const* remedy,
                std::size_t rows = 0, std::size_t ranges = 0);

    /// The number of all boxes.
    [[nodiscard]] index_type n_boxes() const { return targets_.size(); }
    /// A box without targets has no ranges.
    [[nodiscard]] bool has_targets(index_type b) const { return targets_.count(b) > 0; }

    /// Appends the sources of the boxes [first, last) to the row. All sources in the row already have lower positions,
    /// unless boxes meet images of themselves.
    void add(index_type first, index_type last, std::uint16_t shift = 0)
    {
      index_type const begin = sources_.offsets[first], end = sources_.offsets[last];
      if (begin == end) return;
      auto& ranges = full_.ranges;
      if (has_ranges_ && ranges.back().end == begin && ranges.back().shift == shift)
        ranges.back().end = end;
      else
        ranges.push_back({begin, end, 0, shift});
      has_ranges_ = true;
    }

    /// Rows have interaction_table::own_at: to be said before the first row.
    void note_own_at() { notes_own_at_ = true; }
    /// Boxes may meet images of themselves, which add_own() adds: to be said before the first row.
    void expect_own_images() { has_own_images_ = notes_own_at_ = true; }

    /// The box of the row itself comes now, or an image of it as a range of its own.
    void add_own(index_type b, std::uint16_t shift)
    {
      has_ranges_ = false;
      if (shift == 0)
        own_at_ = full_.ranges.size() - row_;
      else
        add(b, b + 1, shift);
      has_ranges_ = false;
    }

    /// Ends the row of box b, the one after the last. Throws nearfield::error if there are too many ranges.
    void close(index_type b);

    /// The pairs of a target and a source that meet in the rows so far; of one set, those of two different points.
    [[nodiscard]] std::uint64_t pairs() const { return pairs_; }

  private:
    interaction_table &full_, &half_;
    boxes targets_, sources_;
    bool one_set_;
    char const *function_, *remedy_;
    std::size_t row_ = 0;         // where it starts
    bool has_ranges_ = false;     // of which the last may become longer
    bool has_own_images_ = false; // which add_own() adds
    bool notes_own_at_ = false;
    std::size_t own_at_ = 0; // in the row
    std::uint64_t pairs_ = 0;
  };

  /// The lists of consecutive boxes.
  struct list_pair
  {
    interaction_table full, half;
    std::uint64_t pairs = 0; ///< as list_writer::pairs()
  };

  /// Appends the lists of consecutive boxes to `whole`. If `kept` is not null, the pieces go there, otherwise their memory
  /// is released. Throws nearfield::error as list_writer does.
  NEARFIELD_API void join(executor& on, std::span<list_pair> pieces, char const* function,
                          char const* remedy, list_pair& whole,
                          std::vector<list_pair>* kept = nullptr);

  /// Keeps the memory.
  NEARFIELD_API void clear(list_pair& lists);

  /// The boxes that meet, what an error names, and how many ranges a row of the full list has, about.
  struct boxes_to_list
  {
    boxes targets, sources;
    bool one_set;
    char const *function, *remedy;
    std::size_t ranges_of_row;
  };

  /// Appends the lists of all boxes to `whole`: list(first, last, writer) makes the rows [first, last). The memory of the
  /// parts stays in `kept` for the next call, if it is not null: to write to new pages takes as long as a list.
  template <class List>
  void list_in_parts(executor& on, boxes_to_list const& of, List const& list, list_pair& whole,
                     std::vector<list_pair>* kept = nullptr)
  {
    auto const append = [&](std::size_t begin, std::size_t end, list_pair& to)
    {
      list_writer writer(to.full, to.half, of.targets, of.sources, of.one_set, of.function,
                         of.remedy, end - begin, (end - begin) * of.ranges_of_row);
      list(static_cast<index_type>(begin), static_cast<index_type>(end), writer);
      to.pairs += writer.pairs();
    };
    loop_parts const loop = cut(on, of.targets.size(), 256, 4);
    if (loop.parts == 1) return append(0, loop.n, whole);
    std::vector<list_pair> pieces;
    if (kept) pieces = std::move(*kept);
    pieces.resize(static_cast<std::size_t>(loop.parts));
    for_each_part(on, loop,
                  [&](int part, std::size_t begin, std::size_t end)
                  {
                    // its own, since those of `pieces` share cache lines
                    list_pair piece = std::move(pieces[part]);
                    clear(piece);
                    append(begin, end, piece);
                    pieces[part] = std::move(piece);
                  });
    join(on, pieces, of.function, of.remedy, whole, kept);
  }

  /// The interaction lists of leaves [first, last), which may have any levels, with Morton keys of `key_level`: a leaf
  /// meets those whose closed boxes, or images of them, share a point with its own.
  template <int Dim>
  NEARFIELD_API void list_leaves(leaf_set<Dim> const& leaves, int key_level,
                                 std::type_identity_t<std::array<double, Dim>> const& period,
                                 index_type first, index_type last, list_writer& lists);
}
