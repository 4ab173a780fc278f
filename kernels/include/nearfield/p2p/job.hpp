#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <cstddef>
#include <vector>

/// \file
/// The work of one call of a compiled P2P kernel, on a CPU and on a GPU. This header needs no CUDA header.

namespace nearfield::detail
{
  /// How far apart the values of a column of a job are, in values.
  struct p2p_strides
  {
    std::ptrdiff_t target_x = 1;   ///< of p2p_job::target_x
    std::ptrdiff_t target_q = 1;   ///< of p2p_job::target_q
    std::ptrdiff_t target_out = 1; ///< of p2p_job::target_out
    std::ptrdiff_t source_x = 1;   ///< of p2p_job::source_x
    std::ptrdiff_t source_q = 1;   ///< of p2p_job::source_q
    std::ptrdiff_t source_out = 1; ///< of p2p_job::source_out
  };

  /// The work of one call of a compiled P2P kernel: the target boxes [first_box, last_box) of a list. Columns
  /// are pointers: of points, which have n_x columns (point_columns of the interaction), column d of a set of sources is number set * n_x + d; of inputs and
  /// outputs, which follow one another right-hand side by right-hand side, column i of a right-hand side is
  /// number (set * n_rhs + rhs) * n_in + i, and (set * n_rhs + rhs) * n_out + i.
  ///
  /// Only the sources of `own[b]` may coincide with targets of box b, and are tested for it, unless
  /// ranges_may_coincide. All pointers must stay valid during the call; nothing outside the named
  /// points is read or written.
  template <class T>
  struct p2p_job : list_view
  {
    T const* const* target_x = nullptr; ///< n_x columns
    T* const* target_out = nullptr;     ///< n_out columns for each right-hand side, added to
    T const* const* source_x = nullptr; ///< n_x columns for each set
    T const* const* source_q = nullptr; ///< n_in columns for each set and right-hand side

    // mutual kernels only: the sources receive too
    T const* const* target_q = nullptr; ///< n_in columns for each right-hand side
    T* const* source_out = nullptr; ///< n_out columns for each set and right-hand side, added to

    /// of all columns of a kind; null: the values of each column follow one another
    p2p_strides const* strides = nullptr;

    /// right-hand sides: K(r) is evaluated once for as many of them as a pass serves (rhs_columns)
    int n_rhs = 1;

    index_type first_box = 0; ///< the first target box
    index_type last_box = 0;  ///< one past the last
    index_type first_target =
        0; ///< targets before it in each box are left out, a multiple of targets_at_once

    /// own[b] are the targets of box b themselves: i = j is skipped, and a mutual kernel takes each
    /// pair once
    bool own_is_self = false;
    /// look for pairs at distance zero (tests_for_zero of the interaction)
    bool tests_for_zero = true;
    /// look for them in the ranges too: points have moved since they were sorted into boxes
    bool ranges_may_coincide = false;
  };

  /// A kernel compiled for one interaction, one precision and one instruction set; k points to the
  /// interaction.
  template <class T>
  using p2p_function = void (*)(void const* k, p2p_job<T> const& job) noexcept;

  /// The kernels of one interaction, precision and instruction set.
  template <class T>
  struct p2p_kernels
  {
    /// adds to the targets
    p2p_function<T> one_sided = nullptr;
    /// adds to both sides, with one evaluation per pair; null if K(-r) is not known
    p2p_function<T> mutual = nullptr;
  };

  /// The targets [first, first + count), all of one box: the work of one team of threads, or of one warp.
  struct cuda_item
  {
    index_type box = 0;   ///< the index of the box in the list
    index_type first = 0; ///< the first target
    index_type count = 0; ///< the number of targets
  };

  /// The items of a launch, made for the one-sided or for the mutual kernel.
  struct cuda_items
  {
    /// one-sided: those for a block, then for half a block, then for a warp; mutual: one group. In each
    /// group, larger work comes first, by powers of two
    std::vector<cuda_item> items;
    index_type n_wide = 0;   ///< the number of items for a whole block, the first ones
    index_type n_medium = 0; ///< the number of items for half a block, the next ones
  };

