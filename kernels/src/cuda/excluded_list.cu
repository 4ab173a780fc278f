#include "excluded_list.hpp"

#include "launch.cuh"
#include "scratch.cuh"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <string>

namespace nearfield::detail
{
  namespace
  {
    constexpr char const* of_exclusions = "near_field: excluded pairs";
    /// A warp cuts a group, and each lane has a target.
    constexpr index_type targets_of_group = 32;
    constexpr index_type nowhere = std::numeric_limits<index_type>::max();

    struct rows_on_device
    {
      std::uint64_t const* offsets;
      index_type const* sources;
    };

    __global__ void invert(index_type const* order, index_type n, index_type* position)
    {
      index_type const p = thread_index();
      if (p < n) position[order[p]] = p;
    }

    /// The length of row p, by position.
    struct row_length
    {
      rows_on_device rows;
      index_type const* order;
      index_type n;

      __device__ std::uint64_t operator()(index_type p) const
      {
        return p < n ? rows.offsets[order[p] + std::size_t(1)] - rows.offsets[order[p]] : 0;
      }
    };

    /// Row p: the positions of its sources, ascending.
    __global__ void place_rows(row_length const from, index_type const* position,
                               std::uint64_t const* offsets, index_type* sources)
    {
      index_type const p = thread_index();
      if (p >= from.n) return;
      index_type const n = static_cast<index_type>(from(p));
      index_type const* const row = from.rows.sources + from.rows.offsets[from.order[p]];
      index_type* const to = sources + offsets[p];
      for (index_type k = 0; k < n; ++k) to[k] = position[row[k]];
      // Shell's sort: rows are short
      for (index_type gap = n / 2; gap > 0; gap /= 2)
        for (index_type k = gap; k < n; ++k)
        {
          index_type const value = to[k];
          index_type at = k;
          for (; at >= gap && to[at - gap] > value; at -= gap) to[at] = to[at - gap];
          to[at] = value;
        }
    }

    /// The number of groups of leaf b.
    struct groups_of_leaf
    {
      index_type const* box_offsets;
      index_type const* n_leaves;

      __device__ std::uint64_t operator()(index_type b) const
      {
        if (b >= *n_leaves) return 0;
        index_type const n = box_offsets[b + 1] - box_offsets[b];
        return n / targets_of_group + (n % targets_of_group != 0);
      }
    };

    /// Groups in the order of their targets.
    __global__ void cut_leaves(groups_of_leaf const leaves, std::uint64_t const* at,
                               index_type* leaf_of, index_type* first_target, index_type* n_groups)
    {
      index_type const b = thread_index();
      if (b >= *leaves.n_leaves) return;
      index_type first = leaves.box_offsets[b];
      for (std::uint64_t g = at[b]; g < at[b + 1]; ++g, first += targets_of_group)
      {
        leaf_of[g] = b;
        first_target[g] = first;
      }
      if (b != *leaves.n_leaves - 1) return;
      first_target[at[b + 1]] = leaves.box_offsets[b + 1];
      *n_groups = static_cast<index_type>(at[b + 1]);
    }

    /// Box i holds target i.
    __global__ void number_targets(index_type n, index_type* box_offsets, index_type* n_boxes)
    {
      index_type const i = thread_index();
      if (i <= n) box_offsets[i] = i;
      if (i == 0) *n_boxes = n;
    }

    struct groups_on_device
    {
      list_view list;
      bool one_set;
      rows_on_device rows; ///< by position
      index_type const* leaf_of;
      index_type const* first_target;
      index_type const* n_groups;
    };

    /// Where the ranges of both lists go or, in the first pass, their numbers.
    struct cut_ranges
    {
      index_type* n_shared;
      index_type* n_single;
      std::uint64_t const* shared_at;
      std::uint64_t const* single_at;
      source_range* shared;
      source_range* single;
    };

