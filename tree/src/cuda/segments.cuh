#pragma once

#include "device_images.cuh"
#include "geometry.hpp"
#include "launch.cuh"
#include "starts.cuh"
#include "systems.cuh"

#include <cstdint>

/// \file
/// Which points an item meets: the cells around it, as ranges of positions. A warp finds them, one range per lane.

namespace nearfield::detail
{
  using std::uint32_t;
  using std::uint64_t;

  /// Sorted points and their cells as kernels take them, whatever their precision.
  struct device_cell_view
  {
    uint4 const* targets;
    uint4 const* sources;
    cell_starts starts;
    uint32_t const* item_begin;
    /// the cell of the first point of each item, and the largest number last; one of the two is null
    uint32_t const* item_cell;
    uint64_t const* item_wide_cell;
    uint32_t n_items;
    /// the number of items plus 1, which are at most n_items; null: n_items
    uint32_t const* items_found;
    /// half: an item meets only points after its first one, and images of that
    bool half, one_set;
    /// of each shift; null if there is only the box itself
    image_move const* images;
    /// of all items, if there is one system; otherwise only the group is
    cell_geometry geometry;
    /// a batch; null: one system
    device_system const* systems;
    /// the system of each item
    uint32_t const* item_system;

    __device__ uint32_t items() const { return items_found ? *items_found - 1 : n_items; }
    /// The system of an item of a batch.
    __device__ device_system const& system_of(uint32_t item) const
    {
      return systems[item_system[item]];
    }
    /// The geometry around an item. `Batch`: whether there are systems.
    template <bool Batch>
    __device__ cell_geometry const& geometry_of(uint32_t item) const
    {
      if constexpr (Batch)
        return system_of(item).geometry;
      else
        return geometry;
    }
  };

  /// k / d, with reciprocal = (2^32 - 1) / d: the high word of the product is too small by at most one.
  __device__ inline uint32_t divided(uint32_t k, uint32_t d, uint32_t reciprocal)
  {
    uint32_t const q = __umulhi(k, reciprocal);
    return k - q * d >= d ? q + 1 : q;
  }

  /// A cell on an axis and the image in which it is met.
  struct cell_image
  {
    int cell, image;
  };

  /// Cell e of those within reach of cell c, in the order of the grid; cell < 0 if there is none.
  template <bool Images>
  __device__ cell_image neighbour_cell(cell_geometry const& g, int axis, int c, int e)
  {
    int const n = static_cast<int>(g.cells[axis]), reach = g.reach[axis], low = c - reach;
    if (!Images || !g.wraps[axis])
    {
      int const v = low + e;
      return {v < n ? v : -1, 0};
    }
    // The image after the last cell consists of the first cells, and comes first. All but the first image and the last
    // one are whole.
    int const high = c + reach, top = static_cast<int>(divided(high, n, g.reciprocal[axis]));
    int image = top, first = max(low - top * n, 0);
    int const before = high - top * n + 1 - first; // cells of the first image
    if (e >= before)
    {
      e -= before;
      int const later = static_cast<int>(divided(e, n, g.reciprocal[axis]));
      e -= later * n;
      image -= later + 1;
      first = max(low - image * n, 0);
    }
    return {first + e, image};
  }

  /// Positions [begin, end) of consecutive cells of a row, met in the image of this shift. One per lane.
  struct __align__(16) source_segment
  {
    uint32_t begin = 0, end = 0;
    uint32_t shift = 0;
  };

  /// The segments of an item and what their images add, 32 at a time, in shared memory: registers are few.
  class segment_walk
  {
  public:
    __device__ segment_walk(source_segment* segments, image_move* moves)
        : segments_(segments), moves_(moves)
    {}

    /// Makes the next 32 segments; false if there are none left. `Images`: whether some axis wraps; in a batch it may.
    /// `Sparse`: whether groups may have more than 2 cells.
    template <bool Images, bool Batch, bool Sparse>
    __device__ bool advance(device_cell_view const& in, uint32_t item, uint32_t item_begin,
                            int lane)
    {
      cell_geometry const& g = in.geometry_of<Batch>(item);
      int const total = segments<Images>(g);
      if (next_ >= total) return false;
      source_segment mine;
      if (next_ + lane < total)
        mine = segment<Images, Batch, Sparse>(in, item, next_ + lane, g.group);
      next_ += 32;
      // items before this one have met it; an image of its first point is still to be met
      if (in.half) mine.begin = max(mine.begin, item_begin + (!Images || mine.shift == 0 ? 1 : 0));
      pending_ = __ballot_sync(all_lanes, mine.begin < mine.end);
      image_move move{};
      if (Images && mine.shift != 0)
        move = in.images[(Batch ? in.system_of(item).first_image : 0) + mine.shift];
      __syncwarp(); // others have read those before
      segments_[lane] = mine;
      if constexpr (Images) moves_[lane] = move;
      __syncwarp();
      return true;
    }

