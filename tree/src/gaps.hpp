#pragma once

#include "root.hpp"
#include "sort.hpp"

#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

/// \file
/// Which gaps between points an axis leaves out, so that a point far away does not make all cells, or all leaves, as
/// large as its distance.

namespace nearfield::detail
{
  /// How many distances have each exponent: of[e] counts d with 2^(e - 1023) <= d < 2^(e - 1022), and of[0] zeros and
  /// subnormal numbers too. CPU and GPU count alike, so that they leave out the same gaps.
  struct distance_counts
  {
    std::array<std::uint64_t, 2047> of{};
  };

  /// Of the sorted coordinates of an axis.
  struct axis_spacing
  {
    std::uint64_t n = 0;         ///< points
    double lower = 0, upper = 0; ///< the first and the last one
    distance_counts to_next;     ///< from each point to the next one
    distance_counts to_nth;      ///< from each point to the one a number of places later
  };

  /// Two neighbours along an axis.
  struct axis_gap
  {
    double before, after;
    std::uint64_t n_before; ///< points up to the first of them
  };

  /// Cells of a grid are crowded if so many points are in one of them, whatever the other axes say.
  inline constexpr std::uint64_t crowd_of_cell = 16;

  /// Of an axis that needs more than n_cells cells of this width, so that they are wider: gaps longer than this are left
  /// out if the wider cells are crowded; infinity if they are not. It is at least reach + 2 widths.
  [[nodiscard]] NEARFIELD_API double gaps_of_grid(axis_spacing const& spacing, double wider,
                                                  double width, double n_cells, int reach);

  /// The pieces of the axis of a grid, in cells of `width`, which grows if there are more than n_cells. Each gap has
  /// `reach` empty cells. Returns the number of cells.
  [[nodiscard]] NEARFIELD_API std::uint32_t pieces_of_grid(std::span<axis_gap const> gaps,
                                                           double lower, double upper, int reach,
                                                           double n_cells, double& width,
                                                           std::vector<axis_piece>& pieces);

  /// Whether cells are wider than they need be, since the axis would have too many. Along the normals of oblique boxes no
  /// gap is left out.
  template <class T, int Dim>
  NEARFIELD_FN bool has_wide_cells(cell_grid<T, Dim> const& grid,
                                   cell_list_options<T, Dim> const& options, int a)
  {
    double const least = grid.farthest[a] / cells_per_cutoff(options, a);
    // not those of a grid that just fits, whose widths are rounded
    return grid.frame.is_aligned && grid.cells[a] == max_cells_per_axis &&
           1 / grid.inverse_width[a] > least * (1 + 0x1p-20);
  }

  /// Gives an axis with wide cells pieces, if these are crowded. gaps(length) makes the gaps longer than this. Where no
  /// points are near the border of a period, the axis becomes an open one.
  template <class T, int Dim, class Gaps>
  void leave_gaps_out(cell_grid<T, Dim>& grid, cell_list_options<T, Dim> const& options, int a,
                      axis_spacing const& spacing, Gaps const& gaps,
                      std::vector<axis_piece>& pieces)
  {
    int const reach = cells_per_cutoff(options, a);
    // Pairs through the border of a period may be a little further apart.
    if (grid.wraps[a] && spacing.lower + (grid.frame.thickness[a] - spacing.upper) <
                             (reach + 2) * (grid.farthest[a] / reach))
      return;
    double const farthest = (double(grid.cutoff) + reach_beyond(options)) * pair_slack<T>,
                 least = farthest / reach;
    double const length =
        gaps_of_grid(spacing, 1 / grid.inverse_width[a], least, max_cells_per_axis, reach);
    if (length == std::numeric_limits<double>::infinity()) return;
    double width = least;
    grid.cells[a] = pieces_of_grid(gaps(length), spacing.lower, spacing.upper, reach,
                                   max_cells_per_axis, width, pieces);
    grid.wraps[a] = false;
    grid.farthest[a] = farthest;
    grid.lower[a] = spacing.lower;
    grid.inverse_width[a] = 1 / width;
    grid.reach[a] = std::min(reach, static_cast<int>(grid.cells[a]) - 1);
    grid.pieces[a] = {pieces.data(), static_cast<std::uint32_t>(pieces.size())};
  }

