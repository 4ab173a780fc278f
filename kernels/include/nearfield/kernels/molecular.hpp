#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/core/type_list.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

/// \file
/// The 12-6 potential with a cutoff, its force and virial: with sigma and epsilon of each point, or by types from tables.
/// (J. E. Lennard-Jones, Proc. Phys. Soc. 43, 461, 1931, doi:10.1088/0959-5309/43/5/301)
///
/// Tables are template arguments, so lennard_jones<Dim, Types, Tail> is not compiled into the library.
/// nearfield_add_interaction() compiles one for a header of yours that includes this one and <nearfield/p2p/every_isa.hpp>
/// and ends in NEARFIELD_INTERACTION(nearfield::lennard_jones<3, 2>). Without CMake, a file that uses it on the CPU
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

namespace nearfield
{
  /// How the potential ends at the cutoff.
  enum class lennard_jones_tail
  {
    cut,     ///< with a jump
    shifted, ///< less its value at the cutoff
    switched ///< times (1 - t)^3 (1 + 3 t + 6 t^2), where t runs from 0, where the switch begins, to 1 at the cutoff
  };

  namespace detail
  {
    /// What one pair gives: half the energy, the force and half the virial. Even, but for the force.
    template <class V, int Dim>
    struct energy_force_virial
    {
      static constexpr int n_out = 1 + Dim + Dim * (Dim + 1) / 2;

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

    /// The parameters of a pair.
    template <class V>
    struct lennard_jones_pair
    {
      V sigma, four_epsilon, cutoff2;
      V tail;  ///< the energy at the cutoff (shifted) or where the switch begins (switched)
      V steep; ///< 1 / (cutoff - tail) (switched)
    };

    /// The operations of a pair and its accumulation.
    constexpr int lennard_jones_flops(int dim, lennard_jones_tail tail)
    {
      return 3 * dim + 17 + (tail == lennard_jones_tail::switched ? 20 : 1) +
             2 * (1 + dim + dim * (dim + 1) / 2);
    }

    template <lennard_jones_tail Tail, class V, int Dim>
    NEARFIELD_FN auto lennard_jones_at(vec<V, Dim> const& r, V const& inv_r,
                                       lennard_jones_pair<V> const& of)
        -> energy_force_virial<V, Dim>
    {
      V const r2 = dot(r, r);
      V const s = of.sigma * inv_r, s2 = s * s, s6 = s2 * s2 * s2;
      V const e6 = of.four_epsilon * s6;
      V energy = e6 * (s6 - V(1));
      V factor = V(6) * e6 * (s6 + s6 - V(1)) * (inv_r * inv_r);
      if constexpr (Tail == lennard_jones_tail::shifted)
        energy = keep_less(V(0), inv_r, energy - of.tail); // nothing at r = 0
      if constexpr (Tail == lennard_jones_tail::switched)
      {
        V const past = (r2 * inv_r - of.tail) * of.steep;
        V const t = keep_less(V(0), past, past), rest = V(1) - t;
        V const by = rest * rest * rest * (V(1) + t * (V(3) + V(6) * t));
        // where t is 0, the energy may be infinite
        factor = factor * by +
                 keep_less(V(0), t, V(30) * of.steep * inv_r * energy * (t * t) * (rest * rest));
        energy = energy * by;
      }
      return {V(0.5) * keep_less(r2, of.cutoff2, energy), keep_less(r2, of.cutoff2, factor), r};
    }
  }

  /// Half the energy of each pair, the force and half the virial, of points that each have a length sigma and an energy
  /// epsilon, not negative, mixed by the rules of Lorentz and Berthelot:
  ///
  ///     sigma_ij = (sigma_i + sigma_j) / 2, epsilon_ij = sqrt(epsilon_i epsilon_j)
  ///     E(r) = 4 epsilon_ij ((sigma_ij/|r|)^12 - (sigma_ij/|r|)^6) where |r| < r_c, else 0, with a tail,
  ///     F = -grad E,
  ///     out = (E / 2, F, the upper triangle of r F^T / 2 row by row)
  ///
  /// With q = 1, out_i is the energy of point i, the force on it and its virial, as of lennard_jones below. Singular. It
  /// compares its own |r|^2 with r_c^2.
  /// (H. A. Lorentz, Ann. Phys. 248, 127, 1881, doi:10.1002/andp.18812480110; D. Berthelot, C. R. Acad. Sci. 126, 1703,
  /// 1898)
  template <int Dim = 3, lennard_jones_tail Tail = lennard_jones_tail::shifted>
  struct mixed_lennard_jones
  {
    static constexpr int dim = Dim; ///< of space
    static constexpr int n_in = 1;  ///< inputs of a source
    /// outputs of a target
    static constexpr int n_out = detail::energy_force_virial<double, Dim>::n_out;
    static constexpr int n_parameters = 2; ///< sigma, epsilon
    static constexpr int flops =
        detail::lennard_jones_flops(Dim, Tail) + 6 + (Tail == lennard_jones_tail::shifted ? 6 : 0);
    static constexpr auto name = Tail == lennard_jones_tail::cut       ? "lennard_jones_cut"
                                 : Tail == lennard_jones_tail::shifted ? "lennard_jones_shifted"
                                                                       : "lennard_jones_switched";
    static constexpr std::string_view
        formula =
            Tail == lennard_jones_tail::switched
                ? "(E / 2, F, r F^T / 2), E = 4 epsilon ((sigma / |r|)^12 - (sigma / |r|)^6) S(t), "
                  "S(t) = 1 - 10 t^3 + 15 t^4 - 6 t^5, t from 0 at r_c - switch_width to 1 at r_c, "
                  "with sigma = (sigma_i + sigma_j) / 2, epsilon = sqrt(epsilon_i epsilon_j)"
            : Tail == lennard_jones_tail::shifted
                ? "(E / 2, F, r F^T / 2), E = e(|r|) - e(r_c) within r_c, e(s) = 4 epsilon "
                  "((sigma / s)^12 - (sigma / s)^6), with sigma = (sigma_i + sigma_j) / 2, epsilon "
                  "= sqrt(epsilon_i epsilon_j)"
                : "(E / 2, F, r F^T / 2), E = 4 epsilon ((sigma / |r|)^12 - (sigma / |r|)^6) "
                  "within r_c, with sigma = (sigma_i + sigma_j) / 2, epsilon = "
                  "sqrt(epsilon_i epsilon_j)",
        source = "Lennard-Jones 1931, doi:10.1088/0959-5309/43/5/301";
    static constexpr std::string_view inputs = "1",
                                      outputs = "energy, force, upper triangle of the virial";
    static constexpr std::array point_parameters{
        point_parameter{"sigma", parameter_range::not_negative, "length"},
        point_parameter{"epsilon", parameter_range::not_negative, "energy"}};

