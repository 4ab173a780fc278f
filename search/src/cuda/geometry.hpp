#pragma once

#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace nearfield::detail
{
  /// The points of one item: a warp's worth of consecutive points, which meet the same candidates.
  inline constexpr int item_points = 32;

  /// What the search in float knows of a grid. A grid of two axes is one of three with a single layer.
  ///
  /// Coordinates are stored in units of `unit`, rounded, modulo 2^32: differences are exact integers as long
  /// as they stay below 2^31 units, wherever the origin is, so that one float a coordinate serves any cloud.
  /// |r|^2 / 2 - 1/2, r in units of the cutoff, then comes out in float with an error below `ambiguous`; pairs
  /// that close to zero are tested again as the definition has it.
  struct search_geometry
  {
    std::uint32_t cells[3] = {1, 1, 1};
    int reach[3] = {0, 0, 0};
    /// the neighbours of the first cell go on with the last one
    bool wraps[3] = {false, false, false};
    /// L, in units
    std::uint32_t period[3] = {0, 0, 0};
    /// An item lies in `group` consecutive cells of a row, the first of them a multiple of `group`. Rows are
    /// filled up with empty cells to row_cells, a multiple of it: that changes no order.
    std::uint32_t group = 1, row_cells = 1;

    /// see divided(); of row_cells, cells[1], and the rows across y
    std::uint32_t row_reciprocal = 0, y_reciprocal = 0, across_reciprocal = 0;

    double units_per_length = 1;
    /// a unit over the cutoff
    float unit = 1;
    float ambiguous = 0;
    /// Candidates further than sqrt(limit) cutoffs from the box of an item are left out.
    float limit = 1;
    /// how far rounding may move the faces of that box, in cutoffs
    float slack = 0;

    [[nodiscard]] std::uint64_t rows() const { return std::uint64_t(cells[0]) * cells[1]; }
    [[nodiscard]] double total_cells() const { return double(rows()) * row_cells; }
  };

  /// `extent` is the length of the box of all points on each axis.
  template <class T, int Dim>
  search_geometry make_search_geometry(cell_grid<T, Dim> const& grid,
                                       std::array<double, Dim> const& extent)
  {
    search_geometry g;
    constexpr int first = 3 - Dim;
    double const cutoff = grid.cutoff;
    double width[3] = {0, 0, 0}, farthest = 0, longest_period = 0;
    bool exact_only = false;
    for (int a = 0; a < Dim; ++a)
    {
      int const b = first + a;
      g.cells[b] = grid.cells[a];
      g.reach[b] = grid.reach[a];
      g.wraps[b] = grid.axes[a] == grid_axis::periodic;
      // the nearest image differs from pair to pair
      exact_only = exact_only || grid.axes[a] == grid_axis::minimum_image;
      width[b] = 1 / grid.inverse_width[a];
      double const length = grid.period[a] > 0 ? double(grid.period[a]) : extent[a];
      farthest = std::max(farthest, length / cutoff);
      longest_period = std::max(longest_period, double(grid.period[a]) / cutoff);
    }

    // A cell must lie within reach of a whole item through one image only: then it is met once, and in the
    // order of positions.
    std::uint32_t group = std::max(1, g.reach[2]);
    if (g.wraps[2])
      group = std::min(group, g.cells[2] - 2 * static_cast<std::uint32_t>(g.reach[2]));
    g.group = std::min(group, g.cells[2]);
    g.row_cells = (g.cells[2] + g.group - 1) / g.group * g.group;

    g.row_reciprocal = ~0u / g.row_cells;
    g.y_reciprocal = ~0u / g.cells[1];
    g.across_reciprocal = ~0u / static_cast<std::uint32_t>(2 * g.reach[1] + 1);

    double span = 0, reach2 = 0;
    for (int b = first; b < 3; ++b)
    {
      double const cells_of_item = b == 2 ? g.group : 1;
      span = std::max(span, (cells_of_item + g.reach[b] + 1) * width[b]);
      double const candidate = 0.5 * cells_of_item * width[b] / cutoff + 1.01;
      reach2 += candidate * candidate;
    }
    double const stretch = std::max(1.0, span / cutoff / 64);
    double const unit = stretch * 0x1p-24;
    g.unit = static_cast<float>(unit);
    g.units_per_length = 1 / (unit * cutoff);
    for (int a = 0; a < Dim; ++a)
      if (g.wraps[first + a])
        g.period[first + a] = static_cast<std::uint32_t>(
            std::llrint(std::min(double(grid.period[a]) * g.units_per_length, 0x1p62)));

    // The terms of the float formula; the rounding to units; double(x) - lower, scaled; the definition's
    // own rounding, whose differences are as long as a period before the image is taken off.
    double const error = 0x1p-21 * (reach2 + 4) + 0x1p-21 * stretch + 0x1p-49 * farthest +
                         double(std::numeric_limits<T>::epsilon()) * (8 + 2 * longest_period);
    exact_only = exact_only || !(farthest / unit < 0x1p62) || !(error < 1e30) ||
                 !std::isfinite(g.units_per_length);
    float const infinity = std::numeric_limits<float>::infinity();
    g.ambiguous = exact_only ? infinity : static_cast<float>(error);
    g.limit = exact_only ? infinity : static_cast<float>(1 + 8 * error);
    g.slack = static_cast<float>(4 * error);
    return g;
  }
}
