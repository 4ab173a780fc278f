#include "point_lists.hpp"

#include "column_map.hpp"
#include "columns.hpp"
#include "foreign.hpp"
#include "input_file.hpp"
#include "text.hpp"

#include <array>
#include <cstddef>
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
}

namespace nearfield::detail
{
  void read_types(std::filesystem::path const& path, range_of_points const& range,
                  point_set& points)
  {
    using namespace io;
    type_numbers numbers;
    std::uint64_t n = 0;
    for_each_row(path,
                 [&](auto const& fields, io::place const& where)
                 {
                   if (fields.size() != 1)
                     where.fail(count_of(fields.size(), "field"), "the type of a point alone");
                   if (++n > range.n_all)
                     where.fail("a row after the last point",
                                "one for each of the " + count_of(range.n_all, "point"));
                   numbers.add(unquoted(fields[0]), where);
                 });
    if (n != range.n_all)
      throw error(printable(path.string()) + ": found " + count_of(n, "type") +
                      ", expected one for each of the " + count_of(range.n_all, "point"),
                  error_kind::invalid_data);
    numbers.move_to(points);
    auto const begin = points.types.begin() + static_cast<std::ptrdiff_t>(range.first);
    points.types = {begin, begin + static_cast<std::ptrdiff_t>(range.n)};
  }

  pair_rows read_pairs(std::filesystem::path const& path, range_of_points const& range)
  {
    using namespace io;
    std::vector<std::array<std::uint64_t, 2>> pairs;
    pair_rows rows;
    rows.offsets.assign(range.n + 1, 0);
    bool is_first = true;
    for_each_row(path,
                 [&](auto const& fields, io::place const& where)
                 {
                   bool const is_header = std::exchange(is_first, false) && !has_number(fields);
                   if (is_header) return;
                   if (fields.size() != 2)
                     where.fail(count_of(fields.size(), "field"), "the two indices of a pair");
                   std::array<std::uint64_t, 2> pair{};
                   for (std::size_t k = 0; k < 2; ++k)
                   {
                     auto const index = integer_in(fields[k]).value_or(-1);
                     pair[k] = static_cast<std::uint64_t>(index);
                     if (index < 0 || pair[k] >= range.n_all)
                       where.fail(in_quotes(fields[k]), "an index of the " +
                                                            count_of(range.n_all, "point") +
                                                            ", from 0 on");
                   }
                   pair[0] -= range.first; // wraps below
                   if (pair[0] >= range.n) return;
                   pairs.push_back(pair);
                   ++rows.offsets[pair[0] + 1];
                 });
    for (std::size_t i = 0; i < range.n; ++i) rows.offsets[i + 1] += rows.offsets[i];
    rows.others.resize(pairs.size());
    std::vector<std::uint64_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
    for (auto const& [i, j] : pairs) rows.others[next[i]++] = j;
    return rows;
  }
}
