#include "binary_table.hpp"
#include "fma.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nearfield::detail::io
{
  namespace
  {
    // The layout of a file. The header of version 1 is u32 sizeof_real, u32 values, i64 points, half width,
    // centre; that of version 2 is u32 sizeof_real, values, dim, inputs, u64 points, half width, centre.
    struct layout
    {
      fma_header header;
      std::uint64_t n_points;
      std::size_t count_offset;

      [[nodiscard]] std::size_t box_offset() const { return count_offset + 8; }
      [[nodiscard]] std::size_t records_offset() const
      {
        return box_offset() + (1 + header.dim) * header.sizeof_real;
      }
      [[nodiscard]] std::uint64_t record_size() const
      {
        return header.n_values * header.sizeof_real;
      }
      /// the number of points that fit into a file of `size` bytes
      [[nodiscard]] std::uint64_t room(std::size_t size) const
      {
        return size < records_offset() ? 0 : (size - records_offset()) / record_size();
      }
      [[nodiscard]] bool fits(std::size_t size) const
      {
        return size >= records_offset() && n_points == room(size) &&
               size == records_offset() + n_points * record_size();
      }
    };

    template <class T>
    T get(std::string_view content, std::size_t offset)
    {
      T value;
      std::memcpy(&value, content.data() + offset, sizeof value);
      return value;
    }

    void require(std::uint64_t there, std::size_t size, std::string const& name,
                 std::string const& what)
    {
      if (there < size)
        fail_at_byte(name, there, "the end of the file",
                     "a " + what + " of " + count_of(size, "byte"));
    }

    // `head`: the begin of the file. A file has the version whose header matches its size. If neither does, the message
    // refers to the version whose header is plausible.
    layout recognise(std::string_view head, std::uint64_t file_size, std::string const& name,
                     read_options const& options)
    {
      require(file_size, 16, name, "FMA header");
      auto const u32 = [&](std::size_t offset)
      {
        return get<std::uint32_t>(head, offset);
      };
      layout const v1{{u32(0), u32(4), 3, 1}, get<std::uint64_t>(head, 8), 8};
      bool const may_be_v2 = file_size >= 24;
      layout const v2 =
          may_be_v2 ? layout{{u32(0), u32(4), u32(8), u32(12)}, get<std::uint64_t>(head, 16), 16}
                    : v1;
      bool const sane_v1 = check_header(v1.header, {}).found.empty(),
                 sane_v2 = may_be_v2 && check_header(v2.header, {}).found.empty();
      bool const is_v2 = sane_v2 && v2.fits(file_size);
      bool const is_v1 = !is_v2 && sane_v1 && v1.fits(file_size);
      // a version 1 file of fewer than 2^32 points has a zero where version 2 has its inputs
      bool const speak_of_v2 = may_be_v2 && (u32(12) != 0 || (sane_v2 && !sane_v1));
      auto const& found = is_v2 || (!is_v1 && speak_of_v2) ? v2 : v1;

      auto const wrong = check_header(found.header, is_v1 || is_v2 ? options : read_options{});
      if (!wrong.found.empty())
        fail_at_byte(name, &found == &v2 && wrong.found.starts_with("dim") ? 8 : 0, wrong.found,
                     wrong.expected);
      if (is_v1 || is_v2) return found;
      require(file_size, found.records_offset(), name, "header");
      auto const left = file_size - found.records_offset();
      if (found.n_points == found.room(file_size))
      {
        auto const end = found.n_points * found.record_size();
        fail_at_byte(name, found.records_offset() + end,
                     count_of(left - end, "byte") + " after the last record",
                     "the end of the file after " + count_of(found.n_points, "point") + " of " +
                         count_of(found.record_size(), "byte"));
      }
      fail_at_byte(name, found.count_offset, count_of(found.n_points, "point") + " announced",
                   std::to_string(found.room(file_size)) + " (" + count_of(left, "byte") +
                       " of records, " + std::to_string(found.record_size()) + " each)");
    }

    point_set::bounding_box read_box(std::string_view head, std::string const& name,
                                     layout const& file)
    {
      auto const offset = [&](std::size_t k)
      {
        return file.box_offset() + k * file.header.sizeof_real;
      };
      auto const real = [&](std::size_t k)
      {
        return file.header.sizeof_real == 4 ? static_cast<double>(get<float>(head, offset(k)))
                                            : get<double>(head, offset(k));
      };
      point_set::bounding_box box{{}, real(0)};
      if (!(box.half_width > 0) || !std::isfinite(box.half_width))
        fail_at_byte(name, offset(0), "half width " + number_text(box.half_width),
                     "a positive finite length");
      for (std::size_t c = 0; c < file.header.dim; ++c)
      {
        box.centre.push_back(real(1 + c));
        if (!std::isfinite(box.centre.back()))
          fail_at_byte(name, offset(1 + c),
                       number_text(box.centre.back()) + " for the centre's " + "xyz"[c],
                       "a finite number");
      }
      return box;
    }
  }

  bool is_binary_fma(std::string_view content)
  {
    // sizeof_real as a little-endian u32; text starts with a digit or a blank
    return content.size() >= 4 && (content[0] == 4 || content[0] == 8) && content[1] == 0 &&
           content[2] == 0 && content[3] == 0;
  }

  point_set read_fma_binary(input_file const& from, file_part const& part,
                            read_options const& options, file_report* report)
  {
    check_options(options, from.name(), {});
    std::size_t const longest_head = 24 + 4 * 8;
    std::string buffer;
    auto const head = from.piece(0, std::min<std::uint64_t>(from.size(), longest_head), buffer);
    auto const file = recognise(head, from.size(), from.name(), options);
    auto const box = read_box(head, from.name(), file);
    auto const map = map_of(file.header);
    describe(map, "FMA, binary", report);
    binary_table table{file.n_points, file.records_offset(), file.record_size()};
    auto const size = static_cast<std::size_t>(file.header.sizeof_real);
    for (std::size_t k = 0; k < file.header.n_values; ++k)
      table.columns.push_back({{'f', size}, table.begin + k * size, table.row_size});
    auto points = read_rows(from, part, table, map);
    points.box = box;
    return points;
  }
}