  /// The numbers of items, as cuda_items has them.
  struct cuda_item_counts
  {
    index_type n_wide = 0;   ///< as cuda_items::n_wide
    index_type n_medium = 0; ///< as cuda_items::n_medium
    index_type n_items = 0;  ///< the number of all items
  };

  /// Where the sources of a set lie, if they lie in several allocations: source j of the set is number begin + j
  /// of the columns of `allocation`, and what it receives is added to place halo + j of the halo (set 0: to the
  /// outputs of the targets).
  struct source_set
  {
    index_type allocation = 0; ///< the index of the allocation
    index_type begin = 0;      ///< the place of source 0 in it
    index_type halo = 0;       ///< the place of source 0 in the halo
  };

  /// The most allocations that one launch may read sources from: the pointers to their columns, at most 16 in a
  /// pass over several right-hand sides, are kernel parameters, of which CUDA before 12.1 takes 4 KiB.
  inline constexpr int most_source_allocations = 24;

  /// The work of one call. Columns are host arrays of device pointers; all other pointers point to device
  /// memory, which must not change until the kernels have finished. Columns of inputs and outputs are those of
  /// the first right-hand side, then those of the second and so on; those of inputs for each allocation.
  template <class T>
  struct cuda_job : list_view, cuda_item_counts
  {
    T const* const* target_x = nullptr; ///< n_x columns
    T* const* target_out = nullptr;     ///< n_rhs * n_out columns
    T const* const* source_x = nullptr; ///< n_x columns per allocation
    T const* const* source_q = nullptr; ///< n_rhs * n_in columns per allocation
    int n_allocations = 1;              ///< the number of allocations in source_x and source_q
    int n_rhs = 1; ///< right-hand sides: K(r) is evaluated once for up to eight of them

    // mutual only
    T const* const* target_q = nullptr; ///< inputs of the targets, n_rhs * n_in columns
    /// outputs of the sources that are not among the targets, n_rhs * n_out columns
    T* const* halo_out = nullptr;

    // a list
    source_set const* sets = nullptr; ///< null: set s is all of allocation s
    cuda_item const* items = nullptr; ///< the work of a list; null: one box
    /// in device memory, where the host does not know the numbers of items: those of the job are then the most that
    /// there may be
    cuda_item_counts const* item_counts = nullptr;

    // without items: one box of n_targets that meets n_sources
    index_type n_targets = 0; ///< the number of points of the box
    index_type n_sources = 0; ///< the number of points that it meets

    /// own[b] holds the targets of box b themselves
    bool own_is_self = false;
    /// the ranges too may hold sources at the place of a target
    bool ranges_may_coincide = false;
    bool singular = true; ///< whether the interaction is singular (is_singular)

    cuda_stream stream = nullptr; ///< null: the default stream
  };

  /// Launches the kernels compiled for one interaction and one precision; k points to the interaction.
  /// Returns the cudaError_t of the first launch that fails.
  template <class T>
  using cuda_function = int (*)(void const* k, cuda_job<T> const& job) noexcept;

  /// The kernels of one interaction and precision for a GPU.
  template <class T>
  struct cuda_kernels
  {
    /// adds to the targets; deterministic
    cuda_function<T> one_sided = nullptr;
    /// adds to both sides, with one evaluation per pair, in no fixed order; null if K(-r) is not known
    cuda_function<T> mutual = nullptr;
  };

  /// Cuts the boxes of a list into items of at most `most` targets. Each item meets all sources of its box.
  NEARFIELD_API cuda_items gather_items(boxes const& targets, interaction_list const& list,
                                        index_type most = gather_targets);
  NEARFIELD_API cuda_items mutual_items(boxes const& targets, interaction_list const& half_list,
                                        index_type most = mutual_targets_of_item);

  /// The kernels of entry `interaction` of builtin_interactions. Throws nearfield::error if nearfield
  /// was built without CUDA, and for a group that is left out.
  template <class T>
  NEARFIELD_API cuda_kernels<T> builtin_cuda_kernels(int interaction);

  /// Defined by NEARFIELD_CUDA_KERNELS(K): if the linker does not find it, that line is missing.
  template <class K, class T>
  cuda_kernels<T> own_cuda_kernels();
}
