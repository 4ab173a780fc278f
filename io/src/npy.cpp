#include <nearfield/io/points.hpp>

#include "binary_table.hpp"
#include "column_names.hpp"
#include "npy_head.hpp"
#include "text.hpp"
#include "write.hpp"

#include <algorithm>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

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
      place const where{name, 0, options.columns.empty() ? place::file : place::columns};
      auto const n = columns.places.size();
      if (!options.columns.empty())
      {
        if (options.columns.size() != n)
          where.fail(count_of(options.columns.size(), "name"),
                     std::to_string(n) + ", one for each column");
        auto given = columns_given(options, name);
        given.titles = columns.named.titles;
        return map_of(std::move(given), options, where);
      }
      if (n_rows >= 2 && n_rows <= 8 && n > 16)
        where.fail(count_of(n_rows, "row") + " of " + count_of(n, "column"),
                   "a row for each point: save a.T (or give --columns)");
      if (columns.named.names.size() != n)
        where.fail(count_of(n, "column"), "at least " + std::to_string(std::max(options.dim, 2)));
      return map_of(columns.named, options, where);
    }
  }

  point_set detail::io::read_npy(input_file const& file, file_part const& part,
                                 read_options const& options, file_report* report)
  {
    std::uint64_t const size = file.size();
    std::string buffer;
    auto const length = length_of_head(
        file.piece(0, std::min<std::uint64_t>(size, npy_start), buffer), size, file.name());
    auto const head = read_array_head(file.piece(0, length, buffer), size, file.name());
    check_options(options, file.name(), {.columns = true});
    bool const is_of_records = head.is_of_records();
    auto columns = is_of_records ? columns_of_records(head) : columns_of_numbers(head, options.dim);
    auto const map = map_of_array(columns, is_of_records ? 0 : head.rows(), file.name(), options);
    bool const is_row_major = is_of_records || !*head.is_column_major;
    auto points = read_rows(
        file, part, {head.rows(), head.begin, is_row_major ? head.record_size : 0, columns.places},
        map);
    describe(map, is_of_records ? "NumPy records" : "NumPy array", report);
    return points;
  }

  point_set parse_npy(std::string_view content, std::string const& name,
                      read_options const& options, file_report* report)
  {
    return detail::io::read_npy({content, name}, {}, options, report);
  }

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
