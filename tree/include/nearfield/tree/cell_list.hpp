#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nearfield
{
  namespace detail
  {
    template <class T>
    class row_filter;

    /// One of the systems of a cell list.
    template <class T, int Dim>
    struct cell_system
    {
      index_type first_box = 0;
      index_type last_box = 0;  ///< one past the last
      cell_grid<T, Dim> grid{}; ///< the grid of the cells
      /// Shift s is the image of the sources at x_j + shifts[s]: the displacement is (x_i - x_j) - shifts[s], in T.
      std::span<std::array<double, 3> const> shifts{};
      /// of each shift: how often it adds the vectors of the box
      std::span<image_counters<Dim> const> images{};
    };

    /// Points sorted by the cells of grids, and the lists of cells that meet: the input of a radius search. It
    /// owns nothing. The *position* of a point is its place in `target_x` or `source_x`; points, boxes and lists are those
    /// of one system after another.
    ///
    /// Every column and `source_order` have `padding` more readable values after the last point, because vector
    /// kernels load whole registers. Coordinates there are finite.
    ///
    /// A box is a cell with points in it. The ranges of a box ascend by position, unless it meets cells in several
    /// images; the half list holds those after the box. Shifts are those of the system.
    ///
    /// Where a box meets images of itself, they are ranges of their own. In a half list, a point meets those points of
    /// them that are at later positions and, if the image is positive, itself.
    template <class T, int Dim>
    struct cell_view
    {
      static constexpr int padding = 16; ///< readable values after the end of every column

      std::span<cell_system<T, Dim> const> systems; ///< by their first box

      soa<T const, Dim> target_x; ///< coordinates of the targets, by position
      soa<T const, Dim> source_x; ///< coordinates of the sources, by position
      /// position -> index in the arrays that were given
      std::span<index_type const> target_order;
      std::span<index_type const> source_order; ///< the same for the sources
      boxes targets;                            ///< box b holds the targets of one cell
      boxes sources;                            ///< box b holds the sources of the same cell

      /// targets and sources are the same points
      bool one_set = true;
      interaction_list full; ///< each box and all boxes that it meets
      /// each pair of boxes once; one set only
      interaction_list half;

      /// by index: how often the vectors were subtracted from a point; empty if all were inside the box
      std::span<image_counters<Dim> const> target_images;
      std::span<image_counters<Dim> const> source_images; ///< the same for the sources
      /// how many ranges of each box come before the box itself; empty where ranges ascend
      std::span<index_type const> full_own_at;
      std::span<index_type const> half_own_at; ///< the same for the half list

      /// which pairs count (<nearfield/search/pairs.hpp>); null: all within the cutoff
      row_filter<T> const* filter = nullptr;

      /// Whether points of any system meet a cell in several images.
      [[nodiscard]] bool meets_several_images() const
      {
        return std::any_of(systems.begin(), systems.end(),
                           [](auto const& system) { return system.grid.meets_several_images(); });
      }
    };

    /// A type whose view() has its cells, such as cell_list.
    template <class C>
    concept has_cell_view = requires(C const& cells) {
      cells.view().systems;
      cells.view().target_x;
      cells.view().full;
    };

    template <class T, int Dim>
    struct cell_list_data;
    template <int Dim>
    struct kept_systems;

    /// The coordinates that cell lists are made of.
    template <class T>
    concept cell_real = std::same_as<T, float> || std::same_as<T, double>;
  }

  /// Points sorted by the cells of a uniform grid, with the lists of cells that meet: both points of every
  /// pair closer than the cutoff are in the same cell, or in two that meet.
  ///
  ///     nearfield::cell_list const cells{nearfield::soa{x, y, z}, cutoff};
  ///     nearfield::cell_list const boxed{nearfield::soa{x, y, z}, cutoff, {.period = {10, 10, 0}}};
  ///     nearfield::cell_list const tilted{nearfield::soa{x, y, z}, cutoff, {.cell = cell}};
  ///     nearfield::cell_list const of_two{queries, points, cutoff};  // targets, then sources
  ///
  /// Like a tree, it has boxes (the cells that hold points), an order of the points, and interaction lists.
  /// Unlike a tree, it keeps the coordinates, sorted. Coordinates are float or double in 2 or 3 columns (soa or
  /// strided); the cutoff is rounded to their precision. Points are ordered by cell, row-major with the last axis
  /// fastest, and by index inside a cell. With few cells per point it uses a counting sort, otherwise it sorts 64-bit
  /// keys: the order is the same, and memory is proportional to points and occupied cells.
  ///
  /// Several systems in one list, with cutoffs and boxes of their own, have no pairs with each other; each has those of a
  /// list of its own, to the bit. All outputs are those of one system after another:
  ///
  ///     nearfield::cell_list const batch{nearfield::soa{x, y, z}, {.offsets = offsets, .cutoffs = cutoffs}};
  ///
  /// Points may lie anywhere. If any lies outside the periodic box (the reduced cell of a sheared one), the list holds
  /// their images inside; points inside keep their bits (docs/conventions.md).
  ///
  /// The constructors and rebuild() throw nearfield::error for a cutoff that is not positive and finite or whose square
  /// is no normal number of T, a coordinate that is not finite, a point more than 2^29 boxes away, vectors that span no
  /// box, a box in which a point meets more than 65535 images, cells_per_cutoff below 0 or above max_cells_per_cutoff,
  /// a null column, and 2^32 - 64 points or more; for systems that do not match the points, and options that are given
  /// beside .cells. The error in one of several systems begins with its number, and that of a point counts from the first
  /// of the system. The list is then unchanged. If rebuild() runs out of memory, or needs
  /// more than 2^32 - 1 ranges, the list is empty afterwards. Views are valid until the next rebuild(). Any number of
  /// threads may read a list.
  template <detail::cell_real T, int Dim>
  class NEARFIELD_API cell_list
  {
    static_assert(Dim == 2 || Dim == 3, "cell_list: give points with two or three columns");

  public:
    static constexpr int dim = Dim;                 ///< the dimension of space
    using value_type = T;                           ///< the type of the coordinates
    using options_type = cell_list_options<T, Dim>; ///< how the cells are cut

    /// A cell, or one for each system.
    using given_cells = detail::given_cells<Dim>;

    /// One set: the points are targets and sources.
    cell_list(strided<T const, Dim> const& points, double cutoff, options_type const& options = {})
        : cell_list(nullptr, options)
    {
      build(points, nullptr, cutoff);
    }
    /// Two sets: targets are `queries`, sources are `points`.
    cell_list(strided<T const, Dim> const& queries, strided<T const, Dim> const& points,
              double cutoff, options_type const& options = {})
        : cell_list(nullptr, options)
    {
      build(queries, &points, cutoff);
    }
    /// A batch: several systems.
    cell_list(strided<T const, Dim> const& points, systems<Dim> const& batch,
              options_type const& options = {})
        : cell_list(nullptr, options)
    {
      build(points, nullptr, batch);
    }
    /// A batch of two sets.
    cell_list(strided<T const, Dim> const& queries, strided<T const, Dim> const& points,
              systems<Dim> const& batch, options_type const& options = {})
        : cell_list(nullptr, options)
    {
      build(queries, &points, batch);
    }
    /// One set, sorted here and in rebuild() by the threads of `where`, which must outlive the list. It is the same to
    /// the bit.
    template <detail::cpu_place On>
    cell_list(On const& where, strided<T const, Dim> const& points, double cutoff,
              options_type const& options = {})
        : cell_list(detail::threads_of(where), options)
    {
      build(points, nullptr, cutoff);
    }
    /// The same for two sets.
    template <detail::cpu_place On>
    cell_list(On const& where, strided<T const, Dim> const& queries,
              strided<T const, Dim> const& points, double cutoff, options_type const& options = {})
        : cell_list(detail::threads_of(where), options)
    {
      build(queries, &points, cutoff);
    }
    /// A batch, on threads.
    template <detail::cpu_place On>
    cell_list(On const& where, strided<T const, Dim> const& points, systems<Dim> const& batch,
              options_type const& options = {})
        : cell_list(detail::threads_of(where), options)
    {
      build(points, nullptr, batch);
    }
    /// A batch of two sets, on threads.
    template <detail::cpu_place On>
    cell_list(On const& where, strided<T const, Dim> const& queries,
              strided<T const, Dim> const& points, systems<Dim> const& batch,
              options_type const& options = {})
        : cell_list(detail::threads_of(where), options)
    {
      build(queries, &points, batch);
    }
    ~cell_list();
    /// The moved-from list accepts only assignment, destruction and rebuild() with a cutoff.
    cell_list(cell_list&&) noexcept;
    /// As the move constructor.
    cell_list& operator=(cell_list&&) noexcept;

    /// Sorts other points, or the same ones after they moved, reusing memory. Keeps the cutoff or the systems, unless
    /// others are given, and the options.
    void rebuild(strided<T const, Dim> const& points) { build(points, nullptr, std::nullopt); }
    /// One set, with another cutoff.
    void rebuild(strided<T const, Dim> const& points, double cutoff)
    {
      build(points, nullptr, cutoff);
    }
    /// One set, and other systems.
    void rebuild(strided<T const, Dim> const& points, systems<Dim> const& batch)
    {
      build(points, nullptr, batch);
    }
    /// Two sets.
    void rebuild(strided<T const, Dim> const& queries, strided<T const, Dim> const& points)
    {
      build(queries, &points, std::nullopt);
    }
    /// Two sets, and another cutoff.
    void rebuild(strided<T const, Dim> const& queries, strided<T const, Dim> const& points,
                 double cutoff)
    {
      build(queries, &points, cutoff);
    }
    /// Two sets, and other systems.
    void rebuild(strided<T const, Dim> const& queries, strided<T const, Dim> const& points,
                 systems<Dim> const& batch)
    {
      build(queries, &points, batch);
    }

    /// Whether these points, or the same ones in a box that has changed, are too far from those of the last build: in some
    /// system 2 max_i |x_i - x_i'| + max_m |m (cell - cell')| > skin, with the nearest image of each point, and all m of
    /// the images that cells reach; or 2 skin, by options_type::skin_is. Always without a skin, and for a point that is
    /// not finite, another number of points or other periodic axes.
    [[nodiscard]] bool needs_rebuild(strided<T const, Dim> const& points,
                                     given_cells cells = {}) const
    {
      return moves_too_far(points, nullptr, cells.of);
    }
    /// Two sets.
    [[nodiscard]] bool needs_rebuild(strided<T const, Dim> const& queries,
                                     strided<T const, Dim> const& points,
                                     given_cells cells = {}) const
    {
      return moves_too_far(queries, &points, cells.of);
    }
    /// Takes points that have moved into the cells of the last build, or builds the list again if needs_rebuild(), and
    /// tells whether it did. Pairs are then those of a new list of these points, with the same S, and r2 to rounding; their
    /// order is that of the cells that are kept. Points may be wrapped by whole vectors. Throws as rebuild() does. It is
    /// not for other threads to read the list meanwhile.
    bool update(strided<T const, Dim> const& points, given_cells cells = {})
    {
      return update(points, nullptr, cells.of);
    }
    /// Two sets.
    bool update(strided<T const, Dim> const& queries, strided<T const, Dim> const& points,
                given_cells cells = {})
    {
      return update(queries, &points, cells.of);
    }

    /// Everything that a search needs.
    [[nodiscard]] detail::cell_view<T, Dim> view() const&;

    /// The number of systems: 1 unless they are given.
    [[nodiscard]] std::size_t n_systems() const;
    /// The grid of the cells of a system below n_systems().
    [[nodiscard]] detail::cell_grid<T, Dim> const& grid(std::size_t system = 0) const&;
    /// R of a system, rounded to T.
    [[nodiscard]] T cutoff(std::size_t system = 0) const { return grid(system).cutoff; }
    /// The number of boxes: cells that hold points of either set.
    [[nodiscard]] index_type size() const;
    /// Whether targets and sources are the same points.
    [[nodiscard]] bool has_one_set() const;

    /// Box b holds the points [begin(b), end(b)) of the sorted targets.
    [[nodiscard]] boxes targets() const& { return view().targets; }
    /// Box b holds the points [begin(b), end(b)) of the sorted sources.
    [[nodiscard]] boxes sources() const& { return view().sources; }
    /// The index of the target at each position, in the arrays that were given.
    [[nodiscard]] std::span<index_type const> target_order() const& { return view().target_order; }
    /// The same for the sources.
    [[nodiscard]] std::span<index_type const> source_order() const& { return view().source_order; }
    /// The coordinates of the targets, by position.
    [[nodiscard]] soa<T const, Dim> target_positions() const& { return view().target_x; }
    /// The coordinates of the sources, by position.
    [[nodiscard]] soa<T const, Dim> source_positions() const& { return view().source_x; }

    /// The shift of each target into the box, by position: the list holds x[target_order()[p]] + target_moves()[p]. Empty
    /// if all targets were inside, unless the list has a skin and a periodic box.
    [[nodiscard]] std::span<std::array<double, 3> const> target_moves() const&;
    /// The same for the sources.
    [[nodiscard]] std::span<std::array<double, 3> const> source_moves() const&;

    /// The boxes that meet, for near_field with an interaction that is zero beyond the cutoff. Those of adjacent cells in
    /// memory are merged. Ranges and shifts are those of target_positions() and source_positions(), not of your arrays.
    /// Throws nearfield::error for several systems in periodic boxes.
    [[nodiscard]] interaction_list interactions() const&;
    /// The same with every pair of boxes once, at the box that comes first. Also throws
    /// nearfield::error for two sets.
    [[nodiscard]] interaction_list half_interactions() const&;
    /// All of it for near_field: with the half list of boxes, or without.
    [[nodiscard]] detail::leaf_groups_view leaves(bool half) const&;

    /// \cond
    // deleted: of a temporary, they would outlive what they refer to
    void view() const&& = delete;                // give the list a name
    void grid(std::size_t = 0) const&& = delete; // give the list a name
    void targets() const&& = delete;             // give the list a name
    void sources() const&& = delete;             // give the list a name
    void target_order() const&& = delete;        // give the list a name
    void source_order() const&& = delete;        // give the list a name
    void target_positions() const&& = delete;    // give the list a name
    void source_positions() const&& = delete;    // give the list a name
    void interactions() const&& = delete;        // give the list a name
    void half_interactions() const&& = delete;   // give the list a name
    void target_moves() const&& = delete;        // give the list a name
    void source_moves() const&& = delete;        // give the list a name
    void leaves(bool) const&& = delete;          // give the list a name
    /// \endcond

  private:
    cell_list(executor* threads, options_type const& options);
    // one set if `sources` is null
    void build(strided<T const, Dim> const& targets, strided<T const, Dim> const* sources,
               std::optional<double> cutoff);
    void build(strided<T const, Dim> const& targets, strided<T const, Dim> const* sources,
               systems<Dim> const& batch);
    void build(strided<T const, Dim> const& targets, strided<T const, Dim> const* sources,
               detail::kept_systems<Dim>& given);
    void check_shifts() const;
    bool moves_too_far(strided<T const, Dim> const& targets, strided<T const, Dim> const* sources,
                       std::span<cell<Dim> const> cells) const;
    bool update(strided<T const, Dim> const& targets, strided<T const, Dim> const* sources,
                std::span<cell<Dim> const> cells);

    executor* threads_; // null: the calling thread
    options_type options_;
    std::unique_ptr<detail::cell_list_data<T, Dim>> data_;
  };

  /// One set.
  template <detail::columns_view X>
  cell_list(X, double,
            std::type_identity_t<cell_list_options<detail::value_of<X>, X::n_columns>> = {})
      -> cell_list<detail::value_of<X>, X::n_columns>;
  /// Targets and sources.
  template <detail::columns_view X, detail::columns_view Y>
  cell_list(X, Y, double,
            std::type_identity_t<cell_list_options<detail::value_of<X>, X::n_columns>> = {})
      -> cell_list<detail::value_of<X>, X::n_columns>;

  /// One set, on threads.
  template <detail::cpu_place On, detail::columns_view X>
  cell_list(On, X, double,
            std::type_identity_t<cell_list_options<detail::value_of<X>, X::n_columns>> = {})
      -> cell_list<detail::value_of<X>, X::n_columns>;
  /// Targets and sources, on threads.
  template <detail::cpu_place On, detail::columns_view X, detail::columns_view Y>
  cell_list(On, X, Y, double,
            std::type_identity_t<cell_list_options<detail::value_of<X>, X::n_columns>> = {})
      -> cell_list<detail::value_of<X>, X::n_columns>;

  /// A batch of one set.
  template <detail::columns_view X>
  cell_list(X, std::type_identity_t<systems<X::n_columns>>,
            std::type_identity_t<cell_list_options<detail::value_of<X>, X::n_columns>> = {})
      -> cell_list<detail::value_of<X>, X::n_columns>;
  /// A batch of targets and sources.
  template <detail::columns_view X, detail::columns_view Y>
  cell_list(X, Y, std::type_identity_t<systems<X::n_columns>>,
            std::type_identity_t<cell_list_options<detail::value_of<X>, X::n_columns>> = {})
      -> cell_list<detail::value_of<X>, X::n_columns>;

  /// A batch of one set, on threads.
  template <detail::cpu_place On, detail::columns_view X>
  cell_list(On, X, std::type_identity_t<systems<X::n_columns>>,
            std::type_identity_t<cell_list_options<detail::value_of<X>, X::n_columns>> = {})
      -> cell_list<detail::value_of<X>, X::n_columns>;
  /// A batch of targets and sources, on threads.
  template <detail::cpu_place On, detail::columns_view X, detail::columns_view Y>
  cell_list(On, X, Y, std::type_identity_t<systems<X::n_columns>>,
            std::type_identity_t<cell_list_options<detail::value_of<X>, X::n_columns>> = {})
      -> cell_list<detail::value_of<X>, X::n_columns>;

  extern template class cell_list<float, 2>;
  extern template class cell_list<float, 3>;
  extern template class cell_list<double, 2>;
  extern template class cell_list<double, 3>;

  /// The points of each system.
  struct points_of_systems
  {
    std::vector<index_type> offsets; ///< as systems::offsets
    std::vector<index_type>
        order; ///< as systems::order; empty if the points of each system follow each other
  };

  /// From a column that holds the number of the system of each point, in any order. There are n_systems of them, or as
  /// many as the largest number tells.
  ///
  ///     auto const of = nearfield::systems_of(batch);
  ///     nearfield::cell_list const cells{points, {.offsets = of.offsets, .cutoffs = cutoffs, .order = of.order}};
  ///
  /// Throws nearfield::error for a negative number, and one that is not below n_systems, or 2^32 - 1.
  template <std::ranges::contiguous_range Column>
    requires std::integral<std::ranges::range_value_t<Column>>
  [[nodiscard]] points_of_systems systems_of(Column const& column, std::size_t n_systems = 0)
  {
    std::size_t const most = n_systems > 0 ? n_systems : std::numeric_limits<index_type>::max();
    std::size_t const n = std::ranges::size(column);
    auto const* const of = std::ranges::data(column);
    points_of_systems found;
    auto& offsets = found.offsets;
    bool ascends = true;
    for (std::size_t i = 0; i < n; ++i)
    {
      if (std::cmp_less(of[i], 0) || std::cmp_greater_equal(of[i], most))
        throw error("systems_of: point " + std::to_string(i) + " is in system " +
                    std::to_string(of[i]) + "; give numbers from 0 to " + std::to_string(most - 1));
      ascends &= i == 0 || of[i - 1] <= of[i];
      n_systems = std::max(n_systems, static_cast<std::size_t>(of[i]) + 1);
    }
    offsets.assign(n_systems + 1, 0);
    for (std::size_t i = 0; i < n; ++i) ++offsets[static_cast<std::size_t>(of[i]) + 1];
    for (std::size_t s = 0; s < n_systems; ++s) offsets[s + 1] += offsets[s];
    if (ascends) return found;
    std::vector<index_type> next(offsets.begin(), offsets.end() - 1);
    found.order.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      found.order[next[static_cast<std::size_t>(of[i])]++] = static_cast<index_type>(i);
    return found;
  }
}
