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
#include <optional>
#include <type_traits>
#include <vector>

/// \file
/// All pairs closer than the cutoff, as data of a task graph.

namespace nearfield::starpu
{
  namespace detail
  {
    template <class T, int Dim>
    class pair_slab_tasks;
  }

  /// All pairs of points closer than a cutoff, in slabs that StarPU tasks on CPUs or GPUs find and other tasks read in
  /// place. The points are handles: only tasks read them, and the host need not have them.
  ///
  ///     nearfield::starpu::pair_slabs<double, 3> list{starpu, {hx, hy, hz}, cutoff};   // tasks that sort and count
  ///     for (int step = 0;; ++step)
  ///     {
  ///       list.fill();                                                                // tasks that fill
  ///       for (std::size_t s = 0; s < list.size(); ++s)
  ///         if (list.n_pairs(s) > 0)
  ///           starpu_task_insert(&forces, STARPU_R, list.i(s), STARPU_R, list.j(s), STARPU_R, hx.get(), ...);
  ///       starpu_task_insert(&move, STARPU_RW, hx.get(), ...);
  ///       list.recount();                                                             // sort and count again
  ///     }
  ///
  /// Points are sorted by the cells of a grid, as in a cell_list. Slab s of S holds the rows of the targets at
  /// positions [n s / S, n (s + 1) / S). One task counts the pairs of a slab; the first one of each GPU sorts the
  /// points before, and on CPUs the first one of all, so that one worker sorts while the others wait. The host waits
  /// for the number only, and submits a second task, which fills. If StarPU has GPU workers, memory is allocated
  /// where the tasks run. The slabs one after the other equal the list of nearfield::radius_search, bit for bit.
  ///
  /// One worker of each GPU has all slabs of that GPU, and keeps the sorted points (20 bytes per point and 8 per
  /// cell, or 28 per point with many more cells than points) and, from count to fill or to the next recount(),
  /// results of the tests (56 bytes per row, 96 in a full list), outside the memory that StarPU manages; where the
  /// pairs need that memory, the fill tests again. Handles are made once; those of pairs have room for an eighth more
  /// than there were, and are made again when a slab has more than that, or less than a quarter.
  ///
  /// Several systems, as in a batch of cell_list, have no pairs with each other; their slabs follow each other. A filter
  /// leaves out pairs, as `filtered` does. The arrays of both are in host memory and must outlive the object, and so must
  /// handles of columns. Tasks that move the points come after fill() and before
  /// recount(). If a task fails, because of a point that is not finite, say, its outputs are zero, the next call throws
  /// its exception, and later calls throw nearfield::error until recount(). One thread at a time may call the functions,
  /// and no task. Handles of results live as long as the object, those of pairs until the next fill().
  template <class T, int Dim>
  class NEARFIELD_API pair_slabs
  {
  public:
    /// Vector handles of the columns of a set of points. They are only read.
    using handles = std::array<starpu_data_handle_t, Dim>;

    /// How space is cut into cells, which pairs are listed, and in how many tasks.
    struct options_type
    {
      cell_list_options<T, Dim> grid =
          {};                    ///< the periodic box, closed or not, and cells per cutoff
      pairs which = pairs::half; ///< half or full list
      /// write the column i too; without it, rows() and offsets() give the i of each pair
      bool with_i = true;
      /// automatic: GPUs if StarPU has any, otherwise CPUs. A slab is sized for one or the other.
      nearfield::backend backend = nearfield::backend::automatic;
      /// The number of slabs; 0: one per GPU, more beyond 2^22 points each, or, without GPUs, up to 32 per CPU worker.
      /// No more than there are rows. Results do not depend on it. A slab holds fewer than 2^32 pairs: ask for more
      /// slabs where points have more than a thousand neighbours.
      std::size_t slabs = 0;
      /// also the column of r2
      bool distances = false;
      /// also the columns of d = x_i - (x_j + sum_a S_a vectors[a])
      bool displacements = false;
      /// also S, the image of j
      image_columns images = image_columns::none;
      std::optional<pair_filter<T>> filter{}; ///< which pairs within the cutoff count; none: all
    };

