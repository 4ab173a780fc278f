#pragma once

#include <string>
#include <vector>

namespace nearfield::app
{
  /// A square to draw around points.
  struct square
  {
    double x = 0, y = 0, half_width = 0;
  };

  /// Points seen from above along z, coloured by their values. Text is UTF-8.
  struct scene
  {
    std::vector<double> const& x;
    std::vector<double> const& y;
    std::vector<double> const& z;
    std::vector<double> const& value;
    std::vector<square> grid;
    double radius = 1; ///< of a point, in the length of the coordinates
    std::string title;
    std::string subtitle;
    std::string value_name; ///< with its unit, beside the colour bar
    std::string length_unit;
  };

  /// The scene with its leaf grid, axes and a colour bar, as the bytes of a PNG file. Throws nearfield::error
  /// if cairo fails.
  std::string draw(scene const& what);
}
