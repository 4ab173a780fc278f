#include "keys.hpp"

#include "instantiate.hpp"

#include <cmath>

namespace nearfield::detail
{
  namespace
  {
    template <leaf_order Order, class T, int Dim>
    std::vector<keyed_point> encode_all(strided<T const, Dim> x, cube<Dim> const& root, int level)
    {
      double const width = root.width();
      double const boxes_per_axis = std::ldexp(1., level);
      double const last = boxes_per_axis - 1;
      std::vector<keyed_point> result(x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
      {
        std::array<std::uint32_t, Dim> index;
        for (int d = 0; d < Dim; ++d)
        {
          double const place =
              (static_cast<double>(x[d][i]) - root.lower(d)) / width * boxes_per_axis;
          // Truncation is floor, since a place below zero is clamped.
          double const clamped = place > 0 ? (place < last ? place : last) : 0;
          index[d] = static_cast<std::uint32_t>(clamped);
        }
        result[i] = {encode<Order, Dim>(index, level), static_cast<index_type>(i)};
      }
      return result;
    }
  }

  template <class T, int Dim>
  std::vector<keyed_point> keys_of(named_positions<T, Dim> const& points, cube<Dim> const& root,
                                   key_layout const& layout)
  {
    if (layout.order == leaf_order::morton)
      return encode_all<leaf_order::morton>(points.positions, root, layout.level);
    return encode_all<leaf_order::row_major>(points.positions, root, layout.level);
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template std::vector<keyed_point> keys_of(named_positions<T, Dim> const&, cube<Dim> const&,      \
                                            key_layout const&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
