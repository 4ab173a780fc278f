#pragma once

#include "images.hpp"
#include "keys.hpp"
#include "sort.hpp"

#include <nearfield/tree/build_tree.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nearfield::detail
{
  /// The leaves in ascending order of their keys.
  template <int Dim>
  struct leaf_set
  {
    page_vector<leaf_cell<Dim>> cells;
    page_vector<std::uint8_t> levels; ///< of the cells, side by side, for the cache; empty in rows
    /// the smallest key of each, in the layout of the points
    page_vector<std::uint64_t> keys;
    /// as boxes::offsets; those of the sources are zeros if there is one set
    page_vector<index_type> target_offsets{0}, source_offsets{0};

    [[nodiscard]] index_type size() const { return static_cast<index_type>(cells.size()); }
    /// Makes room for n leaves more, which the caller sets; returns how many there were.
    std::size_t grow(std::size_t n)
    {
      std::size_t const first = cells.size();
      cells.resize(first + n);
      levels.resize(first + n);
      keys.resize(first + n);
      target_offsets.resize(first + n + 1);
      source_offsets.resize(first + n + 1);
      return first;
    }
  };

  /// Keys [begin, end) along the Z curve, all by default. A part of a tree starts and ends where leaves do.
  struct curve_range
  {
    std::uint64_t begin = 0, end = ~std::uint64_t(0);
  };

  /// The keys of a box, of this level and one that keys have.
  template <int Dim>
  constexpr curve_range keys_of(std::array<std::uint32_t, Dim> const& index, int level,
                                int key_level)
  {
    int const shift = Dim * (key_level - level);
    std::uint64_t const begin = encode<leaf_order::morton, Dim>(index, level) << shift;
    return {begin, begin + (std::uint64_t(1) << shift)};
  }

  /// Cells around a cell, itself included.
  template <int Dim>
  inline constexpr int cells_around = Dim == 3 ? 27 : 9;

  /// The cell number `step` around one of its size, and the image in which it is met. False if there is none.
  template <int Dim>
  constexpr bool find_cell_around(leaf_cell<Dim> const& cell, int step, bool const (&wraps)[Dim],
                                  std::array<std::uint32_t, Dim>& index, int& image)
  {
    std::uint32_t const n = 1u << cell.level;
    bool exists = true;
    image = 0;
    for (int d = Dim - 1; d >= 0; --d, step /= 3)
    {
      index[d] = cell.index[d] + static_cast<std::uint32_t>(step % 3 - 1);
      if (index[d] < n) continue; // below zero wraps round to a large number
      exists &= wraps[d];
      index[d] &= n - 1;
      image += (step % 3 - 1) * image_step(d);
    }
    return exists;
  }

  /// One leaf for every cell that holds points. Without sources there is one set.
  template <int Dim>
  NEARFIELD_API leaf_set<Dim> uniform_leaves(executor& on, occupied_cells&& targets,
                                             occupied_cells const* sources,
                                             key_layout const& layout);

  /// The largest boxes that hold at most max_leaf_size targets and sources, down to the level of the (Morton) keys, which
  /// ascend. All keys are in the owned range: a box that reaches beyond it holds too many points with those that are
  /// elsewhere.
  template <int Dim>
  NEARFIELD_API leaf_set<Dim> adaptive_leaves(executor& on, std::span<std::uint64_t const> targets,
                                              std::span<std::uint64_t const> sources, int key_level,
                                              index_type max_leaf_size,
                                              curve_range const& owned = {});
}