    /// A warp goes over the sources of a group. Those that no target of the group excludes are ranges of the group. Each
    /// lane keeps those of the others that its target meets.
    template <bool Fills>
    __global__ void cut_groups(groups_on_device const of, cut_ranges const to)
    {
      index_type const g = blockIdx.x * (block_threads / 32) + threadIdx.x / 32,
                       lane = threadIdx.x % 32;
      if (g >= *of.n_groups) return;
      index_type const leaf = of.leaf_of[g], first = of.first_target[g],
                       end_of_group = of.first_target[g + 1], target = first + lane;
      bool const has_target = target < end_of_group;
      index_type const* row = of.rows.sources;
      index_type row_size = 0;
      if (has_target)
      {
        row += of.rows.offsets[target];
        row_size = static_cast<index_type>(of.rows.offsets[target + std::size_t(1)] -
                                           of.rows.offsets[target]);
      }
      std::uint64_t shared_at = 0, single_at = 0;
      if constexpr (Fills)
      {
        shared_at = to.shared_at[g];
        if (has_target) single_at = to.single_at[target];
      }
      auto const put = [](source_range* into, std::uint64_t& at, source_range range,
                          index_type begin, index_type end)
      {
        if constexpr (Fills)
        {
          range.begin = begin;
          range.end = end;
          into[at] = range;
        }
        ++at;
      };

      index_type const last_range = of.list.range_offsets[leaf + 1];
      bool is_own = true; // the own range comes first
      for (index_type r = of.list.range_offsets[leaf]; is_own || r < last_range; is_own = false)
      {
        source_range const range = is_own ? of.list.own[leaf] : of.list.ranges[r++];
        bool const has_targets = is_own && of.one_set;
        index_type next =
            count_before(row_size, [&](index_type k) { return row[k] < range.begin; });
        source_range kept = range; // of this target, consecutive so far
        kept.begin = kept.end = range.begin;
        for (index_type at = range.begin; at < range.end;)
        {
          // the next source that some target excludes, or is
          index_type const excluded = next < row_size ? row[next] : nowhere;
          index_type apart = excluded;
          if (has_targets && at < end_of_group) apart = min(apart, max(at, first));
          apart = __reduce_min_sync(all_lanes, apart);
          index_type const end = min(apart, range.end);
          if (at < end && lane == 0) put(to.shared, shared_at, range, at, end);
          if (end == range.end) break;
          bool const is_met = has_target && excluded != apart && !(has_targets && apart == target);
          if (is_met)
          {
            if (kept.end != apart)
            {
              if (kept.begin < kept.end) put(to.single, single_at, range, kept.begin, kept.end);
              kept.begin = apart;
            }
            kept.end = apart + 1;
          }
          next += excluded == apart;
          at = apart + 1;
        }
        if (kept.begin < kept.end) put(to.single, single_at, range, kept.begin, kept.end);
      }
      if constexpr (!Fills)
      {
        if (lane == 0) to.n_shared[g] = static_cast<index_type>(shared_at);
        if (has_target) to.n_single[target] = static_cast<index_type>(single_at);
      }
    }

    /// The number of ranges of box b, of which there are *n.
    struct ranges_of_box
    {
      index_type const* count;
      index_type const* n;

      __device__ std::uint64_t operator()(index_type b) const { return b < *n ? count[b] : 0; }
    };

    __global__ void to_index_type(std::uint64_t const* from, index_type n, index_type* to)
    {
      index_type const i = thread_index();
      if (i < n) to[i] = static_cast<index_type>(from[i]);
    }

    /// Calls kernel(arguments ...) with n threads.
    template <class... Parameters, class... Arguments>
    void launch(cuda_stream stream, std::size_t n, void (*kernel)(Parameters...),
                Arguments const&... arguments)
    {
      if (n == 0) return;
      kernel<<<blocks_for(n, block_threads), block_threads, 0, stream>>>(arguments...);
      check_cuda(cudaGetLastError(), of_exclusions);
    }

    /// Makes range_offsets of the numbers of ranges, and room for the ranges.
    template <class List>
    device_array<std::uint64_t> leave_room(cuda_stream stream, List& list, ranges_of_box const& of)
    {
      index_type const n = list.most_boxes;
      device_array<std::uint64_t> at(n + std::size_t(1), stream, of_exclusions);
      exclusive_sum(of, at.data(), n + 1, stream, of_exclusions);
      list.range_offsets = device_array<index_type>(n + std::size_t(1), stream, of_exclusions);
      launch(stream, n + std::size_t(1), to_index_type, at.data(), n + 1,
             list.range_offsets.data());
      std::uint64_t total = 0;
      device_copy(&total, at.data() + n, sizeof total, stream);
      if (total > nowhere)
        throw error(std::string(of_exclusions) + " cut the list into " + std::to_string(total) +
                    " ranges; give fewer points, below 2^32 ranges");
      list.ranges = device_array<source_range>(total, stream, of_exclusions);
      return at;
    }
  }

