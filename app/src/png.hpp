#pragma once

#include "canvas.hpp"

#include <string>

namespace nearfield::app
{
  /// The bytes of a PNG file of the image. Throws error where libpng fails.
  std::string encode_png(image const& picture);
}
