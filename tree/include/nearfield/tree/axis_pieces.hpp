#pragma once

#include <nearfield/core/config.hpp>

#include <cstdint>

namespace nearfield
{
  /// Points of an axis between two gaps that grids and trees leave out. The coordinate x of such a point lies at
  /// offset + (x - origin) scale, where the scale of a grid is the inverse width of a cell, and that of a tree is 1.
  struct axis_piece
  {
    /// the piece has the coordinates from here to the `first` of the next one, length^1
    double first;
    double origin; ///< length^1
    /// cells before the origin, or the length from the lower end of the root box to it
    double offset;

    friend bool operator==(axis_piece const&, axis_piece const&) = default;
  };

  /// The pieces of an axis in ascending order; none if no gap is left out. It owns nothing.
  struct axis_pieces
  {
    axis_piece const* pieces = nullptr; ///< the first one
    std::uint32_t n = 0;                ///< how many there are

    /// The place of x: offset + (x - origin) scale of its piece.
    [[nodiscard]] NEARFIELD_FN double place(double x, double scale) const
    {
      std::uint32_t at = 0;
      for (std::uint32_t left = n; left > 1;)
      {
        std::uint32_t const half = left / 2;
        at += x >= pieces[at + half].first ? half : 0;
        left -= half;
      }
      double const distance = x - pieces[at].origin;
#ifdef __CUDA_ARCH__
      // as on CPUs, without contraction
      return __dadd_rn(pieces[at].offset, __dmul_rn(distance, scale));
#else
      return pieces[at].offset + distance * scale;
#endif
    }
  };
}