  excluded_lists::excluded_lists(cuda_stream stream, device_leaves const& leaves,
                                 excluded_rows const& rows)
      : leaves_(leaves), n_boxes_(2, stream, of_exclusions)
  {
    auto const n = static_cast<index_type>(leaves.target_order.size()),
               n_sources = static_cast<index_type>(leaves.source_order.size());
    device_array<std::uint64_t> const offsets(std::span<std::uint64_t const>(rows.offsets), stream);
    device_array<index_type> const sources(std::span<index_type const>(rows.sources), stream);
    row_length const lengths{{offsets.data(), sources.data()}, leaves.target_order.data(), n};
    device_array<index_type> position(n_sources, stream, of_exclusions);
    launch(stream, n_sources, invert, leaves.source_order.data(), n_sources, position.data());
    device_array<std::uint64_t> row_offsets(n + std::size_t(1), stream, of_exclusions);
    exclusive_sum(lengths, row_offsets.data(), n + 1, stream, of_exclusions);
    device_array<index_type> placed(rows.sources.size(), stream, of_exclusions);
    launch(stream, n, place_rows, lengths, position.data(), row_offsets.data(), placed.data());

    groups_of_leaf const of_leaf{leaves.full.box_offsets, leaves.n_leaves};
    shared_.most_boxes = std::min(leaves.most_leaves, n) + n / targets_of_group;
    single_.most_boxes = n;
    device_array<std::uint64_t> group_at(leaves.most_leaves + std::size_t(1), stream,
                                         of_exclusions);
    exclusive_sum(of_leaf, group_at.data(), leaves.most_leaves + 1, stream, of_exclusions);
    device_array<index_type> leaf_of(shared_.most_boxes, stream, of_exclusions);
    shared_.box_offsets =
        device_array<index_type>(shared_.most_boxes + std::size_t(1), stream, of_exclusions);
    single_.box_offsets = device_array<index_type>(n + std::size_t(1), stream, of_exclusions);
    device_clear(n_boxes_.data(), 2 * sizeof(index_type), stream);
    launch(stream, leaves.most_leaves, cut_leaves, of_leaf, group_at.data(), leaf_of.data(),
           shared_.box_offsets.data(), n_boxes_.data());
    launch(stream, n + std::size_t(1), number_targets, n, single_.box_offsets.data(),
           n_boxes_.data() + 1);

    groups_on_device const groups{leaves.full,
                                  leaves.one_set,
                                  {row_offsets.data(), placed.data()},
                                  leaf_of.data(),
                                  shared_.box_offsets.data(),
                                  n_boxes_.data()};
    device_array<index_type> n_shared(shared_.most_boxes, stream, of_exclusions),
        n_single(n, stream, of_exclusions);
    std::size_t const threads = std::size_t(shared_.most_boxes) * 32;
    device_clear(n_single.data(), n * sizeof(index_type), stream);
    launch(stream, threads, cut_groups<false>, groups,
           cut_ranges{n_shared.data(), n_single.data(), nullptr, nullptr, nullptr, nullptr});
    auto const shared_at = leave_room(stream, shared_, {n_shared.data(), n_boxes_.data()}),
               single_at = leave_room(stream, single_, {n_single.data(), n_boxes_.data() + 1});
    launch(stream, threads, cut_groups<true>, groups,
           cut_ranges{nullptr, nullptr, shared_at.data(), single_at.data(), shared_.ranges.data(),
                      single_.ranges.data()});
    std::size_t const most = std::max(shared_.most_boxes, single_.most_boxes);
    own_ = device_array<source_range>(most, stream, of_exclusions);
    device_clear(own_.data(), most * sizeof(source_range), stream);
  }

  device_leaves excluded_lists::of(list const& from, index_type const* n_boxes) const
  {
    device_leaves leaves = leaves_;
    leaves.full.box_offsets = from.box_offsets.data();
    leaves.full.own = own_.data();
    leaves.full.range_offsets = from.range_offsets.data();
    leaves.full.ranges = from.ranges.data();
    leaves.n_leaves = n_boxes;
    leaves.most_leaves = from.most_boxes;
    leaves.leaves_of_size.reset();
    return leaves;
  }
}
