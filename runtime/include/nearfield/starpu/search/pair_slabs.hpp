#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/starpu/backends.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/monitor.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

/// \file
/// All pairs closer than the cutoff as data of a task graph.

namespace nearfield::starpu
{
  /// Which pairs, where they are searched, and how many tasks there are.
  struct pair_slab_options
  {
    pairs which = pairs::half; ///< which of them are listed
    /// the column i too; without it the pairs of a slab are rows
    bool with_i = true;
    /// automatic leaves each task to StarPU's scheduler. One without performance models (lws, the default)
    /// lets CPU workers take slabs that are made for GPUs: take dmdas or its like, or name the backend.
    backend_choice backend = backend_choice::automatic;
    /// Pairs of points to test in a slab, about; 0: 4 slabs a GPU, or some a CPU worker. No pair depends on it.
    std::uint64_t candidates = 0;
  };

  namespace detail
  {
    template <class T, int Dim>
    class pair_slab_tasks;
  }

  /// The pairs of a list of cells, in slabs that StarPU's tasks on CPUs and GPUs have found and that others
  /// read where they are.
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
  /// A slab is a run of cells, and so of positions of targets. A task counts the pairs of a slab;
  /// when its count is known, handles of that size are made for them, and a second task fills them:
  /// beside GPUs, memory is taken where it runs. The slabs behind each other are the list of
  /// nearfield::radius_search to the bit, whatever the slabs and whichever worker searched them.
  ///
  /// A CPU worker searches the cells; a GPU's worker sorts the columns by the same grid when it runs its
  /// first task, and keeps that list, 20 bytes a point and 8 a cell, beside the memory that StarPU manages;
  /// each of the workers of one GPU keeps its own.
  ///
  /// Cells, columns and handles of columns must outlive the object, and not change as long as it has tasks.
  /// Where a task has failed, what it was to write is zero, the next call throws its exception, and later ones
  /// throw error until recount(). One thread at a time calls its functions, not from a task. Handles of
  /// results live as long as it.
  template <class T, int Dim>
  class NEARFIELD_API pair_slabs
  {
  public:
    /// Vector handles of the caller's columns from which the cells were built; they are read only.
    using columns = std::array<starpu_data_handle_t, Dim>;

    /// Cuts slabs of one set and submits the count tasks. Throws error for handles of another size than the
    /// cells or another precision, for a half list of two sets, for backend cuda where StarPU has no GPU, and
    /// when no worker can run a task.
    pair_slabs(runtime const& starpu, cell_list<T, Dim> const& cells,
               std::type_identity_t<columns> const& points, pair_slab_options const& options = {});
    /// Two sets: rows are queries; ask for pairs::full.
    pair_slabs(runtime const& starpu, cell_list<T, Dim> const& cells,
               std::type_identity_t<columns> const& queries,
               std::type_identity_t<columns> const& points, pair_slab_options const& options = {});
    /// The other one can be assigned to or destroyed then.
    pair_slabs(pair_slabs&&) noexcept;
    /// Ends what was here, as the destructor does.
    pair_slabs& operator=(pair_slabs&&) noexcept;
    /// Waits for all tasks that use its handles, of others too.
    ~pair_slabs();

    /// After the cells were rebuilt, or of others, whose points the columns hold now: waits for all tasks that
    /// use the handles of results, ends these, and begins again as the constructor does. GPUs keep what they
    /// have for the new points; so a step costs less than a new object.
    void recount(cell_list<T, Dim> const& cells);

    /// The number of slabs.
    [[nodiscard]] std::size_t size() const;
    /// Waits for the count of slab s, as n_pairs() does for all. Throws the first exception of a task.
    [[nodiscard]] std::uint64_t n_pairs(std::size_t s);
    /// Of all slabs; waits for all counts.
    [[nodiscard]] std::uint64_t n_pairs();

    /// Makes the handles i and j and submits the fill tasks, slab by slab as their counts become known. Only
    /// the first call does. Throws what n_pairs() throws, and error for a slab of 2^32 pairs or more.
    void fill();

    /// The caller's indices of the points of the rows of slab s, in host memory, to be read only.
    [[nodiscard]] starpu_data_handle_t rows(std::size_t s) const;
    /// 64-bit: row r of slab s is j[offsets[r]] ... j[offsets[r + 1] - 1].
    [[nodiscard]] starpu_data_handle_t offsets(std::size_t s) const;
    /// index_type: the caller's indices of the pairs of slab s, by position of i, then of j. After fill();
    /// null for a slab without pairs, i also where it was not asked for.
    [[nodiscard]] starpu_data_handle_t i(std::size_t s) const;
    /// The same of the other points.
    [[nodiscard]] starpu_data_handle_t j(std::size_t s) const;

    /// Returns when all tasks of this list that were submitted have ended. Throws the first exception of one.
    void wait();

    /// All slabs behind each other, as radius_search gives them with to_coo and to_csr. Both fill where
    /// fill() was not called, and wait.
    void to_host(coo<T, Dim>& list);
    /// With to_csr's rows.
    void to_host(csr<T, Dim>& list);

    /// How many tasks each worker has run with each implementation.
    [[nodiscard]] std::vector<worker_tasks> statistics() const;

  private:
    std::unique_ptr<detail::pair_slab_tasks<T, Dim>> tasks_;
  };

  extern template class pair_slabs<float, 2>;
  extern template class pair_slabs<float, 3>;
  extern template class pair_slabs<double, 2>;
  extern template class pair_slabs<double, 3>;
}