    [[nodiscard]] __device__ bool has_pending() const { return pending_ != 0; }
    [[nodiscard]] __device__ source_segment first() const { return segments_[__ffs(pending_) - 1]; }
    /// What its image adds; only with images.
    [[nodiscard]] __device__ image_move const& move_of_first() const
    {
      return moves_[__ffs(pending_) - 1];
    }
    __device__ void drop_first() { pending_ &= pending_ - 1; }
    /// Keeps the first segment from `begin` on.
    __device__ void keep_from(uint32_t begin, int lane)
    {
      __syncwarp(); // others have read it
      if (lane == 0) segments_[__ffs(pending_) - 1].begin = begin;
    }

    /// The number of segments of any item.
    template <bool Images>
    __device__ static int segments(cell_geometry const& g)
    {
      int const rows = (2 * g.reach[0] + 1) * (2 * g.reach[1] + 1);
      return Images ? rows * static_cast<int>(g.parts) : rows;
    }
    /// Segment s of an item, which lies in a group of cells.
    template <bool Images, bool Batch, bool Sparse>
    __device__ static source_segment segment(device_cell_view const& in, uint32_t item, int s,
                                             uint32_t group)
    {
      static_assert(Images || !Batch);
      cell_geometry const& g = in.geometry_of<Batch>(item);
      uint64_t const first_of_system = Batch ? in.system_of(item).first_cell : 0;
      int x_of_item, y_of_item, z_of_item, beyond;
      if (in.item_cell)
        place<Sparse>(g, in.item_cell + item, static_cast<uint32_t>(first_of_system), group,
                      x_of_item, y_of_item, z_of_item, beyond);
      else
        place<Sparse>(g, in.item_wide_cell + item, first_of_system, group, x_of_item, y_of_item,
                      z_of_item, beyond);
      int const row = Images ? static_cast<int>(divided(s, g.parts, g.parts_reciprocal)) : s;
      int const part = Images ? s - row * static_cast<int>(g.parts) : 0;
      int const across_y = 2 * g.reach[1] + 1;
      int const row_x = static_cast<int>(divided(row, across_y, g.across_reciprocal));
      cell_image const x = neighbour_cell<Images>(g, 0, x_of_item, row_x);
      cell_image const y = neighbour_cell<Images>(g, 1, y_of_item, row - row_x * across_y);
      if (x.cell < 0 || y.cell < 0) return {};

      cell_range const z = along_row<Images>(g, z_of_item, beyond, part);
      if (z.first > z.last) return {};
      uint64_t const first =
          first_of_system + (static_cast<uint64_t>(x.cell) * g.cells[1] + y.cell) * g.row_cells;
      source_segment found{in.starts.first_of(first + z.first),
                           in.starts.first_of(first + z.last + 1)};
      if constexpr (Images)
      {
        int const sum = x.image * g.weight[0] + y.image * g.weight[1] + z.image * g.weight[2];
        found.shift = static_cast<uint32_t>(sum < 0 ? sum + g.n_images : sum);
      }
      return found;
    }

  private:
    /// The first cell of an item, and how many cells of the row beyond it the item may lie in: up to the end of a group of
    /// at most 2, or of larger ones up to that where the next item begins, which costs another load and a modulus.
    template <bool Sparse, class Key>
    __device__ static void place(cell_geometry const& g, Key const* at, Key first_of_system,
                                 uint32_t group, int& x, int& y, int& z, int& beyond)
    {
      Key const key = at[0] - first_of_system;
      cell_of(g, key, x, y, z);
      auto const z_cell = static_cast<uint32_t>(z);
      if constexpr (Sparse)
        beyond =
            group == 1 ? 0 : static_cast<int>(min(at[1] - at[0], Key(group - 1 - z_cell % group)));
      else
        beyond = static_cast<int>((group - 1) & ~z_cell);
    }
    __device__ static void cell_of(cell_geometry const& g, uint32_t key, int& x, int& y, int& z)
    {
      uint32_t const row = divided(key, g.row_cells, g.row_reciprocal);
      uint32_t const column = divided(row, g.cells[1], g.reciprocal[1]);
      z = static_cast<int>(key - row * g.row_cells);
      x = static_cast<int>(column);
      y = static_cast<int>(row - column * g.cells[1]);
    }
    __device__ static void cell_of(cell_geometry const& g, uint64_t key, int& x, int& y, int& z)
    {
      uint64_t const row = key / g.row_cells;
      z = static_cast<int>(key - row * g.row_cells);
      x = static_cast<int>(row / g.cells[1]);
      y = static_cast<int>(row - x * static_cast<uint64_t>(g.cells[1]));
    }

    struct cell_range
    {
      int first, last, image;
    };
    /// Part of the cells of a row within reach of an item in cell z and those beyond it: those in one image, of which the
    /// last one comes first.
    template <bool Images>
    __device__ static cell_range along_row(cell_geometry const& g, int z, int beyond, int part)
    {
      int const n = static_cast<int>(g.cells[2]), low = z - g.reach[2];
      int const high = min(z + beyond, n - 1) + g.reach[2];
      int const image =
          Images && g.wraps[2] ? static_cast<int>(divided(high, n, g.reciprocal[2])) - part : 0;
      return {max(low - image * n, 0), min(high - image * n, n - 1), image};
    }

    int next_ = 0;
    uint32_t pending_ = 0;
    source_segment* segments_;
    image_move* moves_;
  };
}
