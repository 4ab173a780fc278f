#include <nearfield/core/error.hpp>
#include <nearfield/io/npy.hpp>

#include "write.hpp"

#include <string_view>

namespace nearfield
{
  std::string format_npy_header(std::vector<std::uint64_t> const& shape)
  {
    if (shape.size() > 32)
      throw error("npy: found " + std::to_string(shape.size()) +
                  " dimensions, expected at most 32");
    std::string text = "{'descr': '<i8', 'fortran_order': False, 'shape': (";
    for (std::size_t a = 0; a < shape.size(); ++a)
      text += (a == 0 ? "" : " ") + std::to_string(shape[a]) + ",";
    // Python writes (3,) for one dimension and (3, 2) for two
    if (shape.size() > 1) text.pop_back();
    text += "), }";

    using namespace std::string_view_literals;
    constexpr auto magic = "\x93NUMPY\x01\x00"sv;
    std::size_t const length_bytes = 2, end_of_line = 1;
    std::size_t const used = magic.size() + length_bytes + text.size() + end_of_line;
    text.append((used + 63) / 64 * 64 - used, ' ');
    text += '\n';

    std::string header(magic);
    header += static_cast<char>(text.size() & 0xff);
    header += static_cast<char>(text.size() >> 8);
    return header + text;
  }

  void append_npy(std::string& bytes, std::int64_t value)
  {
    detail::io::append_bytes(bytes, value);
  }
}