  /// Distances of so many places, for gaps_of_tree().
  inline std::uint64_t crowd_of_tree(std::uint64_t n_points)
  {
    return n_points / 4096 + 1;
  }

  /// The length of all axes together that a tree with this many levels resolves: the distance that most points have
  /// to the one crowd_of_tree() places later, on the axis where it is longest, is many boxes long. 0 if none differ. An
  /// axis where few differ, as across a plane, does not count.
  [[nodiscard]] NEARFIELD_API double resolved_length(std::span<axis_spacing const> axes,
                                                     int levels);

  /// Gaps are cut to this length, so that `resolved` holds the axis; infinity if none need be.
  [[nodiscard]] NEARFIELD_API double gaps_of_tree(axis_spacing const& spacing, double resolved);

  /// The axis of a tree whose gaps are cut to one length. Points of the largest piece keep their coordinates.
  struct cut_axis
  {
    std::vector<axis_piece> pieces{}; ///< offset + (x - origin) is the coordinate that x gets
    double lower = 0, upper = 0;      ///< of these coordinates
  };
  [[nodiscard]] NEARFIELD_API cut_axis cut_gaps(std::span<axis_gap const> gaps,
                                                axis_spacing const& spacing, double length);

  /// A leaf with more points than this, which are not all at one place, shows that a tree has too few levels: a point is
  /// so far away that the last one is still too large. Fewer points cost little in one leaf.
  inline std::uint64_t crowd_of_leaf(int max_leaf_size)
  {
    return static_cast<std::uint64_t>(std::max(max_leaf_size, 1024));
  }

  /// Cuts long gaps of the axes of a tree that has too few levels; spacing of a periodic axis has no points. gaps(axis,
  /// length) makes the gaps of an axis longer than this. Returns whether there are any; then the root is around points
  /// of which those of the largest pieces keep their coordinates.
  template <int Dim, class Gaps>
  bool cut_gaps(std::array<axis_spacing, Dim> const& spacing,
                std::type_identity_t<std::array<double, Dim>> const& period, int levels,
                Gaps const& gaps, cube<Dim>& root, std::array<std::vector<axis_piece>, Dim>& pieces)
  {
    double const resolved = resolved_length(spacing, levels);
    bool any = false;
    std::array<double, Dim> lower{}, upper{};
    for (int d = 0; d < Dim; ++d)
    {
      pieces[d].clear();
      lower[d] = spacing[d].lower;
      upper[d] = spacing[d].upper;
      double const length = resolved > 0 ? gaps_of_tree(spacing[d], resolved)
                                         : std::numeric_limits<double>::infinity();
      if (length == std::numeric_limits<double>::infinity()) continue;
      cut_axis axis = cut_gaps(gaps(d, length), spacing[d], length);
      pieces[d] = std::move(axis.pieces);
      lower[d] = axis.lower;
      upper[d] = axis.upper;
      any = true;
    }
    if (!any) return false;
    root = cube_around<Dim>(lower, upper, period);
    for (int d = 0; d < Dim; ++d)
    {
      if (period[d] > 0) root.centre[d] = period[d] / 2;
      for (axis_piece& piece : pieces[d])
        if (piece.origin == piece.offset) // as where no gap is left out, to the bit
          piece = {piece.first, root.lower(d), 0};
        else
          piece.offset -= root.lower(d);
    }
    return true;
  }

  /// Of sorted coordinates, as ordered_bits(), from the first one on: how far each is from the one `step` places before.
  NEARFIELD_API void count_distances(std::span<std::uint64_t const> sorted, std::size_t first,
                                     std::size_t step, distance_counts& to);
  /// Gaps longer than this that end at the first one or later.
  [[nodiscard]] NEARFIELD_API std::vector<axis_gap>
  gaps_between(std::span<std::uint64_t const> sorted, std::size_t first, double length);

  /// The sorted coordinates of an axis, of one or two sets.
  class NEARFIELD_API sorted_axis
  {
  public:
    template <class T>
    sorted_axis(executor& on, strided_column<T const> const& a, std::size_t n_a,
                strided_column<T const> const& b, std::size_t n_b, sort_scratch& scratch);

    [[nodiscard]] axis_spacing spacing(std::uint64_t places) const;
    /// Ascending; longer than this.
    [[nodiscard]] std::vector<axis_gap> gaps(double length) const;

  private:
    page_vector<std::uint64_t> bits_;
  };
}
