#pragma once

#include <nearfield/io/points.hpp>

namespace nearfield::detail::io
{
  /// Throws nearfield::error unless the points pass check() and their values are within the range of the
  /// precision: converting a double beyond the largest float is undefined behaviour.
  void check_writable(point_set const& points, write_options const& options);
}
