#include "arguments.hpp"

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

  // CLI11's own message names the largest double in full.
  CLI::Validator at_least(int least)
  {
    auto const refuse = [least](std::string const& text)
    {
      bool const negative = text.starts_with('-');
      bool const zero = text.find_first_not_of("+0") == std::string::npos;
      return negative || (least > 0 && zero)
                 ? "found '" + text + "', expected " + std::to_string(least) + " or more"
                 : std::string();
    };
    return {refuse, "", ""};
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
