#pragma once

#include "image_output.cuh"

#include <nearfield/core/where.hpp>

#include <cstdint>

namespace nearfield::detail
{
  struct mask_head;

  inline constexpr std::uint64_t no_bound = ~std::uint64_t(0);

  /// Of a list: indices, and the image of j. Null: not asked for.
  struct pair_columns
  {
    std::uint32_t *i, *j;
    image_output images;
    std::uint64_t room = no_bound; ///< pairs from there on are left out
  };

  /// How many pairs of a list are written.
  struct written_pairs
  {
    std::uint64_t const* found; ///< in device memory; null: room
    std::uint64_t room;

    __device__ std::uint64_t n() const { return found && *found < room ? *found : room; }
  };

  /// A number that only the device may know.
  struct item_count
  {
    std::uint32_t most;
    std::uint32_t const* found = nullptr; ///< in device memory; null: `most`
    std::uint32_t beyond = 0;             ///< what is to be subtracted from *found

    __device__ std::uint32_t n() const { return found ? *found - beyond : most; }
  };

  /// Expands the masks of a search to COO: the pairs of item k from item_offsets[k] on. Leaves out items
  /// without masks or with several batches. Here and below chunks have shifts if images are asked for.
  void expand_masks(mask_head const* heads, item_count const& n_items, std::uint32_t const* masks,
                    std::uint64_t const* item_offsets, std::uint32_t const* target_order,
                    std::uint32_t const* source_order, pair_columns const& out, cuda_stream stream);

  /// Masks whose rows start at row_offsets[index], or are consecutive from item_offsets[item] on.
  struct row_masks
  {
    mask_head const* heads;
    std::uint32_t const* masks;
    /// null: items [0, n_items)
    std::uint32_t const* items;
    item_count n_items;
    std::uint64_t const* item_offsets;
    std::uint32_t const* row_of_position;
    std::uint64_t const* row_offsets;
  };

  /// Expands the masks of a search to rows. Leaves out items without masks.
  void expand_rows(row_masks const& in, std::uint32_t const* target_order,
                   std::uint32_t const* source_order, pair_columns const& out, cuda_stream stream);

  /// How many images there are, for all pairs or, in a batch, for those of a target.
  struct shift_numbers
  {
    int one;
    device_system const* systems;
    std::uint32_t const* system_of_target;

    __device__ int of(std::uint32_t i) const
    {
      return systems ? systems[system_of_target[i]].geometry.n_images : one;
    }
  };

  /// Steps that sort pairs lexicographically: keys_of_pairs, sort_keys, pairs_of_keys. The number of the image of a pair
  /// whose indices are swapped becomes the opposite one. Keys of places without a pair are the last.
  void keys_of_pairs(pair_columns const& pairs, std::uint64_t* keys, written_pairs const& of,
                     bool smaller_first, shift_numbers const& numbers, cuda_stream stream);
  void pairs_of_keys(std::uint64_t const* keys, std::uint32_t* i, std::uint32_t* j,
                     written_pairs const& of, cuda_stream stream);

  /// i[p] = r for every entry p < room of row r.
  void rows_of_entries(std::uint64_t const* offsets, std::uint32_t n_rows, std::uint32_t* i,
                       std::uint64_t room, cuda_stream stream);
}
