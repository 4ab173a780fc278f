#pragma once

#include <nearfield/core/interaction.hpp>

#include <numbers>

namespace nearfield
{
  /// K(r) = W(|r|, h), the cubic spline of smoothed particle hydrodynamics, with masses as inputs:
  ///
  ///     W = s ((2 - q)^3 / 4 - (1 - q)^3), q = |r| / h, each cube zero where its base is negative,
  ///
  /// with s = 10 / (7 pi h^2) in 2D and 1 / (pi h^3) in 3D, so that its integral is 1. h is a length; W = 0 for
  /// |r| >= 2 h, the cutoff of the cell list. Regular. A point does not meet itself: the density at i is
  /// out_i + m_i at_zero(). Not compiled into the library; <nearfield/kernels/lennard_jones.hpp> says how to
  /// use such an interaction.
  /// (J. J. Monaghan and J. C. Lattanzio, Astron. Astrophys. 149, 135, 1985)
  template <int Dim = 3>
  struct sph_density
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 12 + 2;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "sph_density";

    double h = 1; ///< length^1, positive

    /// The radius beyond which W = 0, a length.
    [[nodiscard]] NEARFIELD_FN constexpr double cutoff() const { return 2 * h; }
    /// W(0, h), length^-dim.
    [[nodiscard]] constexpr double at_zero() const { return scale(); }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 1, 1>
    {
      V const q = V(1 / h) * nearfield::sqrt(dot(r, r));
      V const outer = keep_less(q, V(2), V(2) - q);
      V const inner = keep_less(q, V(1), V(1) - q);
      V const quarter = V(0.25) * (outer * outer * outer);
      return {{{V(scale()) * (quarter - inner * inner * inner)}}};
    }

  private:
    [[nodiscard]] NEARFIELD_FN constexpr double scale() const
    {
      return Dim == 2 ? 10 / (7 * std::numbers::pi * h * h) : 1 / (std::numbers::pi * h * h * h);
    }
  };
}
