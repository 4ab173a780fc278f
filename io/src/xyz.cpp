#include <nearfield/io/points.hpp>

#include "column_names.hpp"
#include "columns.hpp"
#include "text.hpp"
#include "write.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    // A line that is a whole number alone, which begins a frame.
    std::optional<std::int64_t> count_in(std::string_view line)
    {
      return integer_in(trimmed(line));
    }

    struct frame
    {
      std::size_t line = 1; ///< that of the number of points
      std::string_view comment, rows;
    };

    // Removes a frame from the begin of the file; false at its end.
    bool take_frame(line_cursor& lines, std::string const& name, frame& found)
    {
      std::string_view line;
      do {
        if (!lines.next(line)) return false;
      } while (trimmed(line).empty());
      found.line = lines.line();
      auto const announced = count_in(line).value_or(-1);
      if (announced < 0) fail_at_line(name, found.line, in_quotes(line), "the number of points");
      found.comment = {};
      lines.next(found.comment);
      auto const rows = lines.rest();
      std::int64_t n = 0;
      for (auto next = lines; next.next(line); lines = next)
      {
        if (!is_row(line)) continue;
        if (count_in(line)) break;
        ++n;
      }
      found.rows = rows.substr(0, rows.size() - lines.rest().size());
      if (n != announced)
        fail_at_line(name, found.line, std::to_string(announced) + " as the number of points",
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
        if (!is_number(symbol)) continue;
        auto const number = integer_in(symbol).value_or(-1);
        if (number < 0 || number > 118)
          fail_at_line(name, lines.line(), in_quotes(symbol) + " for the symbol of an element",
                       "a word or an atomic number, then x, y and z (or give --columns x,y,z,q for "
                       "rows of numbers)");
        has_numbers = true;
      }
      return has_numbers;
    }

    // What the second line of a frame of XYZ says: key=value, in any case of the keys; other text is ignored.
    struct xyz_comment
    {
      named_columns columns; ///< by Properties=, otherwise a symbol, x, y and z
      bool has_properties = false;
      std::optional<file_report::periodic_cell> cell; ///< by Lattice=, Origin= and pbc=
      std::vector<std::string> left_out;              ///< what else is said of a box
    };

    // Removes the first of the pairs key=value; a value with blanks is in "", {} or []. The value is empty if a word has
    // none. Blanks around = are prose (`a cubic lattice = 4`) but before such a value or behind Properties.
    std::pair<std::string, std::string_view> take_pair(std::string_view& rest)
    {
      rest = trimmed(rest);
      auto const end = std::min(rest.find_first_of("= \t"), rest.size());
      auto const key = lower(unquoted(rest.substr(0, end)));
      rest.remove_prefix(end);
      auto const behind = trimmed(rest);
      if (!behind.starts_with('=')) return {key, {}};
      auto const after = trimmed(behind.substr(1));
      bool const has_blanks = after.data() != rest.data() + 1;
      rest = after;
      if (has_blanks && key != "properties" && after.find_first_of("\"{[") != 0) return {key, {}};
      char const open = rest.empty() ? ' ' : rest[0];
      char const close = open == '"' ? '"' : open == '{' ? '}' : open == '[' ? ']' : ' ';
      if (close != ' ') rest.remove_prefix(1);
      auto const length =
          std::min(close == ' ' ? rest.find_first_of(" \t") : rest.find(close), rest.size());
      auto const value = rest.substr(0, length);
      rest.remove_prefix(std::min(length + (close == ' ' ? 0 : 1), rest.size()));
      return {key, value};
    }

    // Whether programs write a box under the key, such as i-PI under CELL(abcABC):
    bool is_of_box(std::string_view key, bool has_value)
    {
      for (std::string_view const each :
           {"lattice", "pbc", "cell", "box", "boxsize", "box_size", "unitcell", "unit_cell", "vec1",
            "vec2", "vec3", "celldisp", "origin"})
        if (key == each) return has_value || each == "lattice" || each == "pbc";
      return key.starts_with("cell(") || key.starts_with("cell{");
    }

    void add_properties(std::string_view properties, place const& where, named_columns& columns)
    {
      auto const words = fields_in(properties, ':');
      std::optional<std::size_t> numbers; // Z:I:1, atomic ones, which QUIP writes beside pos:R:3
      bool has_vector = false;
      for (std::size_t w = 0; w < words.size(); w += 3)
      {
        auto const most = max_values_per_point - columns.names.size();
        auto const count = w + 2 < words.size() ? integer_in(words[w + 2]).value_or(0) : 0;
        if (count < 1 || count > static_cast<std::int64_t>(most))
          where.fail("Properties=" + in_quotes(properties),
                     "name:type:count for each property, such as pos:R:3");
        if (words[w] == "Z" && lower(words[w + 1]) == "i") numbers = columns.names.size();
        for (auto& column : known_names(words[w], static_cast<std::size_t>(count)))
        {
          has_vector |= count > 1 && column == "x";
          columns.names.push_back(std::move(column));
          columns.titles.emplace_back(words[w]);
        }
      }
      if (has_vector && numbers) columns.names[*numbers] = "_";
    }

    // Numbers or words between blanks or commas.
    template <class T, std::size_t n, class Read>
    std::array<T, n> values(std::string const& key, std::string_view text,
                            std::string const& expected, place const& where, Read const& read)
    {
      std::string blanks(text);
      for (char& c : blanks)
        if (c == ',' || c == '[' || c == ']') c = ' ';
      auto const words = fields_in(blanks, ' ');
      std::array<T, n> found{};
      bool good = words.size() == n;
      for (std::size_t k = 0; good && k < n; ++k) good = read(words[k], found[k]);
      if (!good)
        where.fail(key + "=" + in_quotes(text), expected + " between \"\", {} or one pair of []");
      return found;
    }

    template <std::size_t n>
    std::array<double, n> numbers(char const* key, std::string_view text, place const& where)
    {
      return values<double, n>(
          key, text, count_of(n, "finite number"), where, [](std::string_view word, double& value)
          { return parse_number(word, value) == number_status::good && std::isfinite(value); });
    }

    std::array<bool, 3> truths(std::string_view text, place const& where)
    {
      return values<bool, 3>("pbc", text, "T or F three times", where,
                             [](std::string_view word, bool& value)
                             {
                               auto const name = lower(unquoted(word));
                               value = name == "t" || name == "true" || name == "1";
                               return value || name == "f" || name == "false" || name == "0";
                             });
    }

    xyz_comment read_xyz_comment(std::string_view comment, place const& where)
    {
      xyz_comment result;
      std::optional<std::array<bool, 3>> periodic;
      std::array<double, 3> origin{};
      for (auto rest = trimmed(comment); !rest.empty(); rest = trimmed(rest))
      {
        auto const [key, value] = take_pair(rest);
        bool const is_read =
            (key == "lattice" || key == "origin" || key == "pbc") && !value.empty();
        if (!is_read && is_of_box(key, !value.empty()))
          result.left_out.push_back(printable(key) + " of its comment");
        if (value.empty()) continue;
        if (key == "properties")
        {
          if (std::exchange(result.has_properties, true))
            where.fail("Properties= twice", "each property of the rows once");
          add_properties(value, where, result.columns);
        }
        else if (key == "lattice")
        {
          if (result.cell) where.fail("Lattice= twice", "one box");
          auto const v = numbers<9>("Lattice", value, where);
          result.cell = file_report::periodic_cell{
              .from = "Lattice",
              .vectors = {{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[8]}}}};
        }
        else if (key == "origin")
          origin = numbers<3>("Origin", value, where);
        else if (key == "pbc")
          periodic = truths(value, where);
      }
      if (!result.has_properties)
        result.columns = {{"type", "x", "y", "z"}, {"symbol", "x", "y", "z"}};
      if (result.cell)
      {
        result.cell->origin = origin;
        result.cell->periodic = periodic;
      }
      else if (periodic && std::find(periodic->begin(), periodic->end(), true) != periodic->end())
        result.left_out.emplace_back("pbc of its comment");
      return result;
    }
  }

  bool detail::io::is_xyz(std::string_view content)
  {
    std::string_view line;
    if (content.starts_with("\xef\xbb\xbf")) content.remove_prefix(3); // a byte-order mark
    return line_cursor(content).next(line) && count_in(line);
  }

  point_set parse_xyz(std::string_view content, std::string const& name,
                      read_options const& options, file_report* report)
  {
    check_options(options, name, {.columns = true, .frames = true, .types = true});
    line_cursor lines(without_mark(content, name));
    std::vector<frame> frames(1);
    if (!take_frame(lines, name, frames[0]))
      fail_at_line(name, 1, "the end of the file", "the number of points");
    for (frame next; take_frame(lines, name, next);) frames.push_back(next);
    auto const& chosen = frames[check_frame(options, frames.size(), name)];
    auto comment = read_xyz_comment(chosen.comment, {name, chosen.line + 1});
    bool const is_given = !options.columns.empty();
    if (!is_given && !comment.has_properties)
    {
      if (auto const names = names_of(chosen); !names.empty())
        comment.columns = columns_named(names);
      else if (has_atomic_numbers(chosen, name))
        comment.columns.titles[0] = "column 1, of atomic numbers";
    }
    auto const map = is_given
                         ? map_of(columns_given(options, name), options, {name, 0, place::columns})
                         : map_of(comment.columns, options,
                                  {name, chosen.line + 1, place::line, " (or give --columns)"});
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
