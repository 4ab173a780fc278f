#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/boxes.hpp>
#include <nearfield/cuda/stream.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <vector>

/// \file
/// What one launch of a compiled CUDA P2P kernel works on. No CUDA header is needed to read this.

namespace nearfield
{
  /// The targets [first, first + count) of the points, all of one box: what one team of threads, or one
  /// warp, computes.
  struct cuda_item
  {
    index_type box = 0;   ///< of the list
    index_type first = 0; ///< the first target
    index_type count = 0; ///< how many
  };

  /// The items of a launch: those of `gather`, one-sided, or of `mutual`.
  struct cuda_items
  {
    /// those for teams of a block, of half a block, of a warp; each with larger work before smaller work
    /// by factors of two
    std::vector<cuda_item> items;
    index_type n_wide = 0;   ///< how many, the first ones, are for a whole block
    index_type n_medium = 0; ///< how many, the next ones, are for half of one
  };

  /// Where the sources of a chunk of the list are: chunk c of a range counts from `begin` on in the
  /// columns of `buffer`; what they receive is added from `halo` on in the halo (chunk 0: in the
  /// outputs of the targets).
  struct source_slot
  {
    index_type buffer = 0; ///< which buffer
    index_type begin = 0;  ///< the first source there
    index_type halo = 0;   ///< the first place in the halo
  };

  /// The buffers that one launch may read sources from.
  inline constexpr int most_cuda_buffers = 24;

  /// Columns are host arrays of device pointers; everything else points to device memory, which must stay
  /// as it is until the launch has ended.
  template <class T>
  struct cuda_job
  {
    T const* const* target_x = nullptr; ///< dim columns
    T* const* target_out = nullptr;     ///< n_out columns
    T const* const* source_x = nullptr; ///< buffer after buffer
    T const* const* source_q = nullptr; ///< the same, n_in columns for each buffer
    int n_buffers = 1;                  ///< how many buffers source_x and source_q hold

    // mutual only
    T const* const* target_q = nullptr; ///< inputs of the targets, n_in columns
    T* const* halo_out = nullptr;       ///< of the sources that are not among the targets

    // a list
    index_type const* box_offsets = nullptr;       ///< as boxes::offsets
    source_range const* own = nullptr;             ///< as interaction_list::own
    index_type const* range_offsets = nullptr;     ///< as interaction_list::offsets
    source_range const* ranges = nullptr;          ///< as interaction_list::ranges
    std::array<double, 3> const* shifts = nullptr; ///< as interaction_list::shifts
    source_slot const* slots = nullptr;            ///< null: chunk c is buffer c
    cuda_item const* items = nullptr;              ///< the work of a list; null: one box
    index_type n_wide = 0;                         ///< as cuda_items::n_wide
    index_type n_medium = 0;                       ///< as cuda_items::n_medium
    index_type n_items = 0;                        ///< all of them

    // without items: one box of n_targets that meets n_sources
    index_type n_targets = 0; ///< of the one box
    index_type n_sources = 0; ///< that it meets

    /// own[b] are the targets of box b themselves
    bool own_is_self = false;
    /// pairs at distance zero may be in the ranges too
    bool ranges_may_coincide = false;
    bool singular = true; ///< the interaction at distance zero (is_singular)

    cuda_stream stream = nullptr; ///< null: the default stream
  };

  /// Launches a kernel compiled for one interaction and one precision; k points to the interaction.
  /// Returns CUDA's code of the launch.
  template <class T>
  using cuda_function = int (*)(void const* k, cuda_job<T> const& job) noexcept;

  /// The kernels of one interaction and precision for a GPU.
  template <class T>
  struct cuda_kernels
  {
    /// adds to the targets; deterministic
    cuda_function<T> gather = nullptr;
    /// adds to both sides, from one evaluation a pair, in no fixed order; null where the interaction has
    /// no way back
    cuda_function<T> mutual = nullptr;
  };

  namespace detail
  {
    /// Cuts the boxes of a list into items of at most `most` targets. The work of an item is that of its
    /// whole list.
    NEARFIELD_API cuda_items gather_items(boxes const& targets, interaction_list const& list,
                                          index_type most = gather_targets);
    NEARFIELD_API cuda_items mutual_items(boxes const& targets, interaction_list const& half_list,
                                          index_type most = mutual_targets_of_item);

    /// The kernels of the built-in interaction at that place of the list. Throws error where nearfield was
    /// built without CUDA.
    template <class T>
    NEARFIELD_API cuda_kernels<T> builtin_cuda_kernels(int interaction);
    template <>
    cuda_kernels<float> builtin_cuda_kernels<float>(int);
    template <>
    cuda_kernels<double> builtin_cuda_kernels<double>(int);

    /// Defined by NEARFIELD_CUDA_KERNELS(K): a linker that misses it misses that line.
    template <class K, class T>
    cuda_kernels<T> own_cuda_kernels();
  }
}
