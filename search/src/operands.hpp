#pragma once

#include "registers.hpp"
#include "search_kernels.hpp"

#include <nearfield/core/soa.hpp>

/// \file
/// The operands of the loop over pairs.

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The displacement in an image: minus a shift and, on minimum-image axes, of the nearest image.
  ///
  /// If the list gives the image m of a periodic axis, d - m L is what the definition d - L round(d / L)
  /// computes, or the pair is out by both. Cells that meet do so through one image m only, so a pair within
  /// the cutoff is so through m. Then |d - m L| < R <= L / 2 makes round(d / L) = m, also as computed: no
  /// number below 1 / 2 is rounded to it in the division. Any other image is at |d - m L| >= L / 2 >= R,
  /// which is out. By the same argument round(d / L) is 1 from d = L / 2 on, -1 from -L / 2 down, and 0
  /// between: points lie in [0, L), so |d| < L.
  template <class L, int Dim>
  struct image
  {
    typename L::reg shift[Dim];
    typename L::reg half[Dim]; // L / 2; infinite on other axes
    typename L::reg period[Dim];

    NEARFIELD_FN typename L::reg apply(int a, typename L::reg d) const
    {
      return d - L::signed_step(d, half[a], period[a]) - shift[a];
    }
  };

  template <class L, int Dim, int B>
  struct target_registers
  {
    typename L::reg x[B][Dim];

    NEARFIELD_FN target_registers(soa<typename L::real const, Dim> const& points, index_type first)
    {
      NEARFIELD_UNROLL
      for (int b = 0; b < B; ++b)
      {
        NEARFIELD_UNROLL
        for (int a = 0; a < Dim; ++a) x[b][a] = typename L::reg(points[a][first + b]);
      }
    }
  };

  /// The square of the cutoff for the lanes of a step that hold a source, and -1, which no r^2 is below, for
  /// the `absent` ones after them. A step is one register or two.
  template <class L>
  class cutoff_window
  {
  public:
    explicit cutoff_window(typename L::real squared)
    {
      for (int l = 0; l < 2 * widest; ++l) values_[l] = l < widest ? squared : typename L::real(-1);
    }
    /// for a step of this width with all lanes; with absent lanes, start as many places later
    template <int Width>
    [[nodiscard]] typename L::real const* lanes() const
    {
      return values_ + (widest - Width);
    }

  private:
    static constexpr int widest = L::index_registers * L::width;
    typename L::real values_[2 * widest];
  };

  /// The input of a sweep.
  template <class L, int Dim>
  struct source_columns
  {
    typename L::real const* x[Dim];
    index_type const* ids;
    typename L::real const* cutoff_squared; // from a cutoff_window
    search_step const* steps;
  };
}
