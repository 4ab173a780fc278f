#pragma once

#include <array>
#include <cstdint>

namespace nearfield::app::font
{
  inline constexpr int width = 5;   ///< dots of a letter
  inline constexpr int advance = 6; ///< from letter to letter
  inline constexpr int height = 7;  ///< rows above the base line
  inline constexpr int rows = 9;    ///< with those below it

  /// The rows of a letter from the top; bit 4 is the leftmost dot. Capitals that have no glyph of
  /// their own look like small letters, any other unknown letter is blank.
  std::array<std::uint8_t, rows> const& glyph(char letter);
}
