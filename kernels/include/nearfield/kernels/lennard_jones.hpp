#pragma once

#include <nearfield/core/interaction.hpp>

/// \file
/// The 12-6 potential with a cutoff, an example of an interaction over a cell list. Not compiled into the
/// library: a file that uses it on the CPU includes <nearfield/p2p/simd.hpp>, and for a GPU one .cu file says
///
///     NEARFIELD_CUDA_KERNELS(nearfield::lennard_jones_cutoff<3>)
///
/// after <nearfield/p2p/cuda.cuh>, as for one of your own. GPU tasks of StarPU want that promised, by a struct
/// that derives from it, with `static constexpr bool has_cuda = true`.
/// (J. E. Lennard-Jones, Proc. Phys. Soc. 43, 461, 1931, doi:10.1088/0959-5309/43/5/301)

namespace nearfield
{
  /// K(r) = 4 epsilon ((sigma/|r|)^12 - (sigma/|r|)^6) where |r| < cutoff, else 0: not shifted, so K jumps
  /// there. sigma and cutoff are lengths, epsilon an energy; the sum over j is twice the energy that a
  /// point takes part in. Singular.
  ///
  /// On which side of the cutoff a pair is, is decided by |r|^2 as the kernel computes it: within a rounding
  /// of the shell that may be another side than a radius search takes.
  template <int Dim = 3>
  struct lennard_jones_cutoff
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 6 + 1 + 2;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "lennard_jones_cutoff";

    double sigma = 1;    ///< length^1
    double epsilon = 1;  ///< energy
    double cutoff = 2.5; ///< length^1

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> mat<V, 1, 1>
    {
      V const s = V(sigma) * inv_r;
      V const s2 = s * s;
      V const s6 = s2 * s2 * s2;
      V const value = V(4 * epsilon) * s6 * (s6 - V(1));
      return {{{keep_less(dot(r, r), V(cutoff * cutoff), value)}}};
    }
  };

  /// K(r) = grad_x of the potential above = -24 epsilon (2 (sigma/|r|)^12 - (sigma/|r|)^6) r / |r|^2 where
  /// |r| < cutoff, else 0: the force on a point is minus the sum. Singular.
  template <int Dim = 3>
  struct grad_lennard_jones_cutoff
  {
    static constexpr int dim = Dim, n_in = 1, n_out = Dim;
    static constexpr int flops = Dim + (2 * Dim - 1) + 1 + 9 + 1 + 2 * Dim;
    static constexpr auto name = "grad_lennard_jones_cutoff";

    double sigma = 1;    ///< length^1
    double epsilon = 1;  ///< energy
    double cutoff = 2.5; ///< length^1

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> radial<V, dim>
    {
      V const inv_r2 = inv_r * inv_r;
      V const s2 = V(sigma * sigma) * inv_r2;
      V const s6 = s2 * s2 * s2;
      V const value = V(-24 * epsilon) * inv_r2 * s6 * (s6 + s6 - V(1));
      return {keep_less(dot(r, r), V(cutoff * cutoff), value), r};
    }
  };
}
