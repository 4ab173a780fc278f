// The items of a list in device memory, made there.

#include "launch.cuh"
#include "scratch.cuh"

#include <nearfield/p2p/cuda.hpp>

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <utility>

namespace nearfield
{
  namespace
  {
    using detail::block_threads;

    struct boxes_on_device
    {
      detail::list_view list;
      index_type const* n_boxes;
      index_type most; ///< targets of an item

      __device__ index_type targets(index_type b) const
      {
        return list.box_offsets[b + 1] - list.box_offsets[b];
      }
      /// The number of items of box b, none if it meets nothing.
      __device__ std::uint64_t operator()(index_type b) const
      {
        if (b >= *n_boxes || (list.own[b].begin == list.own[b].end &&
                              list.range_offsets[b] == list.range_offsets[b + 1]))
          return 0;
        index_type const n = targets(b);
        return n / most + (n % most != 0);
      }
    };

    /// The place of an item among the others: by its kind of team, then by the size of its work, larger first.
    constexpr int wide = 0, medium = 1, narrow = 2;
    constexpr int size_bits = 6;

    /// Cuts box b into items from number at[b] on. keys: by which they are sorted.
    __global__ void cut_boxes(boxes_on_device const boxes, std::uint64_t const* at,
                              detail::cuda_item* items, std::uint8_t* keys,
                              detail::cuda_item_counts* counts, bool is_mutual)
    {
      index_type const b = detail::thread_index();
      if (b >= *boxes.n_boxes) return;
      index_type const n = boxes.targets(b), first = boxes.list.box_offsets[b];
      auto const pieces = static_cast<index_type>(at[b + 1] - at[b]);
      interaction_list::range const own = boxes.list.own[b];
      std::uint64_t sources = own.end - own.begin;
      for (index_type r = boxes.list.range_offsets[b]; r < boxes.list.range_offsets[b + 1]; ++r)
        sources += boxes.list.ranges[r].end - boxes.list.ranges[r].begin;
      for (index_type p = 0; p < pieces; ++p)
      {
        auto const begin = static_cast<index_type>(std::uint64_t(n) * p / pieces);
        auto const end = static_cast<index_type>(std::uint64_t(n) * (p + 1) / pieces);
        index_type const count = end - begin;
        int const size = 63 - __clzll(static_cast<long long>(count * sources + 1));
        int const team = is_mutual || count >= gather_wide_targets ? wide
                         : count >= gather_medium_targets          ? medium
                                                                   : narrow;
        items[at[b] + p] = {b, first + begin, count};
        keys[at[b] + p] =
            static_cast<std::uint8_t>(team << size_bits | ((1 << size_bits) - 1 - size));
        if (team == wide) atomicAdd(&counts->n_wide, 1u);
        if (team == medium) atomicAdd(&counts->n_medium, 1u);
      }
      if (b == *boxes.n_boxes - 1) counts->n_items = static_cast<index_type>(at[b + 1]);
    }

    /// Not less than the number of items of each kind.
    detail::cuda_item_counts most_items(detail::device_leaves const& leaves, bool is_mutual)
    {
      std::size_t const n = leaves.target_order.size();
      auto const at_most = [&](std::size_t count)
      {
        return static_cast<index_type>(std::min<std::size_t>(leaves.most_leaves, count));
      };
      auto const pieces =
          static_cast<index_type>(n / (is_mutual ? mutual_targets_of_item : gather_targets));
      detail::cuda_item_counts result;
      if (is_mutual)
      {
        result.n_items = result.n_wide = at_most(n) + pieces;
        return result;
      }
      index_type n_narrow = at_most(n);
      result.n_medium = at_most(n / gather_medium_targets);
      result.n_wide = at_most(n / gather_wide_targets);
      if (leaves.leaves_of_size)
      {
        n_narrow = result.n_medium = result.n_wide = 0;
        for (int k = 0; k < 32; ++k)
        {
          index_type const count = (*leaves.leaves_of_size)[k];
          std::uint64_t const smallest = std::uint64_t(1) << k, largest = 2 * smallest - 1;
          if (largest >= gather_wide_targets) result.n_wide += count;
          if (largest >= gather_medium_targets && smallest < gather_wide_targets)
            result.n_medium += count;
          if (smallest < gather_medium_targets) n_narrow += count;
        }
      }
      // of leaves with more targets than an item: all of their pieces are wide
      static_assert(gather_targets >= 2 * gather_wide_targets);
      result.n_wide += pieces;
      result.n_items = result.n_wide + result.n_medium + n_narrow;
      return result;
    }
  }

  cuda_list::cuda_list(cuda_backend where, detail::device_leaves const& leaves, bool is_mutual)
      : n_targets_(leaves.target_order.size()), n_sources_(leaves.source_order.size()),
        is_of_one_set_(leaves.one_set), is_mutual_(is_mutual),
        view_(is_mutual ? leaves.half : leaves.full)
  {
    if (is_mutual && !leaves.one_set)
      throw error("cuda_list: form mutual, but the tree has two sets of points; give one_sided");
    cuda_stream const stream = where.stream;
    char const* const what = "cuda_list";
    index_type const n = leaves.most_leaves;
    boxes_on_device const boxes{
        view_, leaves.n_leaves,
        static_cast<index_type>(is_mutual ? mutual_targets_of_item : gather_targets)};
    counts_ = most_items(leaves, is_mutual);
    device_counts_ = device_array<detail::cuda_item_counts>(1, stream, what);
    detail::device_clear(device_counts_.data(), sizeof(detail::cuda_item_counts), stream);
    if (n == 0 || counts_.n_items == 0) return;

    device_array<std::uint64_t> at(n + std::size_t(1), stream, what);
    detail::exclusive_sum(boxes, at.data(), n + 1, stream, what);
    device_array<detail::cuda_item> items(counts_.n_items, stream, what);
    device_array<std::uint8_t> keys(counts_.n_items, stream, what);
    // what is no item comes last
    check_cuda(cudaMemsetAsync(keys.data(), 0xff, keys.size(), stream), "cudaMemsetAsync");
    cut_boxes<<<detail::blocks_for(n, block_threads), block_threads, 0, stream>>>(
        boxes, at.data(), items.data(), keys.data(), device_counts_.data(), is_mutual);
    check_cuda(cudaGetLastError(), "cuda_list: cut_boxes");
    items_ = device_array<detail::cuda_item>(items.size(), stream, what);
    device_array<std::uint8_t> sorted_keys(keys.size(), stream, what);
    detail::with_scratch(stream, what,
                         [&](void* scratch, std::size_t& bytes)
                         {
                           return cub::DeviceRadixSort::SortPairs(
                               scratch, bytes, keys.data(), sorted_keys.data(), items.data(),
                               items_.data(), static_cast<std::int64_t>(items.size()), 0, 8,
                               stream);
                         });
  }
}
