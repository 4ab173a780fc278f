#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

/// \file
/// Cells on a GPU: points in device memory, sorted into the cells of a grid. The grid, the positions and so the
/// pairs within the cutoff are bit for bit those of the CPU (<nearfield/tree/cell_list.hpp>). A list is built and
/// rebuilt on one stream, which must outlive it, by one thread at a time.

namespace nearfield
{
  namespace detail
  {
    /// A cell list in device memory, defined in src/cuda.
    template <class T, int Dim>
    class device_cells;
  }

  /// What the last build of a cuda_cell_list with fixed capacity has found.
  struct found_cells
  {
    std::uint64_t cells = 0;  ///< how many it needs
    std::uint64_t images = 0; ///< how many it needs, of all systems together
    /// The first system whose points rebuild() would refuse; n_systems() if there is none. With one, other numbers mean
    /// nothing.
    std::uint32_t bad_system = 0;
    /// 1: a point is more than 127 boxes away, or an image more than 257, and none was when the capacity was fixed
    std::uint32_t is_far = 0;
    /// 0: cells or images are more than there is room for, a system is bad, or a point is far. Then searches find no pairs.
    std::uint32_t fits = 0;
  };

  /// Points in device memory, sorted by the cells of a grid, for searches within a cutoff. It keeps views of
  /// the columns, which must outlive it and not change between rebuild and search.
  ///
  /// Points may lie anywhere, as in a cell_list. If any lies outside the periodic box, the list keeps images of its set
  /// inside.
  ///
  /// It takes 20 bytes per point and 8 per cell or, with many more cells than points, 28 bytes per point.
  /// After a search for a CSR list it holds 16 bytes per point less, until the next search. Images in the box take
  /// Dim coordinates and Dim + 1 32-bit counters per point more; a list with a skin has them, and twice once it is updated.
  template <class T, int Dim>
  class NEARFIELD_API cuda_cell_list
  {
  public:
    static constexpr int dim = Dim;                 ///< the dimension of space
    using columns = strided<T const, Dim>;          ///< views of device memory
    using options_type = cell_list_options<T, Dim>; ///< how the cells are cut
    using given_cells = detail::given_cells<Dim>;   ///< a cell, or one for each system

    /// One set. Throws nearfield::error for what cell_list throws for, 2^31 points or more, too little memory on
    /// the device, and if nearfield was built without CUDA.
    cuda_cell_list(cuda_backend where, columns const& points, std::type_identity_t<T> cutoff,
                   std::type_identity_t<options_type> const& options = {});
    /// Two sets: searches `points` for the neighbours of `queries`. Lists have one row per query.
    cuda_cell_list(cuda_backend where, columns const& queries, columns const& points,
                   std::type_identity_t<T> cutoff,
                   std::type_identity_t<options_type> const& options = {});
    /// Several systems in one list; what `of` has is in host memory. Their grids are made on the device: the list waits for
    /// them once. Also throws nearfield::error, which names the system, for offsets that do not ascend, numbers of cutoffs
    /// or boxes that do not fit, options with a box, and a system that needs more than max_cells_per_axis cells along an
    /// axis, which a list of its own may hold.
    cuda_cell_list(cuda_backend where, columns const& points, systems<Dim> const& of,
                   std::type_identity_t<options_type> const& options = {});
    /// Several systems of two sets.
    cuda_cell_list(cuda_backend where, columns const& queries, columns const& points,
                   systems<Dim> const& of, std::type_identity_t<options_type> const& options = {});
    /// The moved-from list may only be assigned to or destroyed.
    cuda_cell_list(cuda_cell_list&&) noexcept;
    /// Frees the old list; the moved-from list may only be assigned to or destroyed.
    cuda_cell_list& operator=(cuda_cell_list&&) noexcept;
    ~cuda_cell_list();

