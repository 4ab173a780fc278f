#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/io/point_set.hpp>
#include <nearfield/io/read.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield::detail::io
{
  /// More values a point than any use has: a file beyond it is a mistake, and is refused before
  /// memory is asked for that many columns.
  inline constexpr std::size_t max_values_per_point = 4096;

  /// `text` as one line: control characters as \xNN, cut after 200 characters. For names.
  std::string printable(std::string_view text);

  /// 'text' as ASCII, other bytes as \xNN, cut after 40 characters: what a message shows of a file
  std::string in_quotes(std::string_view text);

  /// `text` with small letters for capital ones of ASCII
  std::string lower(std::string_view text);

  /// "1 value", "2 values"
  std::string count_of(std::uintmax_t n, std::string_view noun);

  /// Throws error "<name>: line <line>: found <found>, expected <expected>".
  [[noreturn]] void fail_at_line(std::string const& name, std::size_t line,
                                 std::string const& found, std::string const& expected);

  /// Throws error "<name>: byte <byte>: found <found>, expected <expected>".
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

  /// `text` without a byte-order mark in front. Throws error for that of UTF-16.
  std::string_view without_mark(std::string_view text, std::string const& name);

  enum class number_status
  {
    good,
    not_a_number, ///< the text is something else
    too_large     ///< beyond the largest value of the type
  };

  /// Reads all of `text` as a decimal number, without regard to the locale, rounded once to Real;
  /// below the smallest value it is zero. The exponent follows an e or, as Fortran writes double
  /// precision, a d. nan and inf are numbers here; hexadecimal is not.
  template <std::floating_point Real>
  number_status parse_number(std::string_view text, Real& value);

  /// Reads all of `text` as an integer.
  number_status parse_number(std::string_view text, std::int64_t& value);

  /// Walks over a text line by line and counts the lines from 1. A line ends in LF, CR LF or CR.
  class line_cursor
  {
  public:
    explicit line_cursor(std::string_view content) : rest_(content) {}

    /// the next line without its end, false after the last
    bool next(std::string_view& line)
    {
      if (rest_.empty()) return false;
      // a loop and not find(), which for each line would look for a CR in all of the rest
      std::size_t end = 0;
      while (end < rest_.size() && rest_[end] != '\n' && rest_[end] != '\r') ++end;
      line = rest_.substr(0, end);
      rest_.remove_prefix(end);
      rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : rest_.empty() ? 0 : 1);
      ++line_;
      return true;
    }

    [[nodiscard]] std::size_t line() const { return line_; }

  private:
    std::string_view rest_;
    std::size_t line_ = 0;
  };

  /// Takes the first blank-separated field off `line`; empty when there is none.
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

  /// The fields of a line, into `fields` (a buffer that the caller keeps): divided by `delimiter`,
  /// trimmed, empty ones kept; by blanks where the delimiter is ' '.
  void split(std::string_view line, char delimiter, std::vector<std::string_view>& fields);

  /// Where a value stands, for messages.
  struct place
  {
    std::string const& name;
    std::size_t line;
  };

  /// Reads a value of any kind; `what` names it in messages.
  double read_value(std::string_view text, place const& where, std::string_view what);

  /// Reads a finite value: a coordinate or an input.
  double read_finite(std::string_view text, place const& where, std::string_view what);

  /// Throws error, naming the file, where an option was given that its format does not have.
  void refuse_columns(read_options const& options, std::string const& name);
  void refuse_atom_style(read_options const& options, std::string const& name);

  /// Throws error unless options.dim is 0, 2 or 3.
  void check_dim(read_options const& options);

  /// Adds a point of a file that always has three coordinates to `points`. With options.dim = 2 its
  /// z must be that of the first point.
  class three_coordinates
  {
  public:
    three_coordinates(point_set& points, read_options const& options)
        : points_(points), planar_(options.dim == 2)
    {
      points.dim = planar_ ? 2 : 3;
      points.positions.resize(static_cast<std::size_t>(points.dim));
    }

    void add(std::string_view x, std::string_view y, std::string_view z, place const& where);

  private:
    point_set& points_;
    bool planar_;
    double z_ = 0;
  };
}
