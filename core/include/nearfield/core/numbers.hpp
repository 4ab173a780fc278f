#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace nearfield::detail
{
  /// Appends the number as std::to_chars writes it, whatever the locale. Without a format that is the
  /// shortest decimal that reads back to the same value; (value, std::chars_format::fixed, 2) gives
  /// what printf's %.2f does.
  template <class T, class... Format>
  void append_number(std::string& out, T value, Format... format)
  {
    char digits[400]; // the largest double has 309 digits before the point
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value, format...).ptr);
  }

  /// The number as append_number writes it.
  template <class T, class... Format>
  std::string number_text(T value, Format... format)
  {
    std::string text;
    append_number(text, value, format...);
    return text;
  }

  enum class number_status
  {
    good,
    not_a_number, ///< the text is something else
    out_of_range  ///< of the type
  };

  /// Reads all of `text` as a number, nan and inf included. `value` is set only if the status is good.
  template <class T>
  number_status read_number(std::string_view text, T& value)
  {
    T read{};
    auto const* const last = text.data() + text.size();
    auto const [end, status] = std::from_chars(text.data(), last, read);
    if (end != last || status == std::errc::invalid_argument) return number_status::not_a_number;
    if (status != std::errc()) return number_status::out_of_range;
    value = read;
    return number_status::good;
  }

  /// The same; nullopt unless the status is good.
  template <class T>
  std::optional<T> read_number(std::string_view text)
  {
    T value{};
    return read_number(text, value) == number_status::good ? std::optional(value) : std::nullopt;
  }
}
