#pragma once

#include <nearfield/core/parallel.hpp>
#include <nearfield/core/soa.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace nearfield::detail
{
  /// The least and the greatest of a column's values; neither is of use if one of them is not finite.
  template <class T>
  struct column_bounds
  {
    T lower = 0, upper = 0;
    bool is_finite = true;

    column_bounds() = default;

    /// Of n values, at least one, by pointer or as a strided column.
    template <class Column>
    column_bounds(Column const x, std::size_t n)
    {
      T zero_sum = 0; // zero times a non-finite number is NaN, and the sum stays NaN
      lower = upper = x[0];
      std::size_t i = 0;
      // Independent lanes: the order of minima does not matter, but the compiler must keep it.
      constexpr std::size_t lanes = 16;
      if (n >= lanes)
      {
        T lowest[lanes], highest[lanes], zero[lanes];
        for (std::size_t l = 0; l < lanes; ++l)
        {
          lowest[l] = highest[l] = x[l];
          zero[l] = 0;
        }
        for (; i + lanes <= n; i += lanes)
          for (std::size_t l = 0; l < lanes; ++l)
          {
            T const value = x[i + l];
            lowest[l] = value < lowest[l] ? value : lowest[l];
            highest[l] = value > highest[l] ? value : highest[l];
            zero[l] += T(0) * value;
          }
        lower = *std::min_element(lowest, lowest + lanes);
        upper = *std::max_element(highest, highest + lanes);
        for (T const z : zero) zero_sum += z;
      }
      for (; i < n; ++i)
      {
        lower = x[i] < lower ? x[i] : lower;
        upper = x[i] > upper ? x[i] : upper;
        zero_sum += T(0) * x[i];
      }
      is_finite = zero_sum == T(0);
    }
  };

  /// The least box around points.
  template <class T, int Dim>
  struct point_bounds
  {
    std::array<T, Dim> lower, upper;
  };

  template <class T>
  column_bounds<T> bounds_of(strided_column<T const> const& column, std::size_t n)
  {
    // the compiler vectorises pointers only
    return column.stride == 1 ? column_bounds<T>(column.first, n) : column_bounds<T>(column, n);
  }

  /// Of the columns of points, at least one.
  template <class T, int Dim>
  std::array<column_bounds<T>, Dim> bounds_of(executor& on, strided<T const, Dim> const& points)
  {
    auto const bounds_of_part = [&](std::size_t begin, std::size_t end)
    {
      std::array<column_bounds<T>, Dim> bounds;
      for (int d = 0; d < Dim; ++d)
      {
        auto const x = points[d];
        bounds[d] = bounds_of(strided_column<T const>{&x[begin], x.stride}, end - begin);
      }
      return bounds;
    };
    loop_parts const loop = cut(on, points.size());
    if (loop.parts == 1) return bounds_of_part(0, loop.n);
    std::vector<std::array<column_bounds<T>, Dim>> found(loop.parts);
    for_each_part(on, loop, [&](int part, std::size_t begin, std::size_t end)
                  { found[part] = bounds_of_part(begin, end); });
    auto whole = found[0];
    for (int d = 0; d < Dim; ++d)
      for (auto const& part : found)
      {
        whole[d].lower = std::min(whole[d].lower, part[d].lower);
        whole[d].upper = std::max(whole[d].upper, part[d].upper);
        whole[d].is_finite &= part[d].is_finite;
      }
    return whole;
  }
}