    /// One set: submits the tasks that sort and count. Throws nearfield::error for a column that is not a vector, of
    /// another size than the first or of another precision than T, for a cutoff and options that cell_list refuses, a
    /// filter that `filtered` refuses, for a half list of two sets, for backend cuda if StarPU has no GPU worker, if no worker can run a task, and
    /// if too little address space is left (see runtime).
    pair_slabs(runtime const& starpu, handles const& points, double cutoff,
               options_type const& options = {});
    /// Two sets: rows belong to the queries. Requires pairs::full.
    pair_slabs(runtime const& starpu, handles const& queries, handles const& points, double cutoff,
               options_type const& options = {});
    /// Several systems, whose cutoffs and boxes are theirs. Throws nearfield::error for systems that do not match the
    /// points too.
    pair_slabs(runtime const& starpu, handles const& points, systems<Dim> const& batch,
               options_type const& options = {});
    /// Several systems of two sets.
    pair_slabs(runtime const& starpu, handles const& queries, handles const& points,
               systems<Dim> const& batch, options_type const& options = {});
    /// The moved-from object may only be assigned to or destroyed.
    pair_slabs(pair_slabs&&) noexcept;
    /// Ends the current slabs as the destructor does.
    pair_slabs& operator=(pair_slabs&&) noexcept;
    /// Waits for all tasks that use its handles, including those of others. StarPU aborts the process if a
    /// worker calls it, in a codelet or a callback.
    ~pair_slabs();

    /// Starts again when points have moved, or will be moved by tasks submitted before: sorts and counts as the
    /// constructor does, in the memory of the last round. Waits for nothing, unless a task has failed: tasks that read
    /// the last list end before those of the next. Throws a task's exception that no call has reported yet; call it
    /// again to start.
    void recount();

    /// The number of slabs. Functions of slab s throw nearfield::error for s >= size().
    [[nodiscard]] std::size_t size() const;
    /// The number of pairs of slab s. Waits for its count task; throws the first exception of a task.
    [[nodiscard]] std::uint64_t n_pairs(std::size_t s);
    /// The number of pairs of all slabs. Waits for all count tasks.
    [[nodiscard]] std::uint64_t n_pairs();

    /// Makes the handles of pairs, or takes those of the last round if they have room, and submits the fill tasks, slab
    /// by slab as counts become known. Later calls do nothing until recount(). Throws what n_pairs() throws, and
    /// nearfield::error for a slab of 2^32 pairs or more and if too little address space is left (see runtime).
    void fill();

    /// index_type: the caller's index of the point of each row of slab s.
    [[nodiscard]] starpu_data_handle_t rows(std::size_t s) const;
    /// std::uint64_t: row r of slab s is j[offsets[r]] ... j[offsets[r + 1] - 1].
    [[nodiscard]] starpu_data_handle_t offsets(std::size_t s) const;
    /// index_type: the caller's index i of each pair of slab s, in order of the positions of i, then j. Valid
    /// after fill(); null for a slab without pairs, or without with_i.
    [[nodiscard]] starpu_data_handle_t i(std::size_t s) const;
    /// index_type: the caller's index j of each pair. Valid after fill(); null for a slab without pairs.
    [[nodiscard]] starpu_data_handle_t j(std::size_t s) const;
    /// T: r2 of each pair. Here and below as i, and null unless asked for.
    [[nodiscard]] starpu_data_handle_t r2(std::size_t s) const;
    /// T: component `axis` of d = x_i - (x_j + sum_a S_a vectors[a]).
    [[nodiscard]] starpu_data_handle_t displacements(std::size_t s, int axis) const;
    /// std::int32_t: S_axis.
    [[nodiscard]] starpu_data_handle_t images(std::size_t s, int axis) const;
    /// std::uint32_t: S, as image_columns::packed.
    [[nodiscard]] starpu_data_handle_t packed_images(std::size_t s) const;

    /// Waits for all tasks of this object submitted so far. Throws their first exception.
    void wait();

    /// Copies all slabs, one after the other, into the list that radius_search gives with to_coo. Calls fill()
    /// and wait().
    void to_host(coo<T, Dim>& list);
    /// The same as the list that radius_search gives with to_csr.
    void to_host(csr<T, Dim>& list);

    /// The number of tasks that each worker has run with each implementation.
    [[nodiscard]] std::vector<monitor::worker_tasks> statistics() const;

  private:
    std::unique_ptr<detail::pair_slab_tasks<T, Dim>> tasks_;
  };

  extern template class pair_slabs<float, 2>;
  extern template class pair_slabs<float, 3>;
  extern template class pair_slabs<double, 2>;
  extern template class pair_slabs<double, 3>;
}
