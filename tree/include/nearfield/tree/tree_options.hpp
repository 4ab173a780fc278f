#pragma once

#include <nearfield/tree/cube.hpp>

#include <optional>

namespace nearfield
{
  /// How leaves follow each other in memory. Results do not depend on it, times do: consecutive
  /// neighbours merge into one range, and row-major order merges more of them.
  enum class leaf_order
  {
    row_major, ///< the last axis varies fastest; uniform trees only
    morton     ///< along the Z curve, the last axis varies fastest
  };

  /// The number of times that a root can be halved: the indices of a leaf fill one 64-bit key.
  template <int Dim>
  inline constexpr int max_level = Dim == 3 ? 21 : 31;

  /// How a tree is cut. With `level` every leaf has the width root.width() / 2^level (a uniform
  /// tree), without it a box splits while it holds too many points (an adaptive tree).
  template <int Dim>
  struct tree_options
  {
    /// A box with more targets or more sources than this splits, down to max_level<Dim>. At least
    /// 1; a uniform tree does not read it.
    int max_leaf_size = 64;
    /// 0 ... max_level<Dim>; level 0 is one leaf, the direct sum
    std::optional<int> level = std::nullopt;
    /// The box that is cut, which must hold every point. By default the cube centred on the middle
    /// of the bounding box of the points, half its largest extent in half width (1 where all points
    /// are equal, or none are given).
    std::optional<cube<Dim>> root = std::nullopt;
    /// row_major for a uniform tree and morton for an adaptive one unless set
    std::optional<leaf_order> order = std::nullopt;
  };
}
