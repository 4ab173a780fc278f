#pragma once

#include <nearfield/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

/// \file
/// Images in a word: S_a + 512 in 10 bits, those of axis 0 the lowest.

namespace nearfield::detail
{
  /// The sum of (S_a + 512) << 10 a modulo 2^32: the packed image, if it fits. Sums and differences of images are those of
  /// words, but for the word of image 0.
  template <std::size_t Dim>
  [[nodiscard]] NEARFIELD_FN constexpr std::uint32_t
  packed_word(std::array<std::int32_t, Dim> const& image)
  {
    std::uint32_t word = 0;
    for (std::size_t a = 0; a < Dim; ++a)
      word += (static_cast<std::uint32_t>(image[a]) + 512u) << 10 * a;
    return word;
  }

  template <std::size_t Dim>
  [[nodiscard]] NEARFIELD_FN constexpr bool fits_word(std::array<std::int32_t, Dim> const& image)
  {
    bool fits = true;
    for (std::size_t a = 0; a < Dim; ++a)
      fits &= static_cast<std::uint32_t>(image[a]) + 512u < 1024u;
    return fits;
  }

  [[nodiscard]] NEARFIELD_FN constexpr std::int32_t counter_of_word(std::uint32_t word, int axis)
  {
    return static_cast<std::int32_t>(word >> 10 * axis & 1023u) - 512;
  }
}
