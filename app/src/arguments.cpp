#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace nearfield::app
{
  double parse_number(std::string const& text, char const* option, char const* expected)
  {
    double value = 0;
    auto const [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc() || end != text.data() + text.size())
      throw error(std::string(option) + ": found '" + text + "', expected " + expected);
    return value;
  }

  std::vector<std::string> split(std::string const& text)
  {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
    if (text.empty() || text.back() == ',') parts.emplace_back();
    return parts;
  }

  // CLI11 itself reads 010 as 8, and does not say what it expects.
  CLI::Validator whole_number(int least)
  {
    auto const read = [least](std::string& text)
    {
      bool const is_number = text.find_first_not_of("0123456789") == std::string::npos;
      std::string const digits =
          text.substr(std::min(text.find_first_not_of('0'), text.size() - 1));
      if (!is_number || (least > 0 && digits == "0"))
        return "found '" + text + "', expected a whole number, " + std::to_string(least) +
               " or more";
      text = digits;
      return std::string();
    };
    return {read, "", ""};
  }

  precision choose_precision(std::string const& text)
  {
    return choose<precision>(text, "--precision",
                             {{"f32", precision::f32}, {"f64", precision::f64}});
  }

  backend choose_backend(std::string const& text)
  {
    return choose<backend>(text, "--backend",
                           {{"auto", backend::automatic},
                            {"scalar", backend::scalar},
                            {"simd", backend::simd},
                            {"cuda", backend::cuda}});
  }
}
