#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

/// \file
/// What is wrong with points in device memory, as errors.

namespace nearfield::detail
{
  template <class T, int Dim>
  void check_columns(char const* name, strided<T const, Dim> const& x)
  {
    if (x.size() >= std::size_t(1) << 31)
      throw error(std::string("cuda_cell_list: ") + name + " has " + std::to_string(x.size()) +
                  " points; give fewer than 2^31");
    for (int a = 0; a < Dim; ++a)
      if (x.size() > 0 && x[a].first == nullptr)
        throw error("cuda_cell_list: column " + std::to_string(a) + " of the " + name +
                    " is null; give a column of " + std::to_string(x.size()) + " values");
  }

  /// A point of a list: of which set, its index there, and the number that messages have.
  template <class T, int Dim>
  struct point_in_question
  {
    strided<T const, Dim> const& of;
    bool is_query;
    std::uint32_t i, number;
    cuda_stream stream;

    [[nodiscard]] std::string name() const
    {
      return (is_query ? "query " : "point ") + std::to_string(number);
    }
    [[nodiscard]] T value(int axis) const
    {
      T found = 0;
      device_copy(&found, &of[axis][i], sizeof found, stream);
      return found;
    }
  };

  template <class T, int Dim>
  [[noreturn]] void complain_of_coordinate(point_in_question<T, Dim> const& point)
  {
    for (int a = 0; a < Dim; ++a)
      if (T const found = point.value(a); !std::isfinite(found))
        throw error("cuda_cell_list: coordinate " + std::to_string(a) + " of " + point.name() +
                    " is " + number_text(found) + "; give finite coordinates");
    throw error("cuda_cell_list: " + point.name() + " changed during the call");
  }

  template <class T, int Dim>
  [[noreturn]] void complain_of_image(point_in_question<T, Dim> const& point)
  {
    std::string text;
    for (int a = 0; a < Dim; ++a) text += (a > 0 ? ", " : "") + number_text(point.value(a));
    throw error("cuda_cell_list: " + point.name() + ", (" + text +
                "), is more than 2^29 boxes away from the box; subtract whole multiples of its "
                "vectors first");
  }
}
