#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/cell_grid.hpp>
#include <nearfield/tree/cell_view.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace nearfield
{
  namespace detail
  {
    template <class T, int Dim>
    struct cell_list_data;
  }

  /// Points sorted by the cells of a uniform grid, and which cells meet which, so that every pair closer
  /// than the cutoff is a pair of cells that meet.
  ///
  ///     nearfield::cell_list const cells{nearfield::soa{x, y, z}, cutoff};
  ///     nearfield::cell_list const boxed{nearfield::soa{x, y, z}, cutoff, {.period = {10, 10, 0}}};
  ///     nearfield::cell_list const of_two{queries, points, cutoff};  // targets, then sources
  ///
  /// It is the same kind of object as a tree: boxes (the cells that hold points), an order of the points,
  /// interaction lists. Unlike a tree it keeps the coordinates, sorted. Coordinates are float or double in 2
  /// or 3 columns; the cutoff is rounded to their precision. Order: by cell, row-major with the last axis
  /// fastest, and inside a cell the caller's. Where there are few cells a point they are counted, else
  /// 64-bit keys are sorted: the same order, and memory in proportion to points and occupied cells.
  ///
  /// Constructor and rebuild() throw error for a cutoff that is not positive and finite or whose square is
  /// no normal number of T, a coordinate that is not finite or, on a periodic axis, outside [0, L), a period
  /// below twice the cutoff, cells_per_cutoff below 0 or above max_cells_per_cutoff, a null column, and
  /// 2^32 - 64 points or more. Where rebuild() throws that, the list is as it was; where it runs out of
  /// memory, or of ranges (2^32 - 1), the list is empty. Views live until the next rebuild(). Any number of
  /// threads may read one list.
  template <class T, int Dim>
  requires(std::same_as<T, float> || std::same_as<T, double>) &&
      (Dim == 2 || Dim == 3) class NEARFIELD_API cell_list
  {
  public:
    static constexpr int dim = Dim;                 ///< of space
    using value_type = T;                           ///< of the coordinates
    using options_type = cell_list_options<T, Dim>; ///< how the cells are cut

    /// One set: the points are targets and sources.
    cell_list(soa<T const, Dim> const& points, double cutoff, options_type const& options = {});
    /// Two sets: queries look for points.
    cell_list(soa<T const, Dim> const& queries, soa<T const, Dim> const& points, double cutoff,
              options_type const& options = {});
    ~cell_list();
    /// A list that was moved from takes rebuild() with a cutoff, and nothing else.
    cell_list(cell_list&&) noexcept;
    /// The other one can be assigned to or destroyed then.
    cell_list& operator=(cell_list&&) noexcept;

    /// Sorts other points, or the same ones after they moved, in the memory that is there. The cutoff stays
    /// unless given, and so do the options.
    void rebuild(soa<T const, Dim> const& points);
    /// With another cutoff.
    void rebuild(soa<T const, Dim> const& points, double cutoff);
    /// Two sets.
    void rebuild(soa<T const, Dim> const& queries, soa<T const, Dim> const& points);
    /// Two sets, and another cutoff.
    void rebuild(soa<T const, Dim> const& queries, soa<T const, Dim> const& points, double cutoff);

    /// All of it, as a search takes it.
    [[nodiscard]] cell_view<T, Dim> view() const;

    /// The grid whose cells these are.
    [[nodiscard]] cell_grid<T, Dim> const& grid() const;
    /// R, rounded to T.
    [[nodiscard]] T cutoff() const { return grid().cutoff; }
    /// The number of boxes: cells that hold points of either set.
    [[nodiscard]] index_type size() const { return targets().size(); }
    /// Whether targets and sources are the same points.
    [[nodiscard]] bool has_one_set() const { return view().one_set; }

    /// Box b holds the points [begin(b), end(b)) of the sorted targets, or sources.
    [[nodiscard]] boxes targets() const { return view().targets; }
    /// The same for the sources.
    [[nodiscard]] boxes sources() const { return view().sources; }
    /// Position -> the caller's index.
    [[nodiscard]] std::span<index_type const> target_order() const { return view().target_order; }
    /// The same for the sources.
    [[nodiscard]] std::span<index_type const> source_order() const { return view().source_order; }
    /// The coordinates in that order.
    [[nodiscard]] soa<T const, Dim> target_positions() const { return view().target_x; }
    /// The same for the sources.
    [[nodiscard]] soa<T const, Dim> source_positions() const { return view().source_x; }

    /// Who meets whom, for near_field with an interaction that is zero beyond the cutoff. Ranges ascend, and
    /// neighbouring cells that follow each other in memory are one range. Throws error where a period holds
    /// fewer than 2 cells_per_cutoff + 1 cells, since the image is then chosen for each pair.
    [[nodiscard]] interaction_list interactions() const;
    /// The same with every pair of boxes once, at the box that comes first. Throws error for two sets too.
    [[nodiscard]] interaction_list half_interactions() const;

  private:
    void build(soa<T const, Dim> const& targets, soa<T const, Dim> const* sources, double cutoff);

    options_type options_;
    std::unique_ptr<detail::cell_list_data<T, Dim>> data_;
  };

  /// One set.
  template <class T, int Dim>
  cell_list(soa<T, Dim>, double,
            std::type_identity_t<cell_list_options<std::remove_const_t<T>, Dim>> = {})
      -> cell_list<std::remove_const_t<T>, Dim>;
  /// Targets and sources.
  template <class T, class U, int Dim>
  cell_list(soa<T, Dim>, soa<U, Dim>, double,
            std::type_identity_t<cell_list_options<std::remove_const_t<T>, Dim>> = {})
      -> cell_list<std::remove_const_t<T>, Dim>;

  extern template class cell_list<float, 2>;
  extern template class cell_list<float, 3>;
  extern template class cell_list<double, 2>;
  extern template class cell_list<double, 3>;
}
