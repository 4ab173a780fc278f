#include "json.hpp"

#include "shortest.hpp"

#include <algorithm>
#include <cmath>

namespace nearfield::app
{
  namespace
  {
    // The bytes of the character that `text` begins with, 0 where it is no UTF-8 (RFC 3629: without
    // long forms and surrogates).
    std::size_t utf8_length(std::string_view text)
    {
      auto const in = [&](std::size_t i, int low, int high)
      {
        return i < text.size() && static_cast<unsigned char>(text[i]) >= low &&
               static_cast<unsigned char>(text[i]) <= high;
      };
      auto const tail = [&](std::size_t i)
      {
        return in(i, 0x80, 0xbf);
      };
      if (in(0, 0, 0x7f)) return 1;
      if (in(0, 0xc2, 0xdf)) return tail(1) ? 2 : 0;
      if (in(0, 0xe0, 0xef))
        return tail(1) && tail(2) && !(in(0, 0xe0, 0xe0) && in(1, 0x80, 0x9f)) &&
                       !(in(0, 0xed, 0xed) && in(1, 0xa0, 0xbf))
                   ? 3
                   : 0;
      if (in(0, 0xf0, 0xf4))
        return tail(1) && tail(2) && tail(3) && !(in(0, 0xf0, 0xf0) && in(1, 0x80, 0x8f)) &&
                       !(in(0, 0xf4, 0xf4) && in(1, 0x90, 0xbf))
                   ? 4
                   : 0;
      return 0;
    }
  }

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
    while (!text.empty())
    {
      char const c = text[0];
      auto const code = static_cast<unsigned char>(c);
      auto const length = utf8_length(text);
      if (length == 0)
      {
        text_ += "\\\\x";
        text_ += hex[code >> 4];
        text_ += hex[code & 15];
      }
      else if (c == '"' || c == '\\')
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
        text_ += text.substr(0, length);
      text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    text_ += '"';
  }
}
