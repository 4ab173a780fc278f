#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/core/numbers.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

/// \file
/// The 12-6 potential with a cutoff: alone, its gradient, and by types with force and virial. They are interactions
/// over a cell list and not compiled into the library. nearfield_add_interaction() compiles one for a header of yours that
/// includes this one and <nearfield/p2p/every_isa.hpp> and ends in NEARFIELD_INTERACTION(nearfield::lennard_jones<3, 2>),
/// as examples/04_radius_search/density.hpp does for sph_density. Without CMake, a file that uses it on the CPU
/// includes <nearfield/p2p/simd.hpp>. For a GPU, one .cu file includes <nearfield/p2p/cuda.cuh> and says
///
///     NEARFIELD_CUDA_KERNELS(nearfield::lennard_jones<3, 2>)
///
/// For StarPU tasks on GPUs, derive a struct and name that one instead:
///
///     struct mixture : nearfield::lennard_jones<3, 2>
///     {
///       using lennard_jones::lennard_jones;
///       static constexpr bool has_cuda = true;
///     };
///
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

  /// How the potential ends at the cutoff.
  enum class lennard_jones_tail
  {
    cut,     ///< with a jump
    shifted, ///< less its value at the cutoff
    switched ///< times 1 - 10 t^3 + 15 t^4 - 6 t^5, where t runs from 0 at `switch_from` times the cutoff to 1 there
  };

  /// The parameters of each pair of types, as symmetric matrices, row by row.
  template <int Types>
  struct lennard_jones_types
  {
    std::array<double, Types * Types> sigma;   ///< length^1
    std::array<double, Types * Types> epsilon; ///< energy
    std::array<double, Types * Types> cutoff;  ///< length^1; 0: such pairs do not interact
    double switch_from = 0.9; ///< in [0, 1): where a switched tail begins, in cutoffs
  };

  /// Half the energy of each pair, the force and half the virial, of points of several types a, b:
  ///
  ///     E(r) = 4 epsilon_ab ((sigma_ab/|r|)^12 - (sigma_ab/|r|)^6) where |r| < cutoff_ab, else 0, with a tail,
  ///     F = -grad E,
  ///     out = (E / 2, F, the upper triangle of r F^T / 2 row by row)
  ///
  /// With q = 1, out_i is the energy of point i, the force on it and its virial. Their sums over all points are the total
  /// energy, zero, and sum over pairs of r F^T, so that the pressure of N points in a volume V is (N k T + trace / Dim) / V.
  /// The parameter of a point is its type, a whole number below Types, not checked: a column of reals after the coordinates.
  /// One type needs none. Singular. It compares its own |r|^2 with the square of the cutoff.
  template <int Dim = 3, int Types = 1, lennard_jones_tail Tail = lennard_jones_tail::shifted>
  class lennard_jones
  {
    static constexpr int entries = Types * Types;

  public:
    static constexpr int dim = Dim, n_in = 1, n_out = 1 + Dim + Dim * (Dim + 1) / 2;
    static constexpr int n_parameters = Types > 1 ? 1 : 0; ///< the type
    /// of one evaluation and its accumulation
    static constexpr int flops =
        3 * Dim + 17 + (Tail == lennard_jones_tail::switched ? 20 : 1) + 2 * n_out;
    static constexpr auto name = "lennard_jones";

    /// Throws nearfield::error for matrices that are not symmetric or not finite, a sigma or cutoff below 0, and
    /// switch_from outside [0, 1).
    explicit lennard_jones(lennard_jones_types<Types> const& of)
    {
      if (!(of.switch_from >= 0 && of.switch_from < 1))
        throw error("lennard_jones: switch_from is " + detail::number_text(of.switch_from) +
                    "; give a part of the cutoff, at least 0 and below 1");
      check("sigma", of.sigma, 0);
      check("epsilon", of.epsilon, -std::numeric_limits<double>::max());
      check("cutoff", of.cutoff, 0);
      for (int i = 0; i < entries; ++i)
      {
        auto const at = static_cast<std::size_t>(i);
        double const r = of.cutoff[at], s6 = r > 0 ? std::pow(of.sigma[at] / r, 6) : 0;
        most_cutoff_ = std::max(most_cutoff_, r);
        sigma_.set(i, of.sigma[at]);
        epsilon_.set(i, 4 * of.epsilon[at]);
        cutoff2_.set(i, r * r);
        if (Tail == lennard_jones_tail::shifted)
          tail_[0].set(i, 4 * of.epsilon[at] * s6 * (s6 - 1));
        if (Tail == lennard_jones_tail::switched)
        {
          tail_[0].set(i, of.switch_from * r);
          tail_[1].set(i, r > 0 ? 1 / (r - of.switch_from * r) : 0);
        }
      }
    }

    /// The largest of the cutoffs, length^1: beyond it all is zero.
    [[nodiscard]] NEARFIELD_FN double cutoff() const { return most_cutoff_; }

    /// What one pair gives: even, but for the force.
    template <class V>
    struct map
    {
      V half_energy; ///< E / 2
      V factor;      ///< F = factor r
      vec<V, Dim> r; ///< as it was given

      NEARFIELD_FN vec<V, n_out> to(vec<V, 1> const& q) const { return times<1>(q); }
      NEARFIELD_FN vec<V, n_out> back(vec<V, 1> const& q) const { return times<-1>(q); }

    private:
      template <int Sign>
      NEARFIELD_FN vec<V, n_out> times(vec<V, 1> const& q) const
      {
        vec<V, Dim> const force = (factor * q[0]) * r;
        vec<V, n_out> out;
        out[0] = half_energy * q[0];
        int next = 1 + Dim;
        NEARFIELD_UNROLL
        for (int a = 0; a < Dim; ++a)
        {
          out[1 + a] = Sign > 0 ? force[a] : -force[a];
          V const half = V(0.5) * force[a];
          NEARFIELD_UNROLL
          for (int b = a; b < Dim; ++b) out[next++] = half * r[b];
        }
        return out;
      }
    };

    /// K(r)
    template <class V>
      requires(Types == 1)
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> map<V>
    {
      return of_types(r, inv_r, V(0));
    }
    /// K(r) of a target and a source of these types
    template <class V>
      requires(Types > 1)
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r, vec<V, 1> const& target,
                                 vec<V, 1> const& source) const -> map<V>
    {
      return of_types(r, inv_r, V(Types) * target[0] + source[0]);
    }

  private:
    static void check(char const* what, std::array<double, entries> const& matrix, double least)
    {
      for (std::size_t a = 0; a < Types; ++a)
        for (std::size_t b = 0; b < Types; ++b)
        {
          double const value = matrix[a * Types + b];
          if (std::isfinite(value) && value >= least && value == matrix[b * Types + a]) continue;
          throw error("lennard_jones: " + std::string(what) + " of types " + std::to_string(a) +
                      " and " + std::to_string(b) + " is " + detail::number_text(value) +
                      "; give a symmetric matrix of finite numbers, and no negative lengths");
        }
    }

    template <class V>
    NEARFIELD_FN auto of_types(vec<V, dim> const& r, V const& inv_r, V const& pair) const -> map<V>
    {
      V const r2 = dot(r, r), inv_r2 = inv_r * inv_r;
      V const s = sigma_.at(pair) * inv_r, s2 = s * s, s6 = s2 * s2 * s2;
      V const e6 = epsilon_.at(pair) * s6;
      V energy = e6 * (s6 - V(1));
      V factor = V(6) * e6 * (s6 + s6 - V(1)) * inv_r2;
      if constexpr (Tail == lennard_jones_tail::shifted)
        energy = keep_less(V(0), inv_r, energy - tail_[0].at(pair)); // nothing at r = 0
      if constexpr (Tail == lennard_jones_tail::switched)
      {
        V const steep = tail_[1].at(pair), past = (r2 * inv_r - tail_[0].at(pair)) * steep;
        V const t = keep_less(V(0), past, past), rest = V(1) - t;
        V const by = V(1) + t * t * t * (V(-10) + t * (V(15) - V(6) * t));
        // where t is 0, the energy may be infinite
        factor = factor * by +
                 keep_less(V(0), t, V(30) * steep * inv_r * energy * (t * t) * (rest * rest));
        energy = energy * by;
      }
      V const cutoff2 = cutoff2_.at(pair);
      return {V(0.5) * keep_less(r2, cutoff2, energy), keep_less(r2, cutoff2, factor), r};
    }

    // 4 epsilon, and what the tail needs
    double most_cutoff_ = 0;
    lookup_table<entries> sigma_, epsilon_, cutoff2_, tail_[2]{};
  };
}
