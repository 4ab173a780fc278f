#pragma once

#include "../images.hpp"

#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <array>
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
    /// the number of a shift is the sum of images times these, and n_images more if that is negative
    int weight[3] = {0, 0, 0};
    int n_images = 1;
    /// An item lies in one of the groups of `group` consecutive cells that rows consist of. Rows are padded with empty
    /// cells to row_cells, a multiple of it, which changes no order.
    std::uint32_t group = 1, row_cells = 1;
    /// the largest number of images in which an item meets the cells of a row
    std::uint32_t parts = 1;

    /// see divided(): for each number of cells, row_cells, parts, and the number of rows across y
    std::uint32_t reciprocal[3] = {~0u, ~0u, ~0u};
    std::uint32_t row_reciprocal = 0, parts_reciprocal = 0, across_reciprocal = 0;

    double units_per_length = 1;
    double origin[3] = {0, 0, 0}; ///< of the coordinates of points, length^1
    /// one unit, in cutoffs
    float unit = 1;
    float ambiguous = 0;
    /// candidates further than sqrt(limit) cutoffs from the box of an item are left out
    float limit = 1;
    /// the most that rounding moves the faces of that box, in cutoffs
    float slack = 0;

    [[nodiscard]] NEARFIELD_FN std::uint64_t rows() const
    {
      return std::uint64_t(cells[0]) * cells[1];
    }
    /// May need all 64 bits.
    [[nodiscard]] NEARFIELD_FN std::uint64_t total_cells() const { return rows() * row_cells; }

    /// Groups of at most `wanted` cells, which are no more than the widest ones.
    NEARFIELD_FN void set_group(std::uint32_t wanted)
    {
      group = wanted;
      row_cells = (cells[2] + group - 1) / group * group;
      if (wraps[2])
        parts = (group + 2 * static_cast<std::uint32_t>(reach[2]) - 2 + cells[2]) / cells[2] + 1;
      row_reciprocal = ~0u / row_cells;
      parts_reciprocal = ~0u / parts;
    }
  };

  /// The cells of a group, for items of few cells that still fill a warp: more of them where there are few of n_points in
  /// each, but not so many that floats are too coarse for the items.
  NEARFIELD_FN std::uint32_t group_of(cell_geometry const& g, std::uint64_t n_points)
  {
    constexpr double points = 22; // of an item, since a few more than 32 would need another one
    constexpr std::uint32_t most = 8;
    auto const reach = static_cast<std::uint32_t>(g.reach[2]), n = g.cells[2];
    double const wanted =
        points * (static_cast<double>(g.rows()) * n) / static_cast<double>(n_points) + 0.5;
    std::uint32_t group = wanted < most ? static_cast<std::uint32_t>(wanted) : most;
    // larger ones meet hardly more cells, unless these are few
    std::uint32_t const least = !g.wraps[2]     ? reach
                                : n > 2 * reach ? std::min(reach, n - 2 * reach)
                                                : 1;
    group = std::min(std::max(std::max(1u, least), group), n);
    std::uint32_t const groups = (n + group - 1) / group;
    return (n + groups - 1) / groups;
  }

  /// `lower` and `extent` are the lower ends and the sizes of the bounding box of all points, along coordinates; n_points
  /// is the number of targets.
  template <class T, int Dim>
  NEARFIELD_FN cell_geometry make_cell_geometry(cell_grid<T, Dim> const& grid,
                                                std::array<double, Dim> const& lower,
                                                std::array<double, Dim> const& extent,
                                                std::uint64_t n_points)
  {
    cell_geometry g;
    constexpr int first = 3 - Dim;
    double const cutoff = grid.cutoff;
    image_numbers<Dim> const images = numbers_of(grid);
    g.n_images = static_cast<int>(images.n);
    for (int a = 0; a < Dim; ++a)
    {
      int const b = first + a;
      g.cells[b] = grid.cells[a];
      g.reach[b] = grid.reach[a];
      g.wraps[b] = grid.wraps[a];
      g.weight[b] = images.weight[a];
      g.reciprocal[b] = ~0u / g.cells[b];
      g.origin[b] = lower[a];
    }

    g.set_group(group_of(g, n_points));
    g.across_reciprocal = ~0u / static_cast<std::uint32_t>(2 * g.reach[1] + 1);

    // Along coordinates, in cutoffs: the most that an item spans, that its points and those around it are apart, and
    // that images are moved. A point may lie a rounding outside its cell or, where there is a skin, half of that; and so
    // far a box may be strained.
    double span = 0, reach2 = 0, farthest = 0, shift = 0;
    double beyond = 0; // the cutoff
    for (int a = 0; a < Dim; ++a) beyond = std::max(beyond, grid.farthest[a] / cutoff - 1);
    for (int b = 0; b < Dim; ++b)
    {
      double item = 0, around_item = 0, moved = 0;
      for (int a = 0; a < Dim; ++a)
      {
        double const cells_of_item = a == Dim - 1 ? g.group : 1, width = 1 / grid.inverse_width[a];
        double const slack = 2 * (grid.farthest[a] - cutoff);
        double const edge = std::fabs(grid.frame.reduced[a][b]) / cutoff;
        double const height = grid.frame.periodic[a] ? grid.frame.thickness[a] : 1;
        item += (cells_of_item * width + slack) / height * edge;
        around_item += ((cells_of_item + grid.reach[a] + 1) * width + slack) / height * edge;
        moved += images.most[a] * edge;
      }
      span = std::max(span, around_item);
      reach2 += (0.5 * item + 1.01) * (0.5 * item + 1.01);
      farthest = std::max(farthest, extent[b] / cutoff + moved + 2 * beyond);
      shift = std::max(shift, moved + beyond);
    }
    double const stretch = std::max(1.0, span / 64);
    double const unit = stretch * 0x1p-24;
    g.unit = static_cast<float>(unit);
    g.units_per_length = 1 / (unit * cutoff);

    // The error of the float formula; of the rounding to units; of double(x) - lower, scaled; and of the
    // definition itself, whose differences are as long as a shift before it is subtracted.
    constexpr double eps = std::numeric_limits<T>::epsilon();
    double const error =
        0x1p-21 * (reach2 + 4) + 0x1p-21 * stretch + 0x1p-49 * farthest + eps * (8 + 2 * shift);
    bool const exact_only = !(farthest / unit < 0x1p62) || !(error < 1e30) ||
                            !(eps * shift < 0x1p-5) || !std::isfinite(g.units_per_length);
    float const infinity = std::numeric_limits<float>::infinity();
    g.ambiguous = exact_only ? infinity : static_cast<float>(error);
    g.limit = exact_only ? infinity : static_cast<float>(1 + 8 * error);
    g.slack = static_cast<float>(4 * error);
    return g;
  }
}
