#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nearfield::app
{
  /// Writes JSON from front to back:
  ///
  ///     json_writer json;
  ///     json.begin_object();
  ///     json.key("points").value(16090);
  ///     json.end_object();
  ///     file.write(json.text());
  class json_writer
  {
  public:
    json_writer& begin_object() { return open('{'); }
    json_writer& end_object() { return close('}'); }
    json_writer& begin_array() { return open('['); }
    json_writer& end_array() { return close(']'); }
    json_writer& key(std::string_view name);
    /// in shortest decimals that read back to the same value; null where it is not finite
    json_writer& value(double number);
    json_writer& value(std::uint64_t number);
    json_writer& value(int number);
    json_writer& value(bool truth);
    /// bytes that are no UTF-8, as file names may have them, appear as \xNN
    json_writer& value(std::string_view text);
    json_writer& null();
    json_writer& value(char const* text) { return value(std::string_view(text)); }

    /// What was written, with a line break at its end.
    [[nodiscard]] std::string text() const { return text_ + "\n"; }

  private:
    json_writer& open(char bracket);
    json_writer& close(char bracket);
    void before_value();
    void new_line();
    void append_quoted(std::string_view text);

    std::string text_;
    int depth_ = 0;
    bool first_ = true; // nothing stands in the innermost bracket yet
    bool after_key_ = false;
  };
}
