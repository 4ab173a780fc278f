#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/starpu/tasks.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

/// \file
/// All pairs closer than the cutoff, as data of a task graph.

namespace nearfield::starpu
{
  /// Which pairs are listed, where they are searched, and in how many tasks.
  struct pair_slab_options
  {
    pairs which = pairs::half; ///< half or full list
    /// write the column i too; without it, rows() and offsets() give the i of each pair
    bool with_i = true;
    /// automatic: StarPU's scheduler chooses for each task. A scheduler without performance models (lws, the
    /// default) lets CPU workers take slabs sized for GPUs: use one with models, such as dmdas, or name the
    /// backend.
    nearfield::backend backend = nearfield::backend::automatic;
    /// Approximate number of candidate pairs per slab; 0: 4 slabs per GPU or, without GPUs, up to 32 per
    /// CPU worker. Results do not depend on it.
    std::uint64_t candidates = 0;
  };

  namespace detail
  {
    template <class T, int Dim>
    class pair_slab_tasks;
  }

  /// The pairs of a cell list, in slabs that StarPU tasks on CPUs and GPUs find and other tasks read in place.
  ///
  ///     nearfield::cell_list const cells{nearfield::soa{x, y, z}, cutoff};
  ///     auto const hx = nearfield::starpu::handle::of(x.data(), n), hy = ..., hz = ...;
  ///     nearfield::starpu::pair_slabs list{starpu, cells, {hx, hy, hz}};   // count tasks
  ///     list.fill();                                                      // fill tasks
  ///     for (std::size_t s = 0; s < list.size(); ++s)
  ///       if (list.n_pairs(s) > 0)
  ///         starpu_task_insert(&mine, STARPU_R, list.i(s), STARPU_R, list.j(s), STARPU_R, hx.get(), ...);
  ///     starpu_task_wait_for_all();
  ///     list.wait();
  ///
  /// A slab is a range of consecutive cells, and so of consecutive positions of targets. One task counts the
  /// pairs of a slab; then handles of that size are made and a second task fills them. If StarPU has GPU
  /// workers, the memory is allocated where that task runs. The slabs one after the other equal the list of
  /// nearfield::radius_search, bit for bit, whatever the slabs and whichever worker searched them.
  ///
  /// A CPU worker searches the given cells. A GPU worker sorts the columns by the same grid in its first task
  /// and keeps that list (20 bytes per point and 8 per cell, or 28 per point with many more cells than points),
  /// outside the memory that StarPU manages; each worker of a GPU keeps its own.
  ///
  /// Cells, columns and handles of columns must outlive the object, and must not change while it has tasks.
  /// If a task fails, its outputs are zero, the next call throws its exception, and later calls throw
  /// nearfield::error until recount(). One thread at a time may call the functions, and no task. Handles of
  /// results live as long as the object, or until recount().
  template <class T, int Dim>
  class NEARFIELD_API pair_slabs
  {
  public:
    /// Vector handles of the columns that the cells were built from. They are only read.
    using handles = std::array<starpu_data_handle_t, Dim>;

    /// One set: cuts slabs and submits the count tasks. Throws nearfield::error if a handle's size or
    /// precision is not that of the cells, for a half list of two sets, for backend cuda if StarPU has no
    /// GPU worker, if no worker can run a task, and if too little address space is left (see runtime).
    pair_slabs(runtime const& starpu, cell_list<T, Dim> const& cells,
               std::type_identity_t<handles> const& points, pair_slab_options const& options = {});
    /// Two sets: rows belong to the queries. Requires pairs::full.
    pair_slabs(runtime const& starpu, cell_list<T, Dim> const& cells,
               std::type_identity_t<handles> const& queries,
               std::type_identity_t<handles> const& points, pair_slab_options const& options = {});
    /// The moved-from object may only be assigned to or destroyed.
    pair_slabs(pair_slabs&&) noexcept;
    /// Ends the current slabs as the destructor does.
    pair_slabs& operator=(pair_slabs&&) noexcept;
    /// Waits for all tasks that use its handles, including those of others. StarPU aborts the process if a
    /// worker calls it, in a codelet or a callback.
    ~pair_slabs();

    /// Starts again with rebuilt or other cells, whose points the columns now hold: waits for all tasks that
    /// use the handles of results, destroys these handles, and proceeds as the constructor does. Memory on
    /// GPUs is reused, so this costs less than a new object.
    void recount(cell_list<T, Dim> const& cells);

    /// The number of slabs.
    [[nodiscard]] std::size_t size() const;
    /// The number of pairs of slab s. Waits for its count task; throws the first exception of a task.
    [[nodiscard]] std::uint64_t n_pairs(std::size_t s);
    /// The number of pairs of all slabs. Waits for all count tasks.
    [[nodiscard]] std::uint64_t n_pairs();

    /// Makes the handles i and j and submits the fill tasks, slab by slab as counts become known. Later calls
    /// do nothing until recount(). Throws what n_pairs() throws, and nearfield::error for a slab of 2^32 pairs
    /// or more and if too little address space is left (see runtime).
    void fill();

    /// index_type: the caller's index of the point of each row of slab s. In host memory; only to be read.
    [[nodiscard]] starpu_data_handle_t rows(std::size_t s) const;
    /// std::uint64_t: row r of slab s is j[offsets[r]] ... j[offsets[r + 1] - 1].
    [[nodiscard]] starpu_data_handle_t offsets(std::size_t s) const;
    /// index_type: the caller's index i of each pair of slab s, in order of the positions of i, then j. Valid
    /// after fill(); null for a slab without pairs, or without with_i.
    [[nodiscard]] starpu_data_handle_t i(std::size_t s) const;
    /// index_type: the caller's index j of each pair. Valid after fill(); null for a slab without pairs.
    [[nodiscard]] starpu_data_handle_t j(std::size_t s) const;

    /// Waits for all tasks of this object submitted so far. Throws their first exception.
    void wait();

    /// Copies all slabs, one after the other, into the list that radius_search gives with to_coo. Calls fill()
    /// and wait().
    void to_host(coo<T, Dim>& list);
    /// The same as the list that radius_search gives with to_csr.
    void to_host(csr<T, Dim>& list);

    /// The number of tasks that each worker has run with each implementation.
    [[nodiscard]] std::vector<worker_tasks> statistics() const;

  private:
    std::unique_ptr<detail::pair_slab_tasks<T, Dim>> tasks_;
  };

  extern template class pair_slabs<float, 2>;
  extern template class pair_slabs<float, 3>;
  extern template class pair_slabs<double, 2>;
  extern template class pair_slabs<double, 3>;
}
