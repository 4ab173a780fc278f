#pragma once

#include "search_input.cuh"

/// \file
/// The candidates of one item, which a warp searches: the records of the cells around it, in the order of
/// positions, without those that are too far from all of its points.

namespace nearfield::detail
{
  inline constexpr uint32_t all_lanes = ~0u;

  /// The points of an item, one per lane, and their bounding box.
  struct search_item
  {
    uint32_t begin;
    int count;
    /// the index of this lane's point
    uint32_t index;
    /// the centre of the box, in units
    uint32_t centre[3];
    /// half the edges of the box, in cutoffs
    float half_edge[3];
    /// this lane's point relative to the centre, in cutoffs; 0 in lanes without a point
    float x[3];

    __device__ search_item(search_input const& in, uint32_t item, int lane)
        : begin(in.item_begin[item]), count(static_cast<int>(in.item_begin[item + 1] - begin))
    {
      uint4 const mine = in.targets[begin + (lane < count ? lane : 0)];
      index = mine.w;
      uint32_t const u[3] = {mine.x, mine.y, mine.z};
#pragma unroll
      for (int a = 0; a < 3; ++a)
      {
        uint32_t const origin = __shfl_sync(all_lanes, u[a], 0);
        int const d = static_cast<int>(u[a] - origin);
        int const low = __reduce_min_sync(all_lanes, d), high = __reduce_max_sync(all_lanes, d);
        int const middle = low + (high - low) / 2;
        centre[a] = origin + static_cast<uint32_t>(middle);
        half_edge[a] = static_cast<float>(high - middle) * in.geometry.unit + in.geometry.slack;
        x[a] = lane < count ? static_cast<float>(d - middle) * in.geometry.unit : 0.f;
      }
    }
  };

  /// A cell on an axis and the image in which it is met: its points are at x + image * L.
  struct cell_image
  {
    int cell, image;
  };

  /// Cell e of those within reach of cell c, in the order of the grid; cell < 0 if there is none.
  __device__ inline cell_image neighbour_cell(search_geometry const& g, int axis, int c, int e)
  {
    int const n = static_cast<int>(g.cells[axis]), reach = g.reach[axis], low = c - reach;
    if (!g.wraps[axis])
    {
      int const v = low + e;
      return {v < n ? v : -1, 0};
    }
    // cells past the end of the grid are its first ones, and come first; cells before its start come last
    int const first = low < 0 ? -low : c + reach >= n ? n - low : 0;
    int const turned = first + e;
    int const v = low + (turned > 2 * reach ? turned - (2 * reach + 1) : turned);
    int const image = v < 0 ? -1 : v >= n ? 1 : 0;
    return {v - image * n, image};
  }

  /// Positions [begin, end) of consecutive cells of a row, met in one image; `code` holds image + 1 of each
  /// axis in 2 bits. One per lane.
  struct source_segment
  {
    uint32_t begin = 0, end = 0;
    uint32_t code = 0;

    static constexpr uint32_t no_image = 1 | 1 << 2 | 1 << 4;
  };

  /// The segments of an item, 32 at a time.
  class segment_walk
  {
  public:
    /// Makes the next 32 segments; false if there are none left.
    __device__ bool advance(search_input const& in, uint32_t item, uint32_t item_begin, int lane)
    {
      search_geometry const& g = in.geometry;
      int const rows = (2 * g.reach[0] + 1) * (2 * g.reach[1] + 1);
      int const total = g.wraps[2] ? 2 * rows : rows;
      if (next_ >= total) return false;
      mine_ = next_ + lane < total ? segment(in, item, next_ + lane) : source_segment{};
      next_ += 32;
      if (in.half)
        mine_.begin = max(mine_.begin, item_begin + 1); // items before this one have met it
      pending_ = __ballot_sync(all_lanes, mine_.begin < mine_.end);
      return true;
    }

