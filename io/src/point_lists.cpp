#include "point_lists.hpp"

#include "column_map.hpp"
#include "columns.hpp"
#include "foreign.hpp"
#include "input_file.hpp"
#include "text.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace nearfield::detail::io
{
  namespace
  {
    // f(fields, place) for each row of the file.
    template <class F>
    void for_each_row(std::filesystem::path const& path, F const& f)
    {
      input_file file(path);
      file.load();
      if (is_gzip(file.start())) file.unpack();
      std::string buffer;
      line_cursor lines(without_mark(file.piece(0, file.size(), buffer), file.name()));
      std::vector<std::string_view> fields;
      for (std::string_view line; lines.next(line);)
      {
        line = trimmed(line);
        if (!is_row(line)) continue;
        split(line, delimiter_of(line), fields);
        f(fields, place{file.name(), lines.line()});
      }
    }
  }

  void read_types(std::filesystem::path const& path, point_set& points)
  {
    type_numbers numbers;
    std::size_t n = 0;
    for_each_row(path,
                 [&](auto const& fields, place const& where)
                 {
                   if (fields.size() != 1)
                     where.fail(count_of(fields.size(), "field"), "the type of a point alone");
                   if (++n > points.size())
                     where.fail("a row after the last point",
                                "one for each of the " + count_of(points.size(), "point"));
                   numbers.add(unquoted(fields[0]), where);
                 });
    if (n != points.size())
      throw error(printable(path.string()) + ": found " + count_of(n, "type") +
                      ", expected one for each of the " + count_of(points.size(), "point"),
                  error_kind::invalid_data);
    numbers.move_to(points);
  }

  pair_rows read_pairs(std::filesystem::path const& path, std::size_t n_points)
  {
    std::vector<std::array<index_type, 2>> pairs;
    pair_rows rows;
    rows.offsets.assign(n_points + 1, 0);
    bool is_first = true;
    for_each_row(path,
                 [&](auto const& fields, place const& where)
                 {
                   bool const is_header = std::exchange(is_first, false) && !has_number(fields);
                   if (is_header) return;
                   if (fields.size() != 2)
                     where.fail(count_of(fields.size(), "field"), "the two indices of a pair");
                   std::array<index_type, 2> pair{};
                   for (std::size_t k = 0; k < 2; ++k)
                   {
                     auto const index = integer_in(fields[k]).value_or(-1);
                     if (index < 0 || static_cast<std::uint64_t>(index) >= n_points)
                       where.fail(in_quotes(fields[k]),
                                  "an index of the " + count_of(n_points, "point") + ", from 0 on");
                     pair[k] = static_cast<index_type>(index);
                   }
                   pairs.push_back(pair);
                   ++rows.offsets[pair[0] + 1];
                 });
    for (std::size_t i = 0; i < n_points; ++i) rows.offsets[i + 1] += rows.offsets[i];
    rows.others.resize(pairs.size());
    std::vector<std::uint64_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
    for (auto const& [i, j] : pairs) rows.others[next[i]++] = j;
    return rows;
  }
}