    double r_c = 2.5;          ///< the cutoff, length^1, positive
    double switch_width = 0.5; ///< switched: it begins so far before the cutoff; length^1, positive

    static constexpr auto parameters()
    {
      using self = mixed_lennard_jones;
      parameter<self> const cutoff{"r_c", &self::r_c, parameter_range::positive, "length"};
      if constexpr (Tail == lennard_jones_tail::switched)
        return std::array{cutoff, parameter<self>{"switch_width", &self::switch_width,
                                                  parameter_range::positive, "length"}};
      else
        return std::array{cutoff};
    }

    /// r_c: beyond it all is zero.
    [[nodiscard]] NEARFIELD_FN constexpr double cutoff() const { return r_c; }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r, vec<V, 2> const& i,
                                 vec<V, 2> const& j) const -> detail::energy_force_virial<V, Dim>
    {
      detail::lennard_jones_pair<V> pair{V(0.5) * (i[0] + j[0]),
                                         V(4) * (nearfield::sqrt(i[1]) * nearfield::sqrt(j[1])),
                                         V(r_c * r_c), V(r_c - switch_width), V(1 / switch_width)};
      if constexpr (Tail == lennard_jones_tail::shifted)
      {
        V const s = pair.sigma * V(1 / r_c), s3 = s * s * s, s6 = s3 * s3;
        pair.tail = pair.four_epsilon * s6 * (s6 - V(1));
      }
      return detail::lennard_jones_at<Tail>(r, inv_r, pair);
    }
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
  /// The parameter of a point is its type, a whole number below Types: a column of reals after the coordinates. A pair of
  /// which a type is another number, or NaN, is taken for a pair of some two types. One type needs none. Singular. It compares its own |r|^2 with the square of the cutoff.
  template <int Dim = 3, int Types = 1, lennard_jones_tail Tail = lennard_jones_tail::shifted>
  class lennard_jones
  {
    static constexpr int entries = Types * Types;

  public:
    static constexpr int dim = Dim; ///< of space
    static constexpr int n_in = 1;  ///< inputs of a source
    /// outputs of a target
    static constexpr int n_out = detail::energy_force_virial<double, Dim>::n_out;
    static constexpr int n_parameters = Types > 1 ? 1 : 0; ///< the type
    static constexpr int flops = detail::lennard_jones_flops(Dim, Tail);
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
        four_epsilon_.set(i, 4 * of.epsilon[at]);
        cutoff2_.set(i, r * r);
        if (Tail == lennard_jones_tail::shifted) tail_.set(i, 4 * of.epsilon[at] * s6 * (s6 - 1));
        if (Tail == lennard_jones_tail::switched)
        {
          tail_.set(i, of.switch_from * r);
          steep_.set(i, r > 0 ? 1 / (r - of.switch_from * r) : 0);
        }
      }
    }

    /// The largest of the cutoffs, length^1: beyond it all is zero.
    [[nodiscard]] NEARFIELD_FN double cutoff() const { return most_cutoff_; }

    /// K(r)
    template <class V>
      requires(Types == 1)
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const
        -> detail::energy_force_virial<V, Dim>
    {
      return of_types(r, inv_r, V(0));
    }
    /// K(r) of a target and a source of these types
    template <class V>
      requires(Types > 1)
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r, vec<V, 1> const& i,
                                 vec<V, 1> const& j) const -> detail::energy_force_virial<V, Dim>
    {
      return of_types(r, inv_r, V(Types) * i[0] + j[0]);
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
    NEARFIELD_FN auto of_types(vec<V, dim> const& r, V const& inv_r, V const& pair) const
        -> detail::energy_force_virial<V, Dim>
    {
      return detail::lennard_jones_at<Tail>(
          r, inv_r,
          detail::lennard_jones_pair<V>{sigma_.at(pair), four_epsilon_.at(pair), cutoff2_.at(pair),
                                        tail_.at(pair), steep_.at(pair)});
    }

    double most_cutoff_ = 0;
    lookup_table<entries> sigma_, four_epsilon_, cutoff2_, tail_{}, steep_{};
  };
}

namespace nearfield::detail
{
  using molecular_interactions = type_list<mixed_lennard_jones<3, lennard_jones_tail::shifted>,
                                           mixed_lennard_jones<3, lennard_jones_tail::switched>>;
}
