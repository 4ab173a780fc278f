#pragma once

#include <nearfield/tree/cube.hpp>

#include <optional>

namespace nearfield
{
  /// The order of leaves in memory. Results depend on it only by rounding, but times do: neighbours
  /// that are adjacent in memory merge into one range, and row-major order merges more of them.
  enum class leaf_order
  {
    row_major, ///< the last axis varies fastest; uniform trees only
    morton     ///< along the Z curve, the last axis varies fastest
  };

  /// How often a root can be halved: the indices of a leaf fit in one 64-bit key.
  template <int Dim>
  inline constexpr int max_level = Dim == 3 ? 21 : 31;

  /// How a tree is cut. With `level` every leaf has the width root.width() / 2^level (a uniform
  /// tree). Without it a box splits while it holds too many points (an adaptive tree).
  template <int Dim>
  struct tree_options
  {
    /// A box with more targets or more sources than this splits, down to max_level<Dim>. At least
    /// 1; a uniform tree ignores it.
    int max_leaf_size = 64;
    /// 0 ... max_level<Dim>; level 0 is one leaf, the direct sum
    std::optional<int> level = std::nullopt;
    /// The root box, which must hold every point. By default it is the cube around the centre of
    /// the points' bounding box, with half the largest extent as half width (1 if all points are
    /// equal, or if there are none).
    std::optional<cube<Dim>> root = std::nullopt;
    /// by default row_major for a uniform tree and morton for an adaptive one
    std::optional<leaf_order> order = std::nullopt;
  };
}
