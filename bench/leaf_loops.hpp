#pragma once

#include <cstddef>
#include <vector>

/// \file
/// The near field of an FMM's own leaves, 1/r in 3D, by the loops that an author would write; compiled with -O3
/// -march=native -ffast-math.

namespace bench
{
  /// Points of a leaf as columns.
  template <class T>
  struct column_leaf
  {
    std::vector<T> x, y, z, q, phi;
    std::vector<std::size_t> neighbours; ///< leaves that touch it
    std::vector<std::size_t> upper;      ///< those of them with a greater number
  };

  /// A leaf with its points as records. Sums are apart: with five members g++ 12 does not vectorise the loop.
  template <class T>
  struct record_leaf
  {
    struct record
    {
      T x, y, z, q;
    };
    std::vector<record> points;
    std::vector<T> phi;
    std::vector<std::size_t> neighbours, upper;
  };

  /// Adds to the phi of each leaf the sums over the leaf itself and over its neighbours.
  void plain_leaves(std::vector<column_leaf<float>>& leaves, bool mutual);
  void plain_leaves(std::vector<column_leaf<double>>& leaves, bool mutual);
  void plain_leaves(std::vector<record_leaf<float>>& leaves, bool mutual);
  void plain_leaves(std::vector<record_leaf<double>>& leaves, bool mutual);
}
