#include "xyz.hpp"

#include <nearfield/core/numbers.hpp>
#include <nearfield/io/points.hpp>

#include "text.hpp"
#include "write.hpp"

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    template <class Real>
    void append_rows(std::string& out, point_set const& points, std::vector<field> const& fields)
    {
      for (std::size_t i = 0; i < points.size(); ++i)
      {
        std::string_view separator;
        for (auto const& each : fields)
          for (int c = 0; c < each.n_components(); ++c)
          {
            out += separator;
            separator = " ";
            detail::append_number(out, static_cast<Real>(each(i, c)));
          }
        out += '\n';
      }
    }

    // The names of the `count` columns of a property.
    std::vector<std::string> columns_of(std::string_view property, std::size_t count)
    {
      auto const vector = [](std::string const& prefix)
      {
        return std::vector<std::string>{prefix + "x", prefix + "y", prefix + "z"};
      };
      if (count == 3 && property == "pos") return vector("");
      if (count == 3 && property == "velo") return vector("v");
      if (count == 3 && property == "gradient") return vector("g");
      if (count == 3 && property == "acceleration") return vector("a");
      if (count == 1 && property == "mass") return {"m"};
      if (count == 1 && property == "charge") return {"q"};
      if (count == 1 && is_column_name(property)) return {std::string(property)};
      return std::vector<std::string>(count, "_");
    }

    // The names of all columns, from the comment in line 2.
    std::vector<std::string> columns_of(std::string_view comment, std::string const& name)
    {
      std::string_view properties = "species:S:1:pos:R:3"; // the default of the format
      if (auto const at = comment.find("Properties="); at != comment.npos)
      {
        properties = comment.substr(at + 11);
        if (properties.starts_with('"')) properties.remove_prefix(1);
        properties = properties.substr(0, properties.find_first_of("\" \t"));
      }
      std::vector<std::string_view> words;
      split(properties, ':', words);
      std::vector<std::string> columns;
      for (std::size_t w = 0; w < words.size(); w += 3)
      {
        std::int64_t count = 0;
        if (w + 2 >= words.size() || parse_number(words[w + 2], count) != number_status::good ||
            count < 1 || count > static_cast<std::int64_t>(max_values_per_point))
          fail_at_line(name, 2, "Properties=" + in_quotes(properties),
                       "name:type:count for each property, such as pos:R:3");
        for (auto& column : columns_of(words[w], static_cast<std::size_t>(count)))
          columns.push_back(std::move(column));
      }
      return columns;
    }
  }

  bool detail::io::is_xyz(std::string_view content)
  {
    std::string_view line;
    std::int64_t n = 0;
    return line_cursor(content).next(line) && parse_number(trimmed(line), n) == number_status::good;
  }

  point_set parse_xyz(std::string_view content, std::string const& name,
                      read_options const& options)
  {
    line_cursor lines(content);
    std::string_view count, comment;
    std::int64_t n = -1;
    if (!lines.next(count) || parse_number(trimmed(count), n) != number_status::good || n < 0)
      fail_at_line(name, 1, in_quotes(count), "the number of points");
    lines.next(comment);
    auto of_rows = options;
    if (of_rows.columns.empty()) of_rows.columns = columns_of(comment, name);
    // the two lines as comments, so that messages count lines as they are
    auto points = parse_columns("#\n#\n" + std::string(lines.rest()), name, of_rows);
    if (points.size() != static_cast<std::size_t>(n))
      fail_at_line(name, 1, std::to_string(n) + " as the number of points",
                   std::to_string(points.size()) + ", that of the rows (of one frame)");
    return points;
  }

  std::string format_xyz(point_set const& points, write_options const& options)
  {
    check_writable(points, options);
    auto fields = fields_of(points);
    std::string properties;
    for (auto& each : fields)
    {
      if (each.name == "velocity") each.name = "velo";
      if (each.name == "m") each.name = "mass";
      for (char& c : each.name)
        if (c == ':' || c == '"' || is_blank(c)) c = '_';
      properties += ":" + each.name + ":R:" + std::to_string(each.n_components());
    }
    auto const columns = all_columns(points);
    fields.insert(fields.begin(), {"pos", {columns.begin(), columns.begin() + points.dim}});
    std::string out;
    if (has_header(options))
      out = std::to_string(options.part ? options.part->n_points : points.size()) +
            "\nProperties=pos:R:3" + properties + "\n";
    if (options.precision == file_precision::f32)
      append_rows<float>(out, points, fields);
    else
      append_rows<double>(out, points, fields);
    return out;
  }
}
