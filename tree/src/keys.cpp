#include "keys.hpp"

#include "instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace nearfield::detail
{
  namespace
  {
    template <leaf_order Order, int Dim, class Key, class Column>
    void encode_all(std::array<Column, Dim> const& x, std::size_t first, std::size_t end,
                    std::type_identity_t<std::array<key_axis, Dim>> const& axes, int level,
                    Key* keys)
    {
      double const boxes_per_axis = std::ldexp(1., level);
      double const last = boxes_per_axis - 1;
      // One axis at a time, and then the keys: each of the loops vectorises.
      constexpr std::size_t at_once = 256;
      std::array<std::array<std::uint32_t, at_once>, Dim> index;
      for (std::size_t begin = first; begin < end; begin += at_once)
      {
        std::size_t const m = std::min(at_once, end - begin);
        for (int d = 0; d < Dim; ++d)
        {
          Column const column = x[d];
          auto const [lower, width_of_axis, pieces] = axes[d];
          double const width = width_of_axis; // clang++ 14 captures no part of a binding
          auto const write = [&](auto const& distance)
          {
            for (std::size_t i = 0; i < m; ++i)
            {
              double const place =
                  distance(static_cast<double>(column[begin + i])) / width * boxes_per_axis;
              double const above = place > 0 ? place : 0;
              double const inside = above < last ? above : last;
              // Truncation is floor, since nothing is below zero. Vectors convert to signed integers only.
              index[d][i] = static_cast<std::uint32_t>(static_cast<std::int32_t>(inside));
            }
          };
          if (pieces.n == 0)
            write([lower = lower](double at) { return at - lower; });
          else
            write([pieces = pieces](double at) { return pieces.place(at, 1); });
        }
        for (std::size_t i = 0; i < m; ++i)
        {
          std::array<std::uint32_t, Dim> at;
          for (int d = 0; d < Dim; ++d) at[d] = index[d][i];
          keys[begin + i] = static_cast<Key>(encode<Order, Dim>(at, level));
        }
      }
    }

    template <leaf_order Order, class Key, class T, int Dim>
    void encode_all(strided<T const, Dim> const& x, std::size_t begin, std::size_t end,
                    std::type_identity_t<std::array<key_axis, Dim>> const& axes, int level,
                    Key* keys)
    {
      std::array<strided_column<T const>, Dim> columns;
      std::array<T const*, Dim> pointers;
      for (int d = 0; d < Dim; ++d)
      {
        columns[d] = x[d];
        pointers[d] = x[d].first;
      }
      // the compiler vectorises pointers only
      if (x.stride() == 1)
        encode_all<Order, Dim>(pointers, begin, end, axes, level, keys);
      else
        encode_all<Order, Dim>(columns, begin, end, axes, level, keys);
    }
  }

  template <class Key, class T, int Dim>
  void write_keys(strided<T const, Dim> const& points, std::size_t begin, std::size_t end,
                  std::type_identity_t<std::array<key_axis, Dim>> const& axes,
                  key_layout const& layout, Key* keys)
  {
    if (layout.order == leaf_order::morton)
      encode_all<leaf_order::morton>(points, begin, end, axes, layout.level, keys);
    else
      encode_all<leaf_order::row_major>(points, begin, end, axes, layout.level, keys);
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template void write_keys(strided<T const, Dim> const&, std::size_t, std::size_t,                 \
                           std::array<key_axis, Dim> const&, key_layout const&, std::uint32_t*);   \
  template void write_keys(strided<T const, Dim> const&, std::size_t, std::size_t,                 \
                           std::array<key_axis, Dim> const&, key_layout const&, std::uint64_t*);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
