#pragma once

#include <nearfield/core/cell.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

/// \file
/// When the cells of a list with a skin hold all pairs of points that have moved.

namespace nearfield::detail
{
  /// A frame whose box is this one now.
  template <int Dim>
  NEARFIELD_FN cell_frame<Dim> with_vectors_of(cell_frame<Dim> frame, cell<Dim> const& box)
  {
    for (int a = 0; a < Dim; ++a)
      if (frame.periodic[a]) frame.vectors[a] = box.vectors[a];
    return frame;
  }

  /// How far each point may have moved since a grid was made, squared; below 0 if the vectors of its box have changed too
  /// much. A pair that is within R now was within R + 2 |move| + |change of the shift| then, and that is to be within
  /// R + skin. Images just outside the tables count, so that those beyond, which are further away in proportion, cannot
  /// come within R.
  template <class T, int Dim>
  NEARFIELD_FN double most_move_squared(cell_grid<T, Dim> const& grid, cell_frame<Dim> const& now,
                                        double skin)
  {
    double change = 0;
    for (int corner = 0; corner < 1 << Dim; ++corner)
    {
      std::array<double, Dim> cells{};
      for (int a = 0; a < Dim; ++a)
        if (grid.wraps[a])
          cells[a] = ((corner >> a & 1) != 0 ? 1 : -1) * (grid.most_images(a) + 1.);
      auto const image = grid.frame.image_of(cells);
      auto const shift_then = grid.frame.shift(image), shift_now = now.shift(image);
      double square = 0;
      for (int a = 0; a < Dim; ++a)
        square += (shift_now[a] - shift_then[a]) * (shift_now[a] - shift_then[a]);
      if (!(square < std::numeric_limits<double>::infinity())) return -1;
      change = std::max(change, square);
    }
    double const left = (skin - std::sqrt(change)) / 2;
    // finite, so that a point at infinity has moved too far
    return left >= 0 ? std::fmin(left * left, std::numeric_limits<double>::max()) : -1;
  }

  /// How often the vectors are to be subtracted from a point, as whole numbers, so that its move becomes the shortest one.
  template <int Dim>
  NEARFIELD_FN std::array<double, Dim> turns_of(std::array<double, Dim> const& move,
                                                cell_frame<Dim> const& now)
  {
    std::array<double, Dim> cells{};
    for (int a = 0; a < Dim; ++a)
      if (now.periodic[a])
      {
        double along = 0;
        for (int b = 0; b < Dim; ++b) along += move[b] * now.normals[a][b];
        cells[a] = std::rint(along / now.thickness[a]);
      }
    return now.image_of(cells);
  }

  /// The second turn sees what a point far away lost by rounding.
  inline constexpr int most_turns = 2;
}
