#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

/// \file
/// What the two forms of the Thrust pair search share: the grid, and the half of the cells around a
/// point that it looks into. Re-expressed from the page "Fixed-Radius Neighbour Search Using
/// Thrust", after S. Green, Particle Simulation using CUDA (2010). Two things are mended. The grid
/// is padded by cells_per_cutoff + 1 cells on every side, by an offset of whole cells: the page
/// pads by two, and its CPU form reads in front of its table from cells_per_cutoff = 2 on and
/// crashes at 3. And the first axis is the slowest in both forms: a page that swaps two axes in one
/// of them is right in cubes only.

namespace baseline
{
  /// Points of the host, in columns.
  template <class T>
  struct point_columns
  {
    std::vector<T> x, y, z;
  };

  /// Half pairs, in columns: indices of the points as the search leaves them.
  struct pair_columns
  {
    std::vector<int> i, j;
  };

  /// Cells of width cutoff / cells_per_cutoff around the points' bounds, all of them in memory.
  template <class T>
  struct padded_grid
  {
    T lower[3]; ///< the points' smallest coordinates: the padding lies before them
    T width;
    int padding;
    int cells[3];

    /// Throws error where an int does not count the cells.
    padded_grid(T const (&smallest)[3], T const (&largest)[3], T cutoff, int cells_per_cutoff)
        : width(cutoff / T(cells_per_cutoff)), padding(cells_per_cutoff + 1)
    {
      double total = 1;
      for (int d = 0; d < 3; ++d)
      {
        lower[d] = smallest[d];
        double const across = (double(largest[d]) - double(smallest[d])) / double(width);
        total *= across + 1 + 2 * padding;
        if (total >= std::numeric_limits<int>::max())
          throw nearfield::error("padded_grid: cutoff " + std::to_string(cutoff) +
                                 " makes more cells than an int counts; take a larger one");
        cells[d] = along(largest[d], d) + 1 + padding;
      }
    }

    [[nodiscard]] std::size_t size() const
    {
      return std::size_t(cells[0]) * std::size_t(cells[1]) * std::size_t(cells[2]);
    }

    /// The coordinate of a cell on axis d, the padding included.
    [[nodiscard]] NEARFIELD_FN int along(T x, int d) const
    {
      return static_cast<int>((x - lower[d]) / width) + padding;
    }

    /// From one cell to another, in the table of cells: the last axis is the fastest.
    [[nodiscard]] NEARFIELD_FN int distance(int dx, int dy, int dz) const
    {
      return (dx * cells[1] + dy) * cells[2] + dz;
    }

    [[nodiscard]] NEARFIELD_FN int cell(T x, T y, T z) const
    {
      return distance(along(x, 0), along(y, 1), along(z, 2));
    }
  };

  /// Whether i and j are a pair: the definition of nearfield's search, if the file is compiled
  /// without contraction to fma.
  template <class T>
  [[nodiscard]] NEARFIELD_FN bool is_pair(T dx, T dy, T dz, T cutoff2)
  {
    return dx * dx + dy * dy + dz * dz < cutoff2;
  }
}
