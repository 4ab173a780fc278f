#include "png.hpp"

#include <nearfield/core/error.hpp>

#include <png.h>

namespace nearfield::app
{
  std::string encode_png(image const& picture)
  {
    // libpng's simplified interface: no setjmp in C++
    png_image header = {};
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(picture.width);
    header.height = static_cast<png_uint_32>(picture.height);
    header.format = PNG_FORMAT_RGB;

    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
    std::string bytes(size, '\0');
    if (!png_image_write_to_memory(&header, bytes.data(), &size, 0, picture.rgb.data(), 0, nullptr))
      throw error(std::string("png: ") + header.message);
    bytes.resize(size);
    return bytes;
  }
}
