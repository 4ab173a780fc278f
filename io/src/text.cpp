#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nearfield::detail::io
{
  namespace
  {
    std::string escaped(std::string_view text, std::size_t limit, unsigned char last)
    {
      static constexpr char digits[] = "0123456789abcdef";
      std::string out;
      for (char const c : text)
      {
        if (out.size() >= limit) return out + "...";
        auto const byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte <= last && byte != 0x7f)
          out += c;
        else
        {
          out += "\\x";
          out += digits[byte >> 4];
          out += digits[byte & 15];
        }
      }
      return out;
    }

    // from_chars accepts no plus sign; "+-1" stays invalid
    std::string_view without_plus(std::string_view text)
    {
      return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
    }

    // Whether a number out of range underflows: the sign of the decimal exponent of its first nonzero digit.
    bool is_tiny(std::string_view text)
    {
      auto const e = std::min(text.find_first_of("eE"), text.size());
      auto const digits = without_plus(text.substr(std::min(e + 1, text.size())));
      std::int64_t exponent = 0;
      if (read_number(digits, exponent) == number_status::out_of_range) return digits[0] == '-';
      auto const point = std::min(text.find('.'), e), first = text.find_first_not_of("-0.");
      auto const shift = first < point ? static_cast<std::int64_t>(point - first)
                                       : -static_cast<std::int64_t>(first - point);
      return exponent < -shift;
    }
  }

  std::string printable(std::string_view text)
  {
    return escaped(text, 200, 0xff);
  }
  std::string in_quotes(std::string_view text)
  {
    return "'" + escaped(text, 40, 0x7e) + "'";
  }

  std::string lower(std::string_view text)
  {
    std::string out(text);
    for (char& c : out)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
  }

  std::string count_of(std::uintmax_t n, std::string_view noun)
  {
    return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
  }

  void place::fail(std::string const& found, std::string const& expected) const
  {
    std::string const at = of == line      ? ": line " + std::to_string(number)
                           : of == byte    ? ": byte " + std::to_string(number)
                           : of == columns ? ": columns (--columns)"
                                           : "";
    throw error(printable(name) + at + ": found " + found + ", expected " + expected + hint,
                of == line || of == byte ? error_kind::invalid_data : error_kind::invalid_argument);
  }

  void fail_at_line(std::string const& name, std::size_t line, std::string const& found,
                    std::string const& expected)
  {
    place{name, line}.fail(found, expected);
  }

  void fail_at_byte(std::string const& name, std::size_t byte, std::string const& found,
                    std::string const& expected)
  {
    place{name, byte, place::byte}.fail(found, expected);
  }

  std::string_view trimmed(std::string_view text)
  {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
  }

  std::string_view without_mark(std::string_view text, std::string const& name)
  {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
      fail_at_line(name, 1, "UTF-16", "UTF-8 or ASCII");
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    return text;
  }

  template <std::floating_point Real>
  number_status parse_number(std::string_view text, Real& value)
  {
    text = without_plus(text);
    auto status = read_number(text, value);
    std::string in_c;
    if (status == number_status::not_a_number)
    {
      auto const d = text.find_first_of("Dd");
      if (d == std::string_view::npos) return status;
      in_c = text;
      in_c[d] = 'e';
      text = in_c;
      status = read_number(text, value);
    }
    if (status != number_status::out_of_range || !is_tiny(text)) return status;
    value = text[0] == '-' ? -Real(0) : Real(0);
    return number_status::good;
  }

  template number_status parse_number<float>(std::string_view, float&);
  template number_status parse_number<double>(std::string_view, double&);

  std::optional<std::int64_t> integer_in(std::string_view text)
  {
    return read_number<std::int64_t>(without_plus(text));
  }

  bool is_number(std::string_view text)
  {
    double value = 0;
    return parse_number(text, value) != number_status::not_a_number;
  }

  namespace
  {
    // The place of the delimiter that ends the field at the begin of `line`; npos if none does.
    std::size_t end_of_field(std::string_view line, char delimiter, bool has_quotes)
    {
      if (!has_quotes) return line.find(delimiter);
      bool is_quoted = false;
      for (std::size_t k = 0; k < line.size(); ++k)
        if (line[k] == '"')
          is_quoted = !is_quoted;
        else if (!is_quoted && (delimiter == ' ' ? is_blank(line[k]) : line[k] == delimiter))
          return k;
      return line.npos;
    }
  }

  void split(std::string_view line, char delimiter, std::vector<std::string_view>& fields)
  {
    fields.clear();
    // an odd number of quotes are none
    bool const has_quotes =
        line.find('"') != line.npos && std::count(line.begin(), line.end(), '"') % 2 == 0;
    if (delimiter == ' ' && !has_quotes)
    {
      for (auto field = take_field(line); !field.empty(); field = take_field(line))
        fields.push_back(field);
      return;
    }
    for (;;)
    {
      if (delimiter == ' ')
      {
        line = trimmed(line);
        if (line.empty()) return;
      }
      auto const end = end_of_field(line, delimiter, has_quotes);
      fields.push_back(trimmed(line.substr(0, end)));
      if (end == line.npos) return;
      line.remove_prefix(end + 1);
    }
  }

  std::vector<std::string_view> fields_in(std::string_view line, char delimiter)
  {
    std::vector<std::string_view> fields;
    split(line, delimiter, fields);
    return fields;
  }

  char delimiter_of(std::string_view line)
  {
    if (line.find(';') != line.npos) return ';';
    if (line.find(',') == line.npos) return ' ';
    auto const words = fields_in(line, ' ');
    // 1,5 2,5 3
    bool const has_commas_inside =
        words.size() > 1 && std::any_of(words.begin(), words.end(), has_decimal_comma) &&
        std::all_of(words.begin(), words.end(), [](auto word) { return has_number({word}); });
    return has_commas_inside ? ' ' : ',';
  }

  std::string_view unquoted(std::string_view text)
  {
    return text.size() >= 2 && text.front() == '"' && text.back() == '"'
               ? text.substr(1, text.size() - 2)
               : text;
  }

  bool has_decimal_comma(std::string_view text)
  {
    auto const comma = text.find(',');
    if (comma == text.npos || comma == 0 || comma + 1 == text.size()) return false;
    std::string with_point(text);
    with_point[comma] = '.';
    return is_number(with_point);
  }

  bool has_number(std::vector<std::string_view> const& fields)
  {
    return std::any_of(fields.begin(), fields.end(),
                       [](std::string_view field)
                       {
                         field = trimmed(unquoted(field));
                         return is_number(field) || has_decimal_comma(field);
                       });
  }

  double read_value(std::string_view text, place const& where, std::string_view what)
  {
    double value = 0;
    auto const status = parse_number(text, value);
    if (status == number_status::good) return value;
    where.fail(in_quotes(text) + " for " + std::string(what),
               status == number_status::out_of_range ? "a number in the range of double precision"
               : text.empty()            ? "a number, or --columns with _ for the column"
               : has_decimal_comma(text) ? "a number, with a point in place of the comma"
                                         : "a number");
  }

  double read_finite(std::string_view text, place const& where, std::string_view what)
  {
    auto const value = read_value(text, where, what);
    if (!std::isfinite(value))
      where.fail(in_quotes(text) + " for " + std::string(what), "a finite number");
    return value;
  }

  void check_options(read_options const& options, std::string const& name,
                     known_options const& known)
  {
    if (options.dim != 0 && options.dim != 2 && options.dim != 3)
      throw error("read_options.dim: found " + std::to_string(options.dim) +
                  ", expected 2 or 3, or 0 for that of the file");
    if (!known.columns && !options.columns.empty())
      throw error(
          printable(name) +
          ": found column names (--columns), expected none: this format defines its columns; "
          "--columns is for .csv .tsv .txt .dat .xyz .npy, and the Atoms section of LAMMPS");
    if (!known.atom_style && !options.atom_style.empty())
      throw error(printable(name) +
                  ": found an atom style (--atom-style), expected none: it applies to "
                  "LAMMPS data only");
    if (!known.types && options.types)
      throw error(printable(name) + ": found no types of points, which text, XYZ and LAMMPS data "
                                    "may have; give them in a file of their own");
    if (!known.frames) check_frame(options, 1, name);
  }

  std::string wanted(read_options const& options)
  {
    return std::to_string(options.dim) +
           (options.dim_of.empty() ? " as requested" : " as in " + printable(options.dim_of));
  }

  std::string because_of_2d(read_options const& options)
  {
    return options.dim_of.empty() ? "because 2D was requested"
                                  : "because " + printable(options.dim_of) + " is in 2D";
  }

  std::size_t check_frame(read_options const& options, std::size_t n, std::string const& name,
                          std::string_view noun)
  {
    auto const count = static_cast<std::int64_t>(n);
    if (!options.frame && n > 1)
      throw error(printable(name) + ": found " + count_of(n, noun) +
                      ", expected one, or its number: --frame 0 to " + std::to_string(n - 1) +
                      ", or -1 for the last",
                  error_kind::invalid_data);
    auto const asked = options.frame.value_or(0);
    if (n > 0 && (asked >= count || asked < -count))
      throw error(printable(name) + ": found " + count_of(n, noun) + ", expected " +
                  std::string(noun) + " " + std::to_string(asked) + " (--frame) to be one of " +
                  (n > 1 ? "0 to " + std::to_string(n - 1) + " or -1 to -" + std::to_string(n)
                         : "0 and -1"));
    return static_cast<std::size_t>(asked < 0 ? asked + count : asked);
  }

  void leave_out_frames(std::size_t n, std::string_view noun, file_report& report)
  {
    if (n > 1) report.left_out.push_back(std::to_string(n - 1) + " of " + count_of(n, noun));
  }

  void add_point(point_set& points, std::string_view x, std::string_view y, std::string_view z,
                 read_options const& options, place const& where)
  {
    auto& of_z = points.positions[2];
    of_z.push_back(read_finite(z, where, "z"));
    if (options.dim == 2 && of_z.back() != of_z[0])
      where.fail(in_quotes(z) + " for z", "the z of the first point, " + because_of_2d(options));
    points.positions[0].push_back(read_finite(x, where, "x"));
    points.positions[1].push_back(read_finite(y, where, "y"));
  }

  void make_planar(point_set& points, read_options const& options)
  {
    if (options.dim != 2) return;
    points.dim = 2;
    points.positions.resize(2);
    if (!points.velocities.empty()) points.velocities.resize(2);
  }
}