    /// Sorts other points, or the same ones after they moved. Keeps the options and, unless one is given, the
    /// cutoff or the systems. If the points are refused, the list is unchanged. Memory comes from the pool
    /// (device_array.hpp), which holds that of the last build.
    void rebuild(columns const& points);
    /// One set, with another cutoff.
    void rebuild(columns const& points, T cutoff);
    /// Two sets.
    void rebuild(columns const& queries, columns const& points);
    /// Two sets, and another cutoff.
    void rebuild(columns const& queries, columns const& points, T cutoff);

    /// Several systems. Offsets and boxes that are those of the last build are not sent to the device again.
    void rebuild(columns const& points, systems<Dim> const& of);
    /// Several systems of two sets.
    void rebuild(columns const& queries, columns const& points, systems<Dim> const& of);

    /// Whether points have moved so far that the cells of a list with a skin (cell_list_options::skin) do not hold all
    /// pairs any more: in some system, 2 max |move| + max |m (vectors - vectors then)| > skin, twice the skin with
    /// skin_meaning::each. Moves are those since the last build, in the nearest image; m runs over the images within
    /// reach, and those next to them. Returns the place in device memory of a number that is not 0 if so, once the
    /// stream has done its work, until the next call of this or of update(). It waits for nothing, unless boxes of systems
    /// are given. True for a list without a skin, one that leaves gaps out, and points or boxes that are not as many, or
    /// not periodic along the same axes.
    ///
    ///     std::uint32_t const* const moved = cells.needs_rebuild(points);
    [[nodiscard]] std::uint32_t const* needs_rebuild(columns const& points, given_cells cells = {});
    /// Two sets.
    [[nodiscard]] std::uint32_t const* needs_rebuild(columns const& queries, columns const& points,
                                                     given_cells cells = {});
    /// Takes the points as they are now into the cells, so that searches find the pairs within R of now, or rebuilds the
    /// list if needs_rebuild() says so; then it returns true. Boxes stay for later calls. Pairs come in the order of the
    /// cells that are kept. Throws as rebuild() does. It waits once for the device.
    bool update(columns const& points, given_cells cells = {});
    /// Two sets.
    bool update(columns const& queries, columns const& points, given_cells cells = {});
    /// update() for who has asked needs_rebuild(): it waits for nothing, unless boxes have changed, and if points have
    /// moved too far, searches miss pairs. A list without a skin is rebuilt.
    void update_unchecked(columns const& points, given_cells cells = {});
    /// Two sets.
    void update_unchecked(columns const& queries, columns const& points, given_cells cells = {});

    /// Fixes the sizes of the list, so that a CUDA graph can capture builds and searches: as many points, with the same
    /// cutoff and boxes, and room for `factor` times as many cells and images as now. The device finds the grid as ever; all
    /// else has sizes that follow from the number of points. One factor is enough: a cube that grows by a tenth along each
    /// axis has 1.33 times as many cells, and in periodic boxes neither number changes.
    ///
    /// From now on rebuild(points), needs_rebuild(points) and update_unchecked(points) neither wait nor allocate. They may
    /// take other columns; a graph reads those that it was captured with. Capture what has run once without: that loads the
    /// kernels. Searches for `to_arrays` with a number in device memory can be captured too, if memory comes from nearfield's
    /// pools or a cudaMemPool_t. A build that does not fit leaves the list without pairs, and found() says what it needs.
    /// Pairs, order and bits are those of other lists. With a skin, needs_rebuild() also says so of a point that is more than
    /// 127 boxes away, if none was before.
    ///
    ///     cells.fix_capacity(1.5);
    ///     nearfield::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
    ///     cells.rebuild(points);
    ///     nearfield::radius_search(nearfield::cuda_backend{stream}, cells, nearfield::to_rows{...});
    ///
    /// Other numbers of points, and other boxes, are errors. A rebuild with a cutoff or with systems ends it; graphs that
    /// were captured before must not run then, nor after another call of this. The list takes 24 bytes per point and 12 per
    /// cell more and, in periodic boxes, always those of images. It makes a table of all cells: with many more cells than
    /// points it takes more time and memory than before. Throws nearfield::error for a factor below 1 or not finite, 2^31
    /// cells or more, points of one system so far apart that a list leaves gaps out, and too little memory on the device.
    void fix_capacity(double factor = 1.5);
    /// Where the device finds what the last build of a list with fixed capacity has found, once the stream has done its
    /// work; null for other lists. It is valid as long as the capacity is fixed.
    [[nodiscard]] found_cells const* found() const;
    /// Waits for the stream, and throws nearfield::error, with what found() says, if the last build did not fit, or as
    /// rebuild() does. Does nothing for lists without a fixed capacity. Searches that wait for their result do the same.
    void check_capacity() const;

