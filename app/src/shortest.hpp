#pragma once

#include <charconv>
#include <string>

namespace nearfield::app
{
  /// The shortest decimals that read back to the same value.
  inline std::string shortest(double number)
  {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
  }
}
