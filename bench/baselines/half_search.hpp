#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

/// \file
/// What the two forms of the Thrust pair search share: the grid, and the definition of a pair. Rewritten
/// from the page "Fixed-Radius Neighbour Search Using Thrust", after S. Green, Particle Simulation using
/// CUDA (2010), with two corrections. The grid is padded by cells_per_cutoff + 1 whole cells on every
/// side: the page pads by two, so its CPU form reads before its table for cells_per_cutoff >= 2 and
/// crashes at 3. And the first axis is the slowest in both forms: the page swaps two axes in one of
/// them, which is correct only for cubes.

namespace baseline
{
  /// Points in host memory, in columns.
  template <class T>
  struct point_columns
  {
    std::vector<T> x, y, z;
  };

  /// Half pairs in columns: indices into the points as the search leaves them.
  struct pair_columns
  {
    std::vector<int> i, j;
  };

  /// Cells of width cutoff / cells_per_cutoff over the bounds of the points; a dense table.
  template <class T>
  struct padded_grid
  {
    T lower[3]; ///< the smallest coordinates of the points, without the padding
    T width;
    int padding;
    int cells[3];

    /// Throws nearfield::error if the number of cells exceeds the range of int.
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

    /// The index of the cell of x on axis d, including the padding.
    [[nodiscard]] NEARFIELD_FN int along(T x, int d) const
    {
      return static_cast<int>((x - lower[d]) / width) + padding;
    }

    /// The distance between two cells in the table, where the last axis is the fastest.
    [[nodiscard]] NEARFIELD_FN int distance(int dx, int dy, int dz) const
    {
      return (dx * cells[1] + dy) * cells[2] + dz;
    }

    [[nodiscard]] NEARFIELD_FN int cell(T x, T y, T z) const
    {
      return distance(along(x, 0), along(y, 1), along(z, 2));
    }
  };

  /// Whether two points are a pair: nearfield's definition, if the file is compiled without contraction
  /// to fma.
  template <class T>
  [[nodiscard]] NEARFIELD_FN bool is_pair(T dx, T dy, T dz, T cutoff2)
  {
    return dx * dx + dy * dy + dz * dz < cutoff2;
  }
}
