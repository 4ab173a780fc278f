#include "binary_table.hpp"

#include "text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

static_assert(std::endian::native == std::endian::little,
              "binary files that are read are little-endian");

namespace nearfield::detail::io
{
  namespace
  {
    // A real of 16 bits: 1 of sign, 5 of exponent, 10 of fraction.
    double half_of(std::uint16_t bits)
    {
      int const exponent = bits >> 10 & 31;
      double const fraction = bits & 1023;
      double const size = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                          : exponent == 0 ? std::ldexp(fraction, -24)
                                          : std::ldexp(1024 + fraction, exponent - 25);
      return bits >> 15 != 0 ? -size : size;
    }

    template <class Raw>
    Raw raw_at(char const* from, bool is_swapped)
    {
      char bytes[sizeof(Raw)];
      std::memcpy(bytes, from, sizeof bytes);
      if (is_swapped) std::reverse(bytes, bytes + sizeof bytes);
      return std::bit_cast<Raw>(bytes);
    }

    template <class Raw>
    void convert(char const* from, std::uint64_t stride, bool is_swapped, std::vector<double>& to)
    {
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<double>(raw_at<Raw>(from + i * stride, is_swapped));
    }

    // `from`: the first value
    void convert(array_type const& type, char const* from, std::uint64_t stride,
                 std::vector<double>& to)
    {
      if (type.kind == 'f' && type.size == 2)
      {
        for (std::size_t i = 0; i < to.size(); ++i)
          to[i] = half_of(raw_at<std::uint16_t>(from + i * stride, type.is_swapped));
        return;
      }
      bool const is_wide = type.size == 8, is_signed = type.kind == 'i';
      auto const with =
          type.kind == 'f' ? (is_wide ? convert<double> : convert<float>)
          : is_wide        ? (is_signed ? convert<std::int64_t> : convert<std::uint64_t>)
          : type.size == 4 ? (is_signed ? convert<std::int32_t> : convert<std::uint32_t>)
          : type.size == 2 ? (is_signed ? convert<std::int16_t> : convert<std::uint16_t>)
          : is_signed      ? convert<std::int8_t>
                           : convert<std::uint8_t>;
      with(from, stride, type.is_swapped, to);
    }
  }

  point_set read_rows(input_file const& file, file_part const& part, binary_table const& table,
                      column_map const& map)
  {
    auto const first = part_begin(table.n_rows, part.index, part.count),
               last = part_begin(table.n_rows, part.index + 1, part.count);
    auto const n = static_cast<std::size_t>(last - first);
    auto const byte_of = [&](std::size_t column, std::uint64_t row)
    {
      return table.columns[column].begin + row * table.columns[column].stride;
    };
    std::string buffer;
    std::uint64_t const rows_begin = table.begin + first * table.row_size;
    std::string_view rows;
    if (table.row_size != 0)
      rows = file.piece(rows_begin, table.begin + last * table.row_size, buffer);
    std::size_t bad_row = n, bad_column = 0; // the first value that is not finite, row by row
    double bad = 0;
    auto points = empty_set(map);
    for (auto const& [c, to, may_be_infinite] : columns_to_fill(map, points))
    {
      auto const begin = byte_of(c, first);
      to->resize(n);
      if (n == 0) continue;
      auto const values = table.row_size != 0
                              ? rows.substr(static_cast<std::size_t>(begin - rows_begin))
                              : file.piece(begin, byte_of(c, last), buffer);
      convert(table.columns[c].type, values.data(), table.columns[c].stride, *to);
      if (may_be_infinite) continue;
      auto const found =
          std::find_if(to->begin(), to->end(), [](double value) { return !std::isfinite(value); });
      auto const i = static_cast<std::size_t>(found - to->begin());
      if (i > bad_row || i == n || (i == bad_row && c > bad_column)) continue;
      bad_row = i;
      bad_column = c;
      bad = *found;
    }
    if (bad_row < n)
      fail_at_byte(file.name(), byte_of(bad_column, first + bad_row),
                   number_text(bad) + " for " + map.names[bad_column] + " of point " +
                       std::to_string(first + bad_row),
                   "a finite number");
    for (std::size_t a = 0; map.are_momenta && a < map.velocities.size(); ++a)
      for (std::size_t i = 0; i < n; ++i)
        points.velocities[a][i] =
            velocity_of(points.velocities[a][i], points.masses[i],
                        {file.name(), byte_of(map.velocities[a], first + i), place::byte});
    return points;
  }
}