    /// The number of systems; 1 for a list that was not made of `systems`.
    [[nodiscard]] std::size_t n_systems() const;
    /// The number of cells that hold targets, of the last on_device(), which it calls after a build.
    [[nodiscard]] index_type size() const;
    /// The grid of the cells of a system. In a list of several ones, or with fixed capacity, it waits for the device.
    [[nodiscard]] detail::cell_grid<T, Dim> const& grid(std::size_t system = 0) const;
    /// The cutoff of a system; never waits.
    [[nodiscard]] T cutoff(std::size_t system = 0) const;
    /// The number of targets, which have rows.
    [[nodiscard]] std::size_t n_targets() const;
    /// The number of sources, which are found.
    [[nodiscard]] std::size_t n_sources() const;
    /// Whether queries and points are the same.
    [[nodiscard]] bool has_one_set() const;
    /// The stream that it is built and searched on.
    [[nodiscard]] cuda_stream stream() const;
    /// Position -> index in the given columns; in device memory, valid when the stream has done its work. The first
    /// call makes it, unless a search has.
    [[nodiscard]] std::span<index_type const> target_order() &;
    /// The same for the sources.
    [[nodiscard]] std::span<index_type const> source_order() &;

    /// For near_field: the cells that hold targets, and which meet, valid until the next build. The first call after a build
    /// makes them, and waits for the device. With fixed capacity each call does, and a CUDA graph cannot capture it. They take
    /// about 20 bytes a cell, 12 for each range of cells that it meets, and half of that more for one set. Throws
    /// nearfield::error as check_capacity() does, for 2^32 ranges or more, and for too little memory on the device.
    [[nodiscard]] detail::device_leaves on_device() const&;

    /// \cond
    void on_device() const&& = delete; // give the list a name
    /// \endcond

    /// For radius_search.
    [[nodiscard]] detail::device_cells<T, Dim>& cells() & { return *cells_; }

  private:
    void check_system(std::size_t system) const;

    std::unique_ptr<detail::device_cells<T, Dim>> cells_;
  };

  /// One set.
  template <detail::columns_view X>
  cuda_cell_list(cuda_backend, X const&, detail::value_of<X>,
                 cell_list_options<detail::value_of<X>, X::n_columns> const& = {})
      -> cuda_cell_list<detail::value_of<X>, X::n_columns>;
  /// Two sets.
  template <detail::columns_view X, detail::columns_view Y>
  cuda_cell_list(cuda_backend, X const&, Y const&, detail::value_of<X>,
                 cell_list_options<detail::value_of<X>, X::n_columns> const& = {})
      -> cuda_cell_list<detail::value_of<X>, X::n_columns>;

  /// Systems of one set.
  template <detail::columns_view X>
  cuda_cell_list(cuda_backend, X const&, systems<X::n_columns> const&,
                 cell_list_options<detail::value_of<X>, X::n_columns> const& = {})
      -> cuda_cell_list<detail::value_of<X>, X::n_columns>;
  /// Systems of two sets.
  template <detail::columns_view X, detail::columns_view Y>
  cuda_cell_list(cuda_backend, X const&, Y const&, systems<X::n_columns> const&,
                 cell_list_options<detail::value_of<X>, X::n_columns> const& = {})
      -> cuda_cell_list<detail::value_of<X>, X::n_columns>;

  extern template class cuda_cell_list<float, 2>;
  extern template class cuda_cell_list<float, 3>;
  extern template class cuda_cell_list<double, 2>;
  extern template class cuda_cell_list<double, 3>;
}
