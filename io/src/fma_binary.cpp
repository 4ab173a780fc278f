#include "fma.hpp"
#include "input_file.hpp"
#include "text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

static_assert(std::endian::native == std::endian::little, "FMA binary files are little-endian");

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

    // `content`: the file, or at least the head of it. A file has the version whose header matches its size. If neither does, the message refers to the
    // version whose header is plausible.
    layout recognise(std::string_view content, std::uint64_t file_size, std::string const& name,
                     read_options const& options)
    {
      require(file_size, 16, name, "FMA header");
      auto const u32 = [&](std::size_t offset)
      {
        return get<std::uint32_t>(content, offset);
      };
      layout const v1{{u32(0), u32(4), 3, 1}, get<std::uint64_t>(content, 8), 8};
      auto const one = check_header(v1.header, {});
      std::optional<layout> v2;
      complaint two{"", ""};
      if (file_size >= 24)
      {
        v2 = layout{{u32(0), u32(4), u32(8), u32(12)}, get<std::uint64_t>(content, 16), 16};
        two = check_header(v2->header, {});
      }
      bool const sane_v2 = v2 && two.found.empty();
      bool const is_v2 = sane_v2 && v2->fits(file_size);
      bool const is_v1 = !is_v2 && one.found.empty() && v1.fits(file_size);
      // a version 1 file of fewer than 2^32 points has a zero where version 2 has its inputs
      bool const speak_of_v2 = v2 && (u32(12) != 0 || (sane_v2 && !one.found.empty()));

      if (!is_v1 && !is_v2)
      {
        auto const& wrong = speak_of_v2 ? two : one;
        if (!wrong.found.empty())
          fail_at_byte(name, speak_of_v2 && wrong.found.starts_with("dim") ? 8 : 0, wrong.found,
                       wrong.expected);
        auto const& best = speak_of_v2 ? *v2 : v1;
        require(file_size, best.records_offset(), name, "header");
        auto const left = file_size - best.records_offset();
        if (best.n_points == best.room(file_size))
        {
          auto const end = best.n_points * best.record_size();
          fail_at_byte(name, best.records_offset() + end,
                       count_of(left - end, "byte") + " after the last record",
                       "the end of the file after " + count_of(best.n_points, "point") + " of " +
                           count_of(best.record_size(), "byte"));
        }
        fail_at_byte(name, best.count_offset, count_of(best.n_points, "point") + " announced",
                     std::to_string(best.room(file_size)) + " (" + count_of(left, "byte") +
                         " of records, " + std::to_string(best.record_size()) + " each)");
      }
      auto const& found = is_v2 ? *v2 : v1;
      auto const wrong = check_header(found.header, options);
      if (!wrong.found.empty()) fail_at_byte(name, is_v2 ? 8 : 0, wrong.found, wrong.expected);
      return found;
    }

    // `records`: those of the points from `first` on
    template <class Real>
    point_set read_records(std::string_view content, std::string_view records, std::uint64_t first,
                           std::string const& name, layout const& file)
    {
      auto const& header = file.header;
      auto const n_points = records.size() / file.record_size();
      auto points = empty_set(header, n_points);

      auto const half_width = static_cast<double>(get<Real>(content, file.box_offset()));
      if (!(half_width > 0) || !std::isfinite(half_width))
        fail_at_byte(name, file.box_offset(), "half width " + number_text(half_width),
                     "a positive finite length");
      std::vector<double> centre;
      for (std::size_t c = 0; c < header.dim; ++c)
      {
        auto const offset = file.box_offset() + (1 + c) * sizeof(Real);
        centre.push_back(static_cast<double>(get<Real>(content, offset)));
        if (!std::isfinite(centre.back()))
          fail_at_byte(name, offset, number_text(centre.back()) + " for the centre's " + "xyz"[c],
                       "a finite number");
      }
      points.box = bounding_box{centre, half_width};

      for (std::size_t k = 0; k < header.n_values; ++k)
      {
        auto& column = column_of(points, k);
        for (std::size_t i = 0; i < n_points; ++i)
        {
          auto const offset = (i * header.n_values + k) * sizeof(Real);
          auto const value = get<Real>(records, offset);
          if (k < header.dim + header.n_inputs && !std::isfinite(value))
            fail_at_byte(name, file.records_offset() + first * file.record_size() + offset,
                         number_text(static_cast<double>(value)) + " for " + name_of(header, k) +
                             " of point " + std::to_string(first + i),
                         "a finite number");
          column[i] = static_cast<double>(value);
        }
      }
      return points;
    }

    point_set read_records(std::string_view content, std::string_view records, std::uint64_t first,
                           std::string const& name, layout const& file)
    {
      return (file.header.sizeof_real == 4
                  ? read_records<float>
                  : read_records<double>)(content, records, first, name, file);
    }
  }

  bool is_binary_fma(std::string_view content)
  {
    // sizeof_real as a little-endian u32; text starts with a digit or a blank
    return content.size() >= 4 && (content[0] == 4 || content[0] == 8) && content[1] == 0 &&
           content[2] == 0 && content[3] == 0;
  }

  point_set parse_fma_binary(std::string_view content, std::string const& name,
                             read_options const& options, file_report* report)
  {
    auto const file = recognise(content, content.size(), name, options);
    describe(file.header, "FMA, binary", report);
    return read_records(content, content.substr(file.records_offset()), 0, name, file);
  }

  point_set parse_fma_binary_part(input_file const& from, read_options const& options,
                                  file_report* report)
  {
    check_dim(options);
    refuse_columns(options, from.name());
    refuse_atom_style(options, from.name());
    check_frame(options, 1, from.name());
    std::size_t const longest_head = 24 + 4 * 8;
    auto const head = from.piece(0, std::min<std::uint64_t>(from.size(), longest_head));
    auto const file = recognise(head, from.size(), from.name(), options);
    describe(file.header, "FMA, binary", report);
    auto const& part = *options.part;
    auto const first = part_begin(file.n_points, part.index, part.count);
    auto const last = part_begin(file.n_points, part.index + 1, part.count);
    auto const records = from.piece(file.records_offset() + first * file.record_size(),
                                    file.records_offset() + last * file.record_size());
    return read_records(head, records, first, from.name(), file);
  }
}
