#pragma once

#include "search_output.cuh"

/// \file
/// The candidates of one item, which a warp searches: the records of the cells around it, in the order of
/// positions, without those that are too far from all of its points.

namespace nearfield::detail
{
  __device__ inline uint32_t sum_before(uint32_t value, int lane)
  {
    uint32_t sum = value;
#pragma unroll
    for (int s = 1; s < 32; s *= 2)
    {
      uint32_t const before = __shfl_up_sync(all_lanes, sum, s);
      if (lane >= s) sum += before;
    }
    return sum - value;
  }

  /// The points of an item, one per lane, and their bounding box.
  struct search_item
  {
    uint32_t number;
    uint32_t begin;
    int count;
    /// the index of this lane's point
    uint32_t index;
    /// the centre of the box, in units; in shared memory
    uint32_t* centre;
    /// half the edges of the box, in cutoffs
    float half_edge[3];
    /// this lane's point relative to the centre, in cutoffs; 0 in lanes without a point
    float x[3];

    __device__ search_item(device_cell_view const& in, cell_geometry const& g, uint32_t item,
                           uint32_t* shared, int lane)
        : number(item), begin(in.item_begin[item]),
          count(static_cast<int>(in.item_begin[item + 1] - begin)), centre(shared)
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
        if (lane == 0) centre[a] = origin + static_cast<uint32_t>(middle);
        half_edge[a] = static_cast<float>(high - middle) * g.unit + g.slack;
        x[a] = lane < count ? static_cast<float>(d - middle) * g.unit : 0.f;
      }
    }
  };

  /// The slots of a batch that hold the item's own points, or an image of them: slot s >= first holds point s + offset
  /// of the item; if that is past the item's end, it is another point. In a half list its points before s + offset
  /// meet the slot: there the offset is one more for a positive image, which a point meets itself.
  struct own_slots
  {
    static constexpr int none = 1 << 30;
    int first = none, offset = 0;
  };

  /// In which image a segment holds the item's own points, if they are to be told from others.
  enum class own_points
  {
    none,
    box,
    negative_image,
    positive_image
  };

  /// Which of the 32 positions from `begin` on are candidates, the slot of the first one, and the image in which they are
  /// met. In shared memory: registers are few.
  struct __align__(16) candidate_chunk
  {
    uint32_t begin, kept;
    int first;
    uint32_t shift;

    __device__ bool has(int lane) const { return kept >> lane & 1; }
    /// The slot of a lane's candidate.
    __device__ int slot(int lane) const { return first + __popc(kept & ((1u << lane) - 1)); }
  };
  /// The most of a batch: when masks are kept, a lane writes one.
  inline constexpr int batch_chunks = 32;

  /// Fills a batch: for each candidate, its position relative to the item's centre in cutoffs, and its index,
  /// in slots[], and the chunks of these. True if the segments are exhausted, false if the batch is full, if another image
  /// of the item's own points is next, or if one ends before the last of them.
  template <search_space Space>
  __device__ __forceinline__ bool
  gather_candidates(device_cell_view const& in, search_item const& item, segment_walk& walk,
                    float4* slots, candidate_chunk* chunks, int& n_slots, int& n_chunks,
                    own_slots& own, int lane)
  {
    constexpr bool with_images = has_images(Space), batch = Space == search_space::batch,
                   sparse = Space != search_space::open;
    cell_geometry const& g = in.geometry_of<batch>(item.number);
    float const unit = g.unit, limit = g.limit;
    uint32_t const own_end = item.begin + item.count;
    for (;;)
    {
      if (!walk.has_pending())
      {
        if (!walk.advance<with_images, batch, sparse>(in, item.number, item.begin, lane))
          return true;
        continue;
      }
      auto [begin, end, shift] = walk.first();
      uint32_t origin[3] = {item.centre[0], item.centre[1], item.centre[2]};
      own_points own_here =
          begin >= own_end || end <= item.begin || !in.one_set ? own_points::none : own_points::box;
      if constexpr (with_images)
      {
        image_move const& move = walk.move_of_first();
#pragma unroll
        for (int a = 0; a < 3; ++a) origin[a] -= move.units[a];
        if (shift != 0 && own_here != own_points::none)
          own_here = !in.half           ? own_points::none
                     : move.is_positive ? own_points::positive_image
                                        : own_points::negative_image;
      }

      // A half list starts after the first point, or at an image of it. Of some images, only cells from a later one on are
      // within reach of the item.
      uint32_t const own_begin = max(item.begin + (in.half && own_here == own_points::box ? 1 : 0),
                                     with_images ? begin : 0);
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
          float const x = static_cast<float>(static_cast<int>(records[u].x - origin[0])) * unit;
          float const y = static_cast<float>(static_cast<int>(records[u].y - origin[1])) * unit;
          float const z = static_cast<float>(static_cast<int>(records[u].z - origin[2])) * unit;
          float const dx = fmaxf(fabsf(x) - item.half_edge[0], 0.f);
          float const dy = fmaxf(fabsf(y) - item.half_edge[1], 0.f);
          float const dz = fmaxf(fabsf(z) - item.half_edge[2], 0.f);
          bool const far = fmaf(dx, dx, fmaf(dy, dy, dz * dz)) > limit;
          uint32_t kept = __ballot_sync(all_lanes, begin + lane < end && !far);
          if (own_here != own_points::none && begin < own_end && begin + 32 > own_begin)
          {
            // All are candidates, so that their slots are consecutive. Those in the box are near anyway.
            if (with_images && own_here != own_points::box)
              kept |= __ballot_sync(all_lanes,
                                    begin + lane >= own_begin && begin + lane < min(own_end, end));
            if (begin <= own_begin || n_slots == 0)
            {
              if (with_images && own.first != own_slots::none)
              {
                walk.keep_from(begin, lane);
                return false;
              }
              own.first = begin < own_begin
                              ? n_slots + __popc(kept & ((1u << (own_begin - begin)) - 1))
                              : n_slots;
              own.offset = static_cast<int>(max(begin, own_begin) - item.begin) - own.first +
                           (with_images && own_here == own_points::positive_image ? 1 : 0);
            }
          }
          if (n_slots + __popc(kept) > batch_candidates || n_chunks == batch_chunks)
          {
            walk.keep_from(begin, lane);
            return false;
          }
          candidate_chunk const chunk{begin, kept, n_slots, shift};
          if (chunk.has(lane))
            slots[chunk.slot(lane)] = make_float4(x, y, z, __uint_as_float(records[u].w));
          if (kept != 0)
          {
            if (lane == 0) chunks[n_chunks] = chunk;
            ++n_chunks;
          }
          n_slots += __popc(kept);
          begin += 32;
        }
      }
      walk.drop_first();
      if (with_images && own_here != own_points::none && end < own_end) return false;
    }
  }
}
