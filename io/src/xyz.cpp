#include "xyz.hpp"

#include <nearfield/io/points.hpp>

#include "columns.hpp"
#include "comment_names.hpp"
#include "text.hpp"
#include "write.hpp"
#include "xyz_comment.hpp"

#include <algorithm>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    // A line that is a whole number alone, which begins a frame.
    bool is_count(std::string_view line, std::int64_t& n)
    {
      return parse_number(trimmed(line), n) == number_status::good;
    }

    struct frame
    {
      std::int64_t n = 0;
      std::size_t line = 1; ///< that of the number
      std::string_view comment, rows;
    };

    // Removes a frame from the begin of the file; false at its end.
    bool take_frame(line_cursor& lines, std::string const& name, frame& found)
    {
      std::string_view line;
      for (;;)
      {
        if (!lines.next(line)) return false;
        if (!trimmed(line).empty()) break;
      }
      found.line = lines.line();
      if (!is_count(line, found.n) || found.n < 0)
        fail_at_line(name, found.line, in_quotes(line), "the number of points");
      found.comment = {};
      lines.next(found.comment);
      auto const rows = lines.rest();
      std::int64_t n = 0, next_count = 0;
      for (auto next = lines; next.next(line); lines = next)
      {
        if (!is_row(line)) continue;
        if (is_count(line, next_count)) break;
        ++n;
      }
      found.rows = rows.substr(0, rows.size() - lines.rest().size());
      if (n != found.n)
        fail_at_line(name, found.line, std::to_string(found.n) + " as the number of points",
                     std::to_string(n) + ", that of the rows");
      return true;
    }

    // The names in the second line of a frame without Properties=, if it has one for each field of the rows.
    std::vector<std::string_view> names_of(frame const& of)
    {
      line_cursor lines(of.rows);
      std::vector<std::string_view> fields;
      for (std::string_view line; fields.empty() && lines.next(line);)
        if (is_row(line)) split(line, ' ', fields);
      auto const begin = std::min(of.comment.find_first_not_of("#%!/ "), of.comment.size());
      bool mentions = false;
      return names_in(of.comment.substr(begin), fields.size(), mentions);
    }

    // Whether some rows begin with an atomic number. Other numbers are no symbols: the rows are something else.
    bool has_atomic_numbers(frame const& of, std::string const& name)
    {
      bool has_numbers = false;
      line_cursor lines(of.rows, of.line + 1);
      std::vector<std::string_view> fields;
      for (std::string_view line; lines.next(line);)
      {
        if (!is_row(line)) continue;
        split(line, ' ', fields);
        if (fields.size() != 4)
          fail_at_line(name, lines.line(), count_of(fields.size(), "field"),
                       "4: a symbol, x, y and z (or give --columns _,x,y,z,q)");
        auto const symbol = fields[0];
        double value = 0;
        std::int64_t number = 0;
        if (parse_number(symbol, value) == number_status::not_a_number) continue;
        if (parse_number(symbol, number) != number_status::good || number < 0 || number > 118)
          fail_at_line(name, lines.line(), in_quotes(symbol) + " for the symbol of an element",
                       "a word or an atomic number, then x, y and z (or give --columns x,y,z,q for "
                       "rows of numbers)");
        has_numbers = true;
      }
      return has_numbers;
    }
  }

  bool detail::io::is_xyz(std::string_view content)
  {
    std::string_view line;
    std::int64_t n = 0;
    if (content.starts_with("\xef\xbb\xbf")) content.remove_prefix(3); // a byte-order mark
    return line_cursor(content).next(line) && is_count(line, n);
  }

  point_set parse_xyz(std::string_view content, std::string const& name,
                      read_options const& options, file_report* report)
  {
    check_options(options, name, {.columns = true, .frames = true});
    line_cursor lines(without_mark(content, name));
    std::vector<frame> frames(1);
    if (!take_frame(lines, name, frames[0]))
      fail_at_line(name, 1, "the end of the file", "the number of points");
    for (frame next; take_frame(lines, name, next);) frames.push_back(next);
    auto const& chosen = frames[check_frame(options, frames.size(), name)];
    auto comment = read_xyz_comment(chosen.comment, name, chosen.line + 1);
    bool const is_given = !options.columns.empty();
    if (!is_given && !comment.has_properties)
    {
      if (auto const names = names_of(chosen); !names.empty())
        comment.columns = columns_named(names);
      else if (has_atomic_numbers(chosen, name))
        comment.columns.titles[0] = "column 1, of atomic numbers";
    }
    auto const map = is_given
                         ? map_of(columns_given(options, name), options, failure_of_columns(name))
                         : map_of(comment.columns, options,
                                  failure_at_line(name, chosen.line + 1, " (or give --columns)"));
    auto points = parse_rows(chosen.rows, chosen.line + 1, name, options, map, report);
    if (!report) return points;
    report->format = comment.has_properties ? "extended XYZ" : "XYZ";
    report->cell = comment.cell;
    report->left_out.insert(report->left_out.end(), comment.left_out.begin(),
                            comment.left_out.end());
    leave_out_frames(frames.size(), "frame", *report);
    return points;
  }

  std::string format_xyz(point_set const& points, write_options const& options)
  {
    check_writable(points, options);
    std::string properties;
    std::vector<double const*> columns;
    for (auto& each : fields_of(points))
    {
      if (each.name == "velocity") each.name = "velo";
      if (each.name == "m") each.name = "mass";
      for (char& c : each.name)
        if (c == ':' || c == '"' || is_blank(c)) c = '_';
      properties += ":" + each.name + ":R:" + std::to_string(each.columns.size());
      columns.insert(columns.end(), each.columns.begin(), each.columns.end());
    }
    std::string out;
    if (has_header(options))
      out =
          std::to_string(n_points(points, options)) + "\nProperties=" + properties.substr(1) + "\n";
    append_rows(out, points.size(), columns, ' ', options.precision);
    return out;
  }
}
