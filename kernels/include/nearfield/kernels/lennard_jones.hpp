#pragma once

#include <nearfield/core/interaction.hpp>

/// \file
/// The 12-6 potential with a cutoff, an example of an interaction over a cell list. It is not compiled into
/// the library. nearfield_add_interaction() compiles it if given a header of yours that includes this one and
/// <nearfield/p2p/every_isa.hpp> and ends in NEARFIELD_INTERACTION(nearfield::lennard_jones_cutoff<3>), as
/// examples/04_radius_search/density.hpp does for sph_density. Without CMake, a file that uses it on the CPU
/// includes <nearfield/p2p/simd.hpp>. For a GPU, one .cu file includes <nearfield/p2p/cuda.cuh> and says
///
///     NEARFIELD_CUDA_KERNELS(nearfield::lennard_jones_cutoff<3>)
///
/// For StarPU tasks on GPUs, derive a struct with `static constexpr bool has_cuda = true`
/// and name that one instead.
/// (J. E. Lennard-Jones, Proc. Phys. Soc. 43, 461, 1931, doi:10.1088/0959-5309/43/5/301)

namespace nearfield
{
  /// K(r) = 4 epsilon ((sigma/|r|)^12 - (sigma/|r|)^6) where |r| < cutoff, else 0. It is not shifted, so K
  /// jumps at the cutoff. sigma and cutoff are lengths, epsilon is an energy. With q = 1, out_i is the energy
  /// of all pairs of point i, so sum_i out_i is twice the total energy. Singular.
  ///
  /// The kernel compares its own |r|^2 with the cutoff: for a pair within rounding of it, the result may
  /// differ from that of a radius search.
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
  /// |r| < cutoff, else 0. With q = 1, the force on point i is -out_i. Singular.
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
