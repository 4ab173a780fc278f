#pragma once

#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nearfield::test
{
  /// Every scalar of a JSON text by its path: "seconds.read", "rows.0.backend". Strings come without
  /// their quotes, an empty object or array as {} or []. Throws for what is not JSON.
  class json_reader
  {
  public:
    static std::map<std::string, std::string> read(std::string_view text)
    {
      json_reader reader(text);
      reader.value("");
      reader.blanks();
      if (!reader.rest_.empty()) reader.fail("the end");
      return reader.values_;
    }

  private:
    explicit json_reader(std::string_view text) : rest_(text) {}

    [[noreturn]] void fail(std::string const& expected) const
    {
      throw std::runtime_error("JSON: expected " + expected + " at '" +
                               std::string(rest_.substr(0, 20)) + "'");
    }
    void blanks()
    {
      while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0])))
        rest_.remove_prefix(1);
    }
    bool take(char c)
    {
      blanks();
      if (rest_.empty() || rest_[0] != c) return false;
      rest_.remove_prefix(1);
      return true;
    }
    void expect(char c)
    {
      if (!take(c)) fail(std::string(1, c));
    }
    std::string string()
    {
      std::string result;
      while (!rest_.empty() && rest_[0] != '"')
      {
        if (static_cast<unsigned char>(rest_[0]) < 0x20) fail("no control character");
        if (rest_[0] == '\\') rest_.remove_prefix(1);
        if (rest_.empty()) break;
        result += rest_[0];
        rest_.remove_prefix(1);
      }
      expect('"');
      return result;
    }
    void object(std::string const& path)
    {
      if (take('}'))
      {
        values_[path] = "{}";
        return;
      }
      do {
        expect('"');
        auto const name = string();
        expect(':');
        value(path.empty() ? name : path + "." + name);
      } while (take(','));
      expect('}');
    }
    void array(std::string const& path)
    {
      if (take(']'))
      {
        values_[path] = "[]";
        return;
      }
      int i = 0;
      do value(path + "." + std::to_string(i++));
      while (take(','));
      expect(']');
    }
    void value(std::string const& path)
    {
      if (take('{')) return object(path);
      if (take('[')) return array(path);
      if (take('"'))
      {
        values_[path] = string();
        return;
      }
      blanks();
      auto const n = rest_.find_first_of(",]} \n");
      std::string const word(rest_.substr(0, n));
      std::size_t used = 0;
      if (word != "null" && word != "true" && word != "false")
      {
        (void)std::stod(word, &used);
        if (used != word.size()) fail("a number");
      }
      values_[path] = word;
      rest_.remove_prefix(word.size());
    }

    std::string_view rest_;
    std::map<std::string, std::string> values_;
  };
}