    [[nodiscard]] __device__ bool has_pending() const { return pending_ != 0; }
    [[nodiscard]] __device__ source_segment first() const
    {
      int const from = __ffs(pending_) - 1;
      return {__shfl_sync(all_lanes, mine_.begin, from), __shfl_sync(all_lanes, mine_.end, from),
              __shfl_sync(all_lanes, mine_.code, from)};
    }
    __device__ void drop_first() { pending_ &= pending_ - 1; }
    /// Keeps the first segment from `begin` on.
    __device__ void keep_from(uint32_t begin, int lane)
    {
      if (lane == __ffs(pending_) - 1) mine_.begin = begin;
    }

  private:
    /// k / d, with reciprocal = (2^32 - 1) / d: the high word of the product is too small by at most one.
    __device__ static uint32_t divided(uint32_t k, uint32_t d, uint32_t reciprocal)
    {
      uint32_t const q = __umulhi(k, reciprocal);
      return k - q * d >= d ? q + 1 : q;
    }
    __device__ static void cell_of(search_geometry const& g, uint32_t key, int& x, int& y, int& z)
    {
      uint32_t const row = divided(key, g.row_cells, g.row_reciprocal);
      uint32_t const column = divided(row, g.cells[1], g.y_reciprocal);
      z = static_cast<int>(key - row * g.row_cells);
      x = static_cast<int>(column);
      y = static_cast<int>(row - column * g.cells[1]);
    }
    __device__ static void cell_of(search_geometry const& g, uint64_t key, int& x, int& y, int& z)
    {
      uint64_t const row = key / g.row_cells;
      z = static_cast<int>(key - row * g.row_cells);
      x = static_cast<int>(row / g.cells[1]);
      y = static_cast<int>(row - x * static_cast<uint64_t>(g.cells[1]));
    }

    __device__ static source_segment segment(search_input const& in, uint32_t item, int s)
    {
      search_geometry const& g = in.geometry;
      int x_of_item, y_of_item, z_of_item;
      if (in.item_cell)
        cell_of(g, in.item_cell[item], x_of_item, y_of_item, z_of_item);
      else
        cell_of(g, in.item_wide_cell[item], x_of_item, y_of_item, z_of_item);
      // a row that wraps has two parts
      int const part = g.wraps[2] ? s & 1 : 0, row = g.wraps[2] ? s >> 1 : s;
      int const across_y = 2 * g.reach[1] + 1;
      int const row_x = static_cast<int>(divided(row, across_y, g.across_reciprocal));
      cell_image const x = neighbour_cell(g, 0, x_of_item, row_x);
      cell_image const y = neighbour_cell(g, 1, y_of_item, row - row_x * across_y);
      if (x.cell < 0 || y.cell < 0) return {};

      cell_range const z = along_row(g, z_of_item, part);
      if (z.first > z.last) return {};
      uint64_t const first = (static_cast<uint64_t>(x.cell) * g.cells[1] + y.cell) * g.row_cells;
      return {in.starts.first_of(first + z.first), in.starts.first_of(first + z.last + 1),
              static_cast<uint32_t>(x.image + 1 | (y.image + 1) << 2 | (z.image + 1) << 4)};
    }

    struct cell_range
    {
      int first, last, image;
    };
    /// The cells of a row within reach of an item that starts at cell z. In a row that wraps, cells past its
    /// end are the first cells, and are part 0; cells before its start are the last cells, and are part 1.
    __device__ static cell_range along_row(search_geometry const& g, int z, int part)
    {
      int const n = static_cast<int>(g.cells[2]), low = z - g.reach[2];
      int const high = min(z + static_cast<int>(g.group) - 1, n - 1) + g.reach[2];
      if (!g.wraps[2]) return {max(low, 0), min(high, n - 1), 0};
      if (low < 0) return part == 0 ? cell_range{0, high, 0} : cell_range{low + n, n - 1, -1};
      if (high >= n) return part == 0 ? cell_range{0, high - n, 1} : cell_range{low, n - 1, 0};
      return part == 0 ? cell_range{low, high, 0} : cell_range{0, -1, 0};
    }

