#pragma once

#include "codelet.hpp"

#include "search/src/cuda/device_rows.hpp"

#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/pair_slabs.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

/// \file
/// The tasks of pair_slabs and the data they share.

namespace nearfield::starpu::detail
{
  /// The kinds of tasks.
  enum class search_work
  {
    count,
    fill
  };

  /// The columns of pairs that a list may have, in the order of the buffers of tasks.
  template <int Dim>
  struct pair_column
  {
    static constexpr std::size_t j = 0, i = 1, r2 = 2, displacements = 3, images = 3 + Dim,
                                 packed_images = 3 + 2 * Dim, all = 4 + 2 * Dim;
  };

  template <class T, int Dim>
  class pair_slab_tasks
  {
  public:
    using handles = std::vector<starpu_data_handle_t>;
    using options_type = typename pair_slabs<T, Dim>::options_type;
    using named = pair_column<Dim>;

    /// `x`: the columns of the targets, then, with two sets, of the sources. The cutoff is that of one system; null: no
    /// batch. Counts.
    pair_slab_tasks(runtime const& starpu, handles const& x, options_type const& options,
                    double cutoff, systems<Dim> const* batch);
    pair_slab_tasks(pair_slab_tasks const&) = delete;
    pair_slab_tasks& operator=(pair_slab_tasks const&) = delete;

    /// Points sorted by cell, of a GPU or of all CPUs.
    struct sorted_points
    {
      int worker;   ///< that must run the tasks; negative: any
      handle order; ///< without a value: orders the sort before the searches
      std::size_t n_slabs = 0;
      bool is_sorted = false;
      std::unique_ptr<nearfield::detail::device_rows<T, Dim>> rows =
          nullptr; ///< made by the first sort
    };

    /// The targets at positions [first, last), which have a row each, and their pairs. The argument of its tasks.
    struct slab : task_argument
    {
      pair_slab_tasks* list = nullptr;
      sorted_points* points = nullptr;
      std::size_t number = 0; ///< among those with these points; number 0 sorts
      index_type first = 0, last = 0;
      handle rows, offsets;
      std::array<handle, named::all> pairs; ///< those asked for; kept for later rounds
      std::uint64_t capacity = 0;           ///< pairs that they have room for
      bool is_filled = false;               ///< they are of this round
    };

    /// Submits the tasks that sort and count.
    void count();
    /// Submits the tasks that fill, as counts become known.
    void fill();
    std::uint64_t wait_for_count(slab const& s);
    void wait_for_tasks() const;
    /// Throws the first exception of a task; later calls throw nearfield::error until the next count().
    void rethrow();

    /// The body of a task. If it fails, its outputs are zero: other tasks may read them before that is reported.
    void run(search_work what, slab const& one, void** buffers, std::optional<cuda_stream> gpu);

    // Destroyed in reverse order: first the handles, which wait for the tasks that use the rest; the
    // runtime last.
    runtime starpu;
    options_type const options; ///< `backend` says where tasks run, and is not automatic
    std::optional<nearfield::detail::row_filter<T>> filter;
    nearfield::detail::slab_query<T, Dim> query;
    std::array<std::size_t, named::all> sizes{}; ///< of values of columns; 0: not asked for
    starpu_codelet &count_codelet, &fill_codelet;
    handles x;
    monitor watch;
    bool is_filled = false;
    bool has_failed = false; ///< and that exception has been thrown
    std::vector<sorted_points> points;
    std::vector<slab> slabs;

  private:
    /// Checks what is asked for, and says how many targets there are.
    std::size_t make_query();
    /// Submits a task of one slab. Its buffers: the order, the offsets, the columns, then the rows of a count, and the
    /// columns of pairs.
    void submit(search_work what, slab& one);
    void make_room(slab& s, std::uint64_t found);
    void clear_outputs(search_work what, void** buffers, std::optional<cuda_stream> gpu) noexcept;
    /// The columns of the targets (set 0) or sources (set 1) of a task.
    [[nodiscard]] soa<T const, Dim> column_views(void** buffers, std::size_t set) const;
  };
}
