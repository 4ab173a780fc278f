#pragma once

#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace nearfield::detail
{
  /// The most points of an item: consecutive points, one per lane of a warp, which meet the same candidates.
  inline constexpr int item_points = 32;

  /// What a search in float needs of a grid. A 2D grid is a 3D one with a single layer.
  ///
  /// Coordinates are stored in units of `unit`, rounded, modulo 2^32. Differences below 2^31 units are exact
  /// integers, wherever the origin is, so one 32-bit word per coordinate serves any cloud. |r|^2 / 2 - 1/2,
  /// with r in cutoffs, then has an error below `ambiguous` in float; pairs that close to zero are tested
  /// again by the definition.
  struct cell_geometry
  {
    std::uint32_t cells[3] = {1, 1, 1};
    int reach[3] = {0, 0, 0};
    /// whether the first cell and the last one are neighbours
    bool wraps[3] = {false, false, false};
    /// L, in units
    std::uint32_t period[3] = {0, 0, 0};
    /// An item lies in `group` consecutive cells of a row, the first of which is a multiple of `group`. Rows
    /// are padded with empty cells to row_cells, a multiple of it, which changes no order.
    std::uint32_t group = 1, row_cells = 1;

    /// see segment_walk::divided(): for row_cells, cells[1], and the number of rows across y
    std::uint32_t row_reciprocal = 0, y_reciprocal = 0, across_reciprocal = 0;

    double units_per_length = 1;
    /// one unit, in cutoffs
    float unit = 1;
    float ambiguous = 0;
    /// candidates further than sqrt(limit) cutoffs from the box of an item are left out
    float limit = 1;
    /// the most that rounding moves the faces of that box, in cutoffs
    float slack = 0;

    [[nodiscard]] std::uint64_t rows() const { return std::uint64_t(cells[0]) * cells[1]; }
    [[nodiscard]] double total_cells() const { return double(rows()) * row_cells; }
  };

  /// `extent` is the size of the bounding box of all points on each axis.
  template <class T, int Dim>
  cell_geometry make_cell_geometry(cell_grid<T, Dim> const& grid,
                                   std::array<double, Dim> const& extent)
  {
    cell_geometry g;
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
      // each pair has its own nearest image
      exact_only = exact_only || grid.axes[a] == grid_axis::minimum_image;
      width[b] = 1 / grid.inverse_width[a];
      double const length = grid.period[a] > 0 ? double(grid.period[a]) : extent[a];
      farthest = std::max(farthest, length / cutoff);
      longest_period = std::max(longest_period, double(grid.period[a]) / cutoff);
    }

    // A cell must be within reach of a whole item through one image only: then it is met once, in
    // the order of positions.
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

    // The error of the float formula; of the rounding to units; of double(x) - lower, scaled; and of the
    // definition itself, whose differences are as long as a period before the image is subtracted.
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