    int next_ = 0;
    uint32_t pending_ = 0;
    source_segment mine_;
  };

  /// The slots of a batch that hold the item's own points: slot s >= first holds point s + shift of the item;
  /// if that is past the item's end, it is another point.
  struct own_slots
  {
    int first = 1 << 30, shift = 0;
  };

  /// Which of the 32 positions from `begin` on are candidates; lane c holds chunk c.
  struct candidate_chunks
  {
    int count = 0;
    uint32_t begin = 0, kept = 0;
  };

  /// Fills a batch: for each candidate, its position relative to the item's centre in cutoffs, and its index,
  /// in slots[]. True if the segments are exhausted, false if the batch is full.
  __device__ inline bool gather_candidates(search_input const& in, search_item const& item,
                                           uint32_t item_number, segment_walk& walk, float4* slots,
                                           int& n_slots, own_slots& own, candidate_chunks& chunks,
                                           int lane)
  {
    search_geometry const& g = in.geometry;
    uint32_t const below = (1u << lane) - 1;
    // a half list starts after the first point
    uint32_t const own_begin = item.begin + (in.half ? 1 : 0), own_end = item.begin + item.count;
    for (;;)
    {
      if (!walk.has_pending())
      {
        if (!walk.advance(in, item_number, item.begin, lane)) return true;
        continue;
      }
      auto [begin, end, code] = walk.first();
      uint32_t origin[3] = {item.centre[0], item.centre[1], item.centre[2]};
      if (code != source_segment::no_image)
#pragma unroll
        for (int a = 0; a < 3; ++a) origin[a] -= ((code >> 2 * a & 3) - 1) * g.period[a];

      while (begin < end)
      {
        constexpr int ahead = 3; // loads in flight
        uint4 records[ahead];
#pragma unroll
        for (int u = 0; u < ahead; ++u)
        {
          uint32_t const j = begin + 32 * u + lane;
          if (j < end) records[u] = in.sources[j];
        }
#pragma unroll
        for (int u = 0; u < ahead; ++u)
        {
          if (begin >= end) break;
          float const x = static_cast<float>(static_cast<int>(records[u].x - origin[0])) * g.unit;
          float const y = static_cast<float>(static_cast<int>(records[u].y - origin[1])) * g.unit;
          float const z = static_cast<float>(static_cast<int>(records[u].z - origin[2])) * g.unit;
          float const dx = fmaxf(fabsf(x) - item.half_edge[0], 0.f);
          float const dy = fmaxf(fabsf(y) - item.half_edge[1], 0.f);
          float const dz = fmaxf(fabsf(z) - item.half_edge[2], 0.f);
          bool const far = fmaf(dx, dx, fmaf(dy, dy, dz * dz)) > g.limit;
          uint32_t const kept = __ballot_sync(all_lanes, begin + lane < end && !far);
          // a lane holds one chunk
          if (n_slots + __popc(kept) > batch_candidates || chunks.count == 32)
          {
            walk.keep_from(begin, lane);
            return false;
          }
          if (in.one_set && begin < own_end && begin + 32 > own_begin && end > own_begin)
          {
            // own points lie in the box, so none is left out and their slots are consecutive
            if (begin <= own_begin)
              own = {n_slots + __popc(kept & ((1u << (own_begin - begin)) - 1)), 0};
            else if (n_slots == 0)
              own = {0, 0};
            if (begin <= own_begin || n_slots == 0)
              own.shift = static_cast<int>(max(begin, own_begin) - item.begin) - own.first;
          }
          if (kept >> lane & 1)
            slots[n_slots + __popc(kept & below)] =
                make_float4(x, y, z, __uint_as_float(records[u].w));
          if (kept != 0)
          {
            if (lane == chunks.count)
            {
              chunks.begin = begin;
              chunks.kept = kept;
            }
            ++chunks.count;
          }
          n_slots += __popc(kept);
          begin += 32;
        }
      }
      walk.drop_first();
    }
  }
}
