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

  /// Where a point is that has moved.
  template <class T, int Dim>
  struct followed_point
  {
    std::array<T, Dim> at;         ///< x - image . vectors
    std::array<double, Dim> image; ///< whole numbers
    bool fits;                     ///< it has not moved too far
  };

  /// A point that is at x now, and was at `before` when cells were made, an image of it: at the same image now or, if that
  /// is too far from `before`, the nearest one. most_squared is that of most_move_squared().
  template <class T, int Dim>
  NEARFIELD_FN followed_point<T, Dim>
  follow(std::array<T, Dim> const& x, std::array<T, Dim> const& before,
         image_counters<Dim> const& image, cell_frame<Dim> const& now, double most_squared)
  {
    followed_point<T, Dim> point{x, {}, false};
    std::array<double, Dim> move{};
    auto const has_moved_far = [&]
    {
      double square = 0;
      bool has_image = false;
      for (int a = 0; a < Dim; ++a) has_image |= point.image[a] != 0;
      auto const shift = has_image ? now.shift(point.image) : std::array<double, Dim>();
      for (int a = 0; a < Dim; ++a)
      {
        point.at[a] = static_cast<T>(double(x[a]) - shift[a]);
        move[a] = double(point.at[a]) - double(before[a]);
        square += move[a] * move[a];
      }
      return !(square <= most_squared); // NaN is far
    };
    for (int a = 0; a < Dim; ++a) point.image[a] = image[a];
    bool is_far = has_moved_far();
    // the second turn sees what a point far away lost by rounding
    for (int turn = 0; turn < 2 && is_far; ++turn)
    {
      std::array<double, Dim> cells{};
      for (int a = 0; a < Dim; ++a)
        if (now.periodic[a])
        {
          double along = 0;
          for (int b = 0; b < Dim; ++b) along += move[b] * now.normals[a][b];
          cells[a] = std::rint(along / now.thickness[a]);
        }
      auto const turns = now.image_of(cells);
      for (int a = 0; a < Dim; ++a) point.image[a] += turns[a];
      is_far = has_moved_far();
    }
    point.fits = !is_far;
    for (int a = 0; a < Dim; ++a) point.fits &= std::fabs(point.image[a]) <= now.max_image;
    return point;
  }
}
