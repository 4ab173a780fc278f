#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace nearfield::detail
{
  /// How a box of the lattice of 2^level boxes per axis is encoded as a key.
  struct key_layout
  {
    leaf_order order;
    int level;

    /// Whether keys are rows; up to level 1 they are those of the Z curve too.
    [[nodiscard]] bool in_rows() const { return order == leaf_order::row_major && level > 1; }
  };

  /// Where the boxes of a tree begin along an axis, and how far they go.
  struct key_axis
  {
    double lower, width;
    axis_pieces pieces{};
  };

  /// The pieces of each axis of a tree; none: no gap is left out.
  template <int Dim>
  using tree_pieces = std::array<std::vector<axis_piece>, Dim>;

  template <int Dim>
  std::array<key_axis, Dim> key_axes(cube<Dim> const& root,
                                     std::type_identity_t<std::array<double, Dim>> const& period,
                                     std::type_identity_t<tree_pieces<Dim>> const& pieces)
  {
    std::array<key_axis, Dim> axes;
    for (int d = 0; d < Dim; ++d)
    {
      axes[d] = period[d] > 0 ? key_axis{0, period[d]} : key_axis{root.lower(d), root.width()};
      axes[d].pieces = {pieces[d].data(), static_cast<std::uint32_t>(pieces[d].size())};
    }
    return axes;
  }

  /// Integers that compare as the numbers do.
  constexpr std::uint64_t ordered_bits(double x)
  {
    auto const bits = std::bit_cast<std::uint64_t>(x);
    return bits >> 63 ? ~bits : bits | std::uint64_t(1) << 63;
  }
  constexpr double from_ordered_bits(std::uint64_t bits)
  {
    return std::bit_cast<double>(bits >> 63 ? bits & ~(std::uint64_t(1) << 63) : ~bits);
  }

  /// Inserts Dim - 1 zeros between the lowest max_level<Dim> bits of an index.
  template <int Dim>
  constexpr std::uint64_t spread(std::uint64_t index)
  {
    if constexpr (Dim == 2)
    {
      index = (index | index << 16) & 0x0000ffff0000ffff;
      index = (index | index << 8) & 0x00ff00ff00ff00ff;
      index = (index | index << 4) & 0x0f0f0f0f0f0f0f0f;
      index = (index | index << 2) & 0x3333333333333333;
      index = (index | index << 1) & 0x5555555555555555;
    }
    else
    {
      index = (index | index << 32) & 0x001f00000000ffff;
      index = (index | index << 16) & 0x001f0000ff0000ff;
      index = (index | index << 8) & 0x100f00f00f00f00f;
      index = (index | index << 4) & 0x10c30c30c30c30c3;
      index = (index | index << 2) & 0x1249249249249249;
    }
    return index;
  }

  /// The inverse of spread; bits in between are dropped.
  template <int Dim>
  constexpr std::uint32_t compact(std::uint64_t key)
  {
    if constexpr (Dim == 2)
    {
      key &= 0x5555555555555555;
      key = (key | key >> 1) & 0x3333333333333333;
      key = (key | key >> 2) & 0x0f0f0f0f0f0f0f0f;
      key = (key | key >> 4) & 0x00ff00ff00ff00ff;
      key = (key | key >> 8) & 0x0000ffff0000ffff;
      key = (key | key >> 16) & 0x00000000ffffffff;
    }
    else
    {
      key &= 0x1249249249249249;
      key = (key | key >> 2) & 0x10c30c30c30c30c3;
      key = (key | key >> 4) & 0x100f00f00f00f00f;
      key = (key | key >> 8) & 0x001f0000ff0000ff;
      key = (key | key >> 16) & 0x001f00000000ffff;
      key = (key | key >> 32) & 0x00000000001fffff;
    }
    return static_cast<std::uint32_t>(key);
  }

  template <leaf_order Order, int Dim>
  constexpr std::uint64_t encode(std::array<std::uint32_t, Dim> const& index, int level)
  {
    std::uint64_t key = 0;
    for (int d = 0; d < Dim; ++d)
      if constexpr (Order == leaf_order::morton)
        key = key << 1 | spread<Dim>(index[d]);
      else
        key = key << level | index[d];
    return key;
  }

  template <int Dim>
  constexpr std::array<std::uint32_t, Dim> decode(std::uint64_t key, key_layout const& layout)
  {
    std::array<std::uint32_t, Dim> index;
    for (int d = Dim - 1; d >= 0; --d)
      if (layout.order == leaf_order::morton)
      {
        index[d] = compact<Dim>(key);
        key >>= 1;
      }
      else
      {
        index[d] = static_cast<std::uint32_t>(key & ((std::uint64_t(1) << layout.level) - 1));
        key >>= layout.level;
      }
    return index;
  }

  /// The deepest level at which two Morton keys for `key_level` lie in one box.
  template <int Dim>
  constexpr int common_level(std::uint64_t a, std::uint64_t b, int key_level)
  {
    return key_level - (static_cast<int>(std::bit_width(a ^ b)) + Dim - 1) / Dim;
  }

  /// Writes the keys of the points [begin, end), by index; Key has 32 or 64 bits. A point outside the root gets the nearest box.
  template <class Key, class T, int Dim>
  NEARFIELD_API void write_keys(strided<T const, Dim> const& points, std::size_t begin,
                                std::size_t end,
                                std::type_identity_t<std::array<key_axis, Dim>> const& axes,
                                key_layout const& layout, Key* keys);
}
