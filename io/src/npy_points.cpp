#include "column_map.hpp"
#include "column_names.hpp"
#include "input_file.hpp"
#include "npy_head.hpp"
#include "text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

static_assert(std::endian::native == std::endian::little, "arrays that are read are little-endian");

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    /// Where the values of a column are: those of row i at begin + i stride.
    struct array_column
    {
      array_type type;
      std::uint64_t begin = 0, stride = 0;
    };

    /// The columns of an array, and what they are.
    struct array_columns
    {
      named_columns named;
      std::vector<array_column> places = {};
    };

    array_columns columns_of_records(array_head const& head)
    {
      array_columns columns;
      for (auto const& field : head.fields)
      {
        if (field.name.empty()) continue;
        if (columns.places.size() > max_values_per_point) break; // which is refused
        auto names = field.type.kind == 'V' ? std::vector<std::string>{"_"}
                                            : known_names(field.name, field.count);
        for (std::size_t k = 0; k < names.size(); ++k)
        {
          columns.named.names.push_back(std::move(names[k]));
          columns.named.titles.push_back(field.name);
          columns.places.push_back(
              {field.type, head.begin + field.offset + k * field.type.size, head.record_size});
        }
      }
      return columns;
    }

    array_columns columns_of_numbers(array_head const& head, int dim)
    {
      auto const n = static_cast<std::size_t>(head.columns());
      auto const size = head.type->size;
      array_columns columns{usual_columns(n, dim)};
      for (std::size_t c = 0; c < n; ++c)
        columns.places.push_back(
            *head.is_column_major
                ? array_column{*head.type, head.begin + c * head.rows() * size, size}
                : array_column{*head.type, head.begin + c * size, n * size});
      return columns;
    }

    // A few rows of many columns without names are coordinates of points in columns.
    column_map map_of_array(array_columns& columns, std::uint64_t n_rows, std::string const& name,
                            read_options const& options)
    {
      auto const fail = [&](std::string const& found, std::string const& expected)
      {
        throw error(printable(name) + (options.columns.empty() ? "" : ": columns (--columns)") +
                    ": found " + found + ", expected " + expected);
      };
      auto const n = columns.places.size();
      if (!options.columns.empty())
      {
        if (options.columns.size() != n)
          fail(count_of(options.columns.size(), "name"),
               std::to_string(n) + ", one for each column");
        auto given = columns_given(options, name);
        given.titles = columns.named.titles;
        return map_of(std::move(given), options, fail);
      }
      if (n_rows >= 2 && n_rows <= 8 && n > 16)
        fail(count_of(n_rows, "row") + " of " + count_of(n, "column"),
             "a row for each point: save a.T (or give --columns)");
      if (columns.named.names.size() != n)
        fail(count_of(n, "column"), "at least " + std::to_string(std::max(options.dim, 2)));
      return map_of(columns.named, options, fail);
    }

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

    // The points [first, last); piece(begin, end) gives bytes of the file.
    template <class Piece>
    point_set read_values(array_head const& head, std::vector<array_column> const& places,
                          column_map const& map, std::uint64_t first, std::uint64_t last,
                          std::string const& name, Piece const& piece)
    {
      bool const is_column_major = !head.is_of_records() && *head.is_column_major;
      auto const n = static_cast<std::size_t>(last - first);
      using bytes = decltype(piece(0, 0));
      bytes rows{};
      std::uint64_t const rows_begin = head.begin + first * head.record_size;
      if (!is_column_major) rows = piece(rows_begin, head.begin + last * head.record_size);
      std::size_t bad_row = n, bad_column = 0; // the first value that is not finite, row by row
      double bad = 0;
      auto const read_column =
          [&](std::vector<double>& to, std::size_t column, bool may_be_infinite)
      {
        auto const& place = places[column];
        std::uint64_t const begin = place.begin + first * place.stride;
        bytes const own =
            is_column_major ? piece(begin, place.begin + last * place.stride) : bytes{};
        to.resize(n);
        if (n == 0) return;
        char const* const from = is_column_major
                                     ? own.data()
                                     : rows.data() + static_cast<std::size_t>(begin - rows_begin);
        convert(place.type, from, place.stride, to);
        if (may_be_infinite) return;
        auto const found =
            std::find_if(to.begin(), to.end(), [](double value) { return !std::isfinite(value); });
        auto const i = static_cast<std::size_t>(found - to.begin());
        if (i > bad_row || i == n || (i == bad_row && column > bad_column)) return;
        bad_row = i;
        bad_column = column;
        bad = *found;
      };
      auto points = empty_set(map);
      for (auto const& each : columns_to_fill(map, points))
        read_column(*each.to, each.from, each.may_be_infinite);
      auto const byte_of = [&](std::size_t i, std::size_t column)
      {
        return places[column].begin + (first + i) * places[column].stride;
      };
      if (bad_row < n)
        fail_at_byte(name, byte_of(bad_row, bad_column),
                     detail::number_text(bad) + " for " + map.names[bad_column] + " of point " +
                         std::to_string(first + bad_row),
                     "a finite number");
      for (std::size_t a = 0; map.are_momenta && a < map.velocities.size(); ++a)
        for (std::size_t i = 0; i < n; ++i)
          points.velocities[a][i] =
              velocity_of(points.velocities[a][i], points.masses[i],
                          [&](std::string const& found, std::string const& expected)
                          { fail_at_byte(name, byte_of(i, map.velocities[a]), found, expected); });
      return points;
    }

    template <class Piece>
    point_set read_points_of(array_head const& head, file_part const& part, std::string const& name,
                             read_options const& options, Piece const& piece, file_report* report)
    {
      check_dim(options);
      refuse_atom_style(options, name);
      check_frame(options, 1, name);
      auto columns =
          head.is_of_records() ? columns_of_records(head) : columns_of_numbers(head, options.dim);
      auto const map = map_of_array(columns, head.is_of_records() ? 0 : head.rows(), name, options);
      auto const begin_of = [&](std::uint64_t i)
      {
        return part_begin(head.rows(), i, part.count);
      };
      auto points = read_values(head, columns.places, map, begin_of(part.index),
                                begin_of(part.index + 1), name, piece);
      if (report)
      {
        *report = {.format = head.is_of_records() ? "NumPy records" : "NumPy array"};
        describe(map, *report);
      }
      return points;
    }
  }

  point_set parse_npy(std::string_view content, std::string const& name,
                      read_options const& options, file_report* report)
  {
    auto const head = read_array_head(content, content.size(), name);
    return read_points_of(
        head, {0, 1}, name, options,
        [&](std::uint64_t begin, std::uint64_t end)
        { return content.substr(begin, static_cast<std::size_t>(end - begin)); },
        report);
  }

  point_set detail::io::parse_npy_part(input_file const& file, read_options const& options,
                                       file_report* report)
  {
    std::uint64_t const size = file.size();
    auto const length =
        length_of_head(file.piece(0, std::min<std::uint64_t>(size, npy_start)), size, file.name());
    auto const head = read_array_head(file.piece(0, length), size, file.name());
    return read_points_of(
        head, *options.part, file.name(), options,
        [&](std::uint64_t begin, std::uint64_t end) { return file.piece(begin, end); }, report);
  }
}
