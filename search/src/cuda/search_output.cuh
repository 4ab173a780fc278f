#pragma once

#include "device_filter.cuh"
#include "image_output.cuh"
#include "points.cuh"
#include "segments.cuh"

#include <array>
#include <cstdint>

namespace nearfield::detail
{
  inline constexpr int search_warps = 4, search_threads = 32 * search_warps;
  /// Blocks per multiprocessor. With 4 each thread has more registers, but there are too few warps to hide waits.
  inline constexpr int search_blocks = 5;
  /// Candidates of a batch, in shared memory: 352 hold the half neighbourhood of most items of 27 points, and
  /// five blocks fit on a multiprocessor.
  inline constexpr int batch_candidates = 352;
  inline constexpr int batch_words = batch_candidates / 32;
  /// odd, so that the words of a column lie in different banks
  inline constexpr int words_pitch = batch_words | 1;
  /// A staged pair is (place in the item) << slot_bits | slot of the candidate.
  inline constexpr int slot_bits = 9;
  static_assert(batch_candidates <= 1 << slot_bits);

  /// The masks of a batch of an item: `first` is their first word; `shape` holds the numbers of points, of
  /// words per point and of chunks, and whether another batch follows; `begin` is the item's first position.
  /// Chunks come first, as (first position, which of 32 are candidates), then their shifts if they are kept, then the
  /// words of each point: bit c of word w is candidate 32 w + c. The head of the next batch is stored before them.
  struct __align__(16) mask_head
  {
    uint64_t first;
    uint32_t shape;
    uint32_t begin;

    __device__ uint32_t points() const { return shape & 255; }
    __device__ uint32_t words() const { return shape >> 8 & 255; }
    __device__ uint32_t chunks() const { return shape >> 16 & 255; }
    __device__ bool goes_on() const { return shape >> 31; }
  };
  /// The words of a chunk.
  __host__ __device__ constexpr int chunk_words(bool with_shift)
  {
    return with_shift ? 3 : 2;
  }
  inline constexpr uint32_t mask_head_words = sizeof(mask_head) / sizeof(uint32_t);
  inline constexpr uint64_t no_masks = ~uint64_t(0);

  /// The counters of one search, in device memory; zero before it.
  struct search_counters
  {
    unsigned long long mask_words;
    unsigned long long pairs;
    uint32_t items_without_masks;
    uint32_t items_of_many_batches;
    /// of the rows that are longer than those of the table
    uint32_t longest;
    /// items that warps took beyond their first, in a count and in a fill
    uint32_t items_counted, items_filled;
    uint32_t blocks_done;
  };

  /// The output of a search; members that are not asked for are null.
  struct search_output
  {
    search_counters* counters = nullptr;
    /// In host memory: the last block of a count writes the counters there, blocks_done last. Null: in the mail
    /// of the cells.
    search_counters* counters_for_host = nullptr;
    // counts
    uint32_t* row_of_index = nullptr;
    uint32_t* row_of_position = nullptr;
    /// row_of_position of all rows; otherwise a count with masks leaves out those of items with one batch
    bool every_row = false;
    uint64_t* item_pairs = nullptr;
    // masks
    mask_head* heads = nullptr;
    uint32_t* masks = nullptr;
    uint64_t mask_capacity = 0;
    /// items without masks, in no fixed order, which makes no difference
    uint32_t* unmasked_items = nullptr;
    /// items with masks in several batches, likewise; null if not asked for
    uint32_t* items_of_many_batches = nullptr;
    /// chunks keep their shifts
    bool keeps_shifts = false;
    // fill; the rows of an item start at item_offsets[item] (COO), at row_offsets[index] (CSR), or at
    // index * width (table)
    /// null: all items
    uint32_t const* only_items = nullptr;
    /// their number, or the most that found_only_items, in device memory, may tell
    uint32_t n_only_items = 0;
    uint32_t const* found_only_items = nullptr;
    uint64_t const* item_offsets = nullptr;
    uint64_t const* row_offsets = nullptr;
    uint32_t width = 0;
    uint32_t* out_i = nullptr;
    uint32_t* out_j = nullptr;
    image_output images;
    uint64_t room = ~uint64_t(0); ///< places from there on are left out
  };

  /// What a search knows of images and of items: kernels of open boxes have nothing to do with images, and where points are
  /// dense items lie in at most 2 cells.
  enum class search_space
  {
    open,
    sparse, ///< open, with items of any number of cells
    periodic,
    batch ///< several systems, each with images
  };
  constexpr bool has_images(search_space space)
  {
    return space == search_space::periodic || space == search_space::batch;
  }

  /// What a pair depends on besides its points. The shifts are what images add to sources, by number; null if there is only
  /// the box itself.
  template <class T, int Dim>
  struct pair_system
  {
    T cutoff_squared;
    std::array<T, Dim> const* shifts;
  };

  /// The definition of a pair, in the precision of the points.
  template <class T, int Dim>
  struct pair_definition
  {
    device_points<T, Dim> targets, sources;
    /// that of all points or, of a batch, its shifts those of all systems
    pair_system<T, Dim> one;
    // of a batch
    device_system const* systems;
    device_system_cutoff<T> const* cutoffs;
    pair_rules<T> rules; ///< which pairs within the cutoff count

    template <bool Batch>
    __device__ pair_system<T, Dim> system(uint32_t s) const
    {
      if constexpr (Batch)
        return {cutoffs[s].cutoff_squared, one.shifts + systems[s].first_image};
      else
        return one;
    }

    /// (x_i - x_j) - shift. Each operation is rounded.
    __device__ T difference(pair_system<T, Dim> const& of, int a, uint32_t i, uint32_t j,
                            uint32_t shift) const
    {
      T const d = subtract(targets.x[a][i], sources.x[a][j]);
      return shift != 0 ? subtract(d, of.shifts[shift][a]) : d;
    }
    __device__ T distance_squared(pair_system<T, Dim> const& of, uint32_t i, uint32_t j,
                                  uint32_t shift) const
    {
      T r2 = 0;
#pragma unroll
      for (int a = 0; a < Dim; ++a)
      {
        T const d = difference(of, a, i, j, shift);
        T const d2 = multiply(d, d);
        r2 = a == 0 ? d2 : add(r2, d2);
      }
      return r2;
    }
    __device__ bool is_in(pair_system<T, Dim> const& of, uint32_t i, uint32_t j,
                          uint32_t shift) const
    {
      T const r2 = distance_squared(of, i, j, shift);
      return r2 < of.cutoff_squared && (!rules.any || rules.count(i, j, r2));
    }

  private:
    // intrinsics, which nvcc never contracts
    __device__ static float add(float a, float b) { return __fadd_rn(a, b); }
    __device__ static double add(double a, double b) { return __dadd_rn(a, b); }
    __device__ static float subtract(float a, float b) { return __fsub_rn(a, b); }
    __device__ static double subtract(double a, double b) { return __dsub_rn(a, b); }
    __device__ static float multiply(float a, float b) { return __fmul_rn(a, b); }
    __device__ static double multiply(double a, double b) { return __dmul_rn(a, b); }
  };
}
