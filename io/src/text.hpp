#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/io/points.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield::detail::io
{
  /// The maximal number of values per point. A file with more is a mistake, and is refused before memory is
  /// allocated for its columns.
  inline constexpr std::size_t max_values_per_point = 4096;

  /// `text` as one line: control characters as \xNN, truncated after 200 characters. For file names.
  std::string printable(std::string_view text);

  /// 'text' as ASCII, other bytes as \xNN, truncated after 40 characters. For excerpts of files in messages.
  std::string in_quotes(std::string_view text);

  /// `text` in lower case (ASCII only)
  std::string lower(std::string_view text);

  /// "1 value", "2 values"
  std::string count_of(std::uintmax_t n, std::string_view noun);

  /// What a message is about.
  struct place
  {
    enum kind
    {
      line,
      byte,
      columns, ///< read_options.columns
      file     ///< all of it
    };

    std::string const& name; ///< of the file
    std::uint64_t number = 0;
    kind of = line;
    char const* hint = ""; ///< behind what was expected

    /// Throws nearfield::error("<name>: line <number>: found <found>, expected <expected><hint>").
    [[noreturn]] void fail(std::string const& found, std::string const& expected) const;
  };

  [[noreturn]] void fail_at_line(std::string const& name, std::size_t line,
                                 std::string const& found, std::string const& expected);
  [[noreturn]] void fail_at_byte(std::string const& name, std::size_t byte,
                                 std::string const& found, std::string const& expected);

  constexpr bool is_blank(char c)
  {
    return c == ' ' || c == '\t';
  }
  constexpr bool is_digit(char c)
  {
    return c >= '0' && c <= '9';
  }
  constexpr bool is_letter(char c)
  {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  /// `text` without the blanks at its ends
  std::string_view trimmed(std::string_view text);

  /// `text` without a leading byte-order mark. Throws nearfield::error for UTF-16.
  std::string_view without_mark(std::string_view text, std::string const& name);

  using detail::number_status;

  /// Reads all of `text` as a decimal number, independent of the locale, rounded once to Real; zero if it
  /// underflows, so that what is out of range is too large. The exponent follows an e or, as in Fortran, a d. nan
  /// and inf are accepted, hexadecimal is not.
  template <std::floating_point Real>
  number_status parse_number(std::string_view text, Real& value);

  /// All of `text` as an integer; none for other texts.
  std::optional<std::int64_t> integer_in(std::string_view text);

  /// Whether parse_number() finds a number, which may be out of range.
  bool is_number(std::string_view text);

  /// `text` without the double quotes around it.
  std::string_view unquoted(std::string_view text);

  /// Whether `text` is a number but for a comma in place of its point.
  bool has_decimal_comma(std::string_view text);

  /// Whether one of the fields is a number, in quotes or not.
  bool has_number(std::vector<std::string_view> const& fields);

  /// Iterates over the lines of a text and counts them from 1. A line ends in LF, CR LF or CR.
  class line_cursor
  {
  public:
    /// `lines_before`: those of the file before the content
    explicit line_cursor(std::string_view content, std::size_t lines_before = 0)
        : rest_(content), line_(lines_before)
    {}

    /// gets the next line, without its end; false after the last
    bool next(std::string_view& line)
    {
      if (rest_.empty()) return false;
      // not find(), which would search the whole rest of the text for a CR in each line
      std::size_t end = 0;
      while (end < rest_.size() && rest_[end] != '\n' && rest_[end] != '\r') ++end;
      line = rest_.substr(0, end);
      rest_.remove_prefix(end);
      rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : rest_.empty() ? 0 : 1);
      ++line_;
      return true;
    }

    [[nodiscard]] std::size_t line() const { return line_; }
    /// What follows the last line that next() has got.
    [[nodiscard]] std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
    std::size_t line_;
  };

  /// Removes the first blank-separated field from `line` and returns it; empty if there is none.
  inline std::string_view take_field(std::string_view& line)
  {
    auto const* p = line.data();
    auto const* const end = p + line.size();
    while (p != end && is_blank(*p)) ++p;
    auto const* const begin = p;
    while (p != end && !is_blank(*p)) ++p;
    line = {p, static_cast<std::size_t>(end - p)};
    return {begin, static_cast<std::size_t>(p - begin)};
  }

  /// Splits a line into `fields` (a reused buffer) at each `delimiter`, but not within double quotes; fields are trimmed,
  /// empty ones kept. A delimiter of ' ' means any number of blanks.
  void split(std::string_view line, char delimiter, std::vector<std::string_view>& fields);

  /// The same as a new vector.
  std::vector<std::string_view> fields_in(std::string_view line, char delimiter);

  /// What separates the fields of a line: ';', ',' or, for blanks, ' '.
  char delimiter_of(std::string_view line);

  /// Reads a value, which may be nan or infinite; `what` names it in messages.
  double read_value(std::string_view text, place const& where, std::string_view what);

  /// Reads a finite value: a coordinate or an input.
  double read_finite(std::string_view text, place const& where, std::string_view what);

  /// The options that a format has, beside the dimension.
  struct known_options
  {
    bool columns = false, atom_style = false, frames = false, types = false;
  };

  /// Throws nearfield::error if an option is given that the format of the file does not have, or if options.dim is not 0,
  /// 2 or 3.
  void check_options(read_options const& options, std::string const& name,
                     known_options const& known);

  /// `2 as requested`, or `2 as in a.csv`, for messages.
  std::string wanted(read_options const& options);

  /// `because 2D was requested`, or `because a.csv is in 2D`.
  std::string because_of_2d(read_options const& options);

  /// The number of the frame to read, of `n`. Throws nearfield::error if options.frame is none of them, or not given
  /// though there are several.
  std::size_t check_frame(read_options const& options, std::size_t n, std::string const& name,
                          std::string_view noun = "frame");

  /// "2 of 3 frames", those that are left out; none of 1.
  void leave_out_frames(std::size_t n, std::string_view noun, file_report& report);

  /// Adds a point of a format with three coordinates. With options.dim = 2, z must be that of the first point.
  void add_point(point_set& points, std::string_view x, std::string_view y, std::string_view z,
                 read_options const& options, place const& where);

  /// Leaves out the third component of positions and velocities if options.dim = 2.
  void make_planar(point_set& points, read_options const& options);
}
