#include "json.hpp"

#include "shortest.hpp"

#include <cmath>

namespace nearfield::app
{
  void json_writer::new_line()
  {
    text_ += '\n';
    text_.append(static_cast<std::size_t>(2 * depth_), ' ');
  }

  void json_writer::before_value()
  {
    if (!after_key_ && depth_ > 0)
    {
      if (!first_) text_ += ',';
      new_line();
    }
    after_key_ = false;
    first_ = false;
  }

  json_writer& json_writer::open(char bracket)
  {
    before_value();
    text_ += bracket;
    ++depth_;
    first_ = true;
    return *this;
  }

  json_writer& json_writer::close(char bracket)
  {
    --depth_;
    if (!first_) new_line();
    text_ += bracket;
    first_ = false;
    return *this;
  }

  json_writer& json_writer::key(std::string_view name)
  {
    before_value();
    append_quoted(name);
    text_ += ": ";
    after_key_ = true;
    return *this;
  }

  json_writer& json_writer::value(double number)
  {
    if (!std::isfinite(number)) return null();
    before_value();
    text_ += shortest(number);
    return *this;
  }

  json_writer& json_writer::null()
  {
    before_value();
    text_ += "null";
    return *this;
  }

  json_writer& json_writer::value(std::uint64_t number)
  {
    before_value();
    text_ += std::to_string(number);
    return *this;
  }

  json_writer& json_writer::value(int number)
  {
    before_value();
    text_ += std::to_string(number);
    return *this;
  }

  json_writer& json_writer::value(bool truth)
  {
    before_value();
    text_ += truth ? "true" : "false";
    return *this;
  }

  json_writer& json_writer::value(std::string_view text)
  {
    before_value();
    append_quoted(text);
    return *this;
  }

  void json_writer::append_quoted(std::string_view text)
  {
    static constexpr char hex[] = "0123456789abcdef";
    text_ += '"';
    for (char const c : text)
    {
      auto const code = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\')
      {
        text_ += '\\';
        text_ += c;
      }
      else if (code < 0x20)
      {
        text_ += "\\u00";
        text_ += hex[code >> 4];
        text_ += hex[code & 15];
      }
      else
        text_ += c;
    }
    text_ += '"';
  }
}
