#pragma once

/// \file
/// Smoothed particle hydrodynamics: densities and their gradients, with one smoothing length or one of each point.
///
/// A kernel W(r, h) = s / h^Dim w(q), q = |r| / h, is zero from q = 2 on, and s makes its integral 1. It is regular. A point
/// does not meet itself: add m_i at_zero() of its h to a density. h is a length and positive.

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/type_list.hpp>

#include <array>
#include <numbers>
#include <string_view>

namespace nearfield
{
  /// The kernels W. Of q = |r| / h below 2:
  enum class sph_kernel
  {
    /// w = (2 - q)^3 / 4 - (1 - q)^3, each cube zero where its base is negative; s = 10 / (7 pi) in 2D, 1 / pi in 3D.
    /// (J. J. Monaghan and J. C. Lattanzio, Astron. Astrophys. 149, 135, 1985)
    cubic_spline,
    /// w = (1 - q / 2)^4 (2 q + 1); s = 7 / (4 pi) in 2D, 21 / (16 pi) in 3D. Its support is 2 h, Dehnen's and Aly's H.
    /// (W. Dehnen and H. Aly, MNRAS 425, 1068, 2012, table 1, doi:10.1111/j.1365-2966.2012.21439.x)
    wendland_c2
  };

  namespace detail
  {
    template <int Dim, sph_kernel Kernel>
    struct sph
    {
      static constexpr bool is_cubic = Kernel == sph_kernel::cubic_spline;
      static constexpr double of_plane = is_cubic ? 10. / 7 : 7. / 4,
                              of_space = is_cubic ? 1 : 21. / 16;
      static constexpr double scale = (Dim == 2 ? of_plane : of_space) / std::numbers::pi;
      static constexpr std::string_view source =
          is_cubic ? "Monaghan and Lattanzio 1985, Astron. Astrophys. 149, 135"
                   : "Dehnen and Aly 2012, doi:10.1111/j.1365-2966.2012.21439.x";
      static constexpr int flops = 3 * Dim + 1 + (is_cubic ? 12 : 8); ///< of W and its sum

      /// h^-Dim
      template <class V>
      static NEARFIELD_FN constexpr V density_of(V const& inv_h)
      {
        return Dim == 2 ? inv_h * inv_h : inv_h * inv_h * inv_h;
      }

      /// W(0, h)
      static constexpr double at_zero(double h) { return scale * density_of(1 / h); }

      /// W
      template <class V>
      static NEARFIELD_FN V value(vec<V, Dim> const& r, V const& inv_h)
      {
        V const r2 = dot(r, r);
        return V(scale) * density_of(inv_h) * shape(r2 * rsqrt_or_zero(r2) * inv_h);
      }

      /// [W; grad W]
      template <class V>
      static NEARFIELD_FN value_and_radial<V, Dim> gradient(vec<V, Dim> const& r, V const& h,
                                                            V const& inv_h)
      {
        V const r2 = dot(r, r), inv_r = rsqrt_or_zero(r2), q = r2 * inv_r * inv_h;
        V const by = V(scale) * density_of(inv_h);
        return {by * shape(q), by * inv_h * inv_h * slope(q, inv_r * h), r};
      }

    private:
      /// w
      template <class V>
      static NEARFIELD_FN V shape(V const& q)
      {
        if constexpr (is_cubic)
        {
          V const outer = keep_less(q, V(2), V(2) - q), inner = keep_less(q, V(1), V(1) - q);
          return V(0.25) * (outer * outer * outer) - inner * inner * inner;
        }
        else
        {
          V const a = V(1) - V(0.5) * q, a2 = a * a;
          return keep_less(q, V(2), a2 * a2 * (q + q + V(1)));
        }
      }

      /// w' / q
      template <class V>
      static NEARFIELD_FN V slope(V const& q, V const& inv_q)
      {
        if constexpr (is_cubic)
        {
          V const rest = V(2) - q, outer = V(-0.75) * (rest * rest) * inv_q;
          return select_less(q, V(1), V(2.25) * q - V(3), keep_less(q, V(2), outer));
        }
        else
        {
          V const a = V(1) - V(0.5) * q;
          return keep_less(q, V(2), V(-5) * (a * a * a));
        }
      }
    };
  }

  /// K(r) = W(r, h) with one h for all points, masses as inputs and densities as outputs.
  template <int Dim = 3, sph_kernel Kernel = sph_kernel::cubic_spline>
  struct sph_density
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1;
    static constexpr int flops = detail::sph<Dim, Kernel>::flops;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name =
        detail::sph<Dim, Kernel>::is_cubic ? "sph_density" : "sph_density_wendland";
    static constexpr std::string_view formula = "W(r, h)",
                                      source = detail::sph<Dim, Kernel>::source;
    static constexpr std::string_view inputs = "mass", outputs = "density";

    double h = 1; ///< length^1, positive

    static constexpr auto parameters()
    {
      return std::array{
          parameter<sph_density>{"h", &sph_density::h, parameter_range::positive, "length"}};
    }

    /// The radius beyond which W = 0, a length.
    [[nodiscard]] NEARFIELD_FN constexpr double cutoff() const { return 2 * h; }
    /// W(0, h), length^-dim.
    [[nodiscard]] constexpr double at_zero() const { return detail::sph<Dim, Kernel>::at_zero(h); }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 1, 1>
    {
      return {{{detail::sph<Dim, Kernel>::value(r, V(1 / h))}}};
    }
  };

  /// K(r) = W(r, h_target), the density that a point gathers within 2 h of its own. The way back has h of the source.
  /// (J. J. Monaghan, Annu. Rev. Astron. Astrophys. 30, 543, 1992, doi:10.1146/annurev.aa.30.090192.002551)
  template <int Dim = 3, sph_kernel Kernel = sph_kernel::cubic_spline>
  struct sph_gather_density
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1, n_parameters = 1;
    static constexpr int flops = detail::sph<Dim, Kernel>::flops + Dim + 1;
    static constexpr bool is_regular = true;
    static constexpr auto name =
        detail::sph<Dim, Kernel>::is_cubic ? "sph_gather_density" : "sph_gather_density_wendland";
    static constexpr std::string_view formula = "W(r, h_i)",
                                      source = detail::sph<Dim, Kernel>::source;
    static constexpr std::string_view inputs = "mass", outputs = "density";
    static constexpr std::array point_parameters{
        point_parameter{"h", parameter_range::positive, "length"}};

    /// W(0, h), length^-dim.
    [[nodiscard]] static constexpr double at_zero(double h)
    {
      return detail::sph<Dim, Kernel>::at_zero(h);
    }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, vec<V, 1> const& i, vec<V, 1> const& j) const
        -> detail::two_ways<V>
    {
      using sph = detail::sph<Dim, Kernel>;
      return {sph::value(r, V(1) / i[0]), sph::value(r, V(1) / j[0])};
    }
  };

  /// K(r) = W(r, h), h = (h_target + h_source) / 2, the density by a symmetric kernel.
  /// (J. J. Monaghan, Annu. Rev. Astron. Astrophys. 30, 543, 1992, doi:10.1146/annurev.aa.30.090192.002551)
  template <int Dim = 3, sph_kernel Kernel = sph_kernel::cubic_spline>
  struct sph_symmetric_density
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1, n_parameters = 1;
    static constexpr int flops = detail::sph<Dim, Kernel>::flops + Dim + 3;
    static constexpr bool is_regular = true;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = detail::sph<Dim, Kernel>::is_cubic
                                     ? "sph_symmetric_density"
                                     : "sph_symmetric_density_wendland";
    static constexpr std::string_view formula = "W(r, (h_i + h_j) / 2)",
                                      source = detail::sph<Dim, Kernel>::source;
    static constexpr std::string_view inputs = "mass", outputs = "density";
    static constexpr std::array point_parameters{
        point_parameter{"h", parameter_range::positive, "length"}};

    /// W(0, h), length^-dim.
    [[nodiscard]] static constexpr double at_zero(double h)
    {
      return detail::sph<Dim, Kernel>::at_zero(h);
    }

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, vec<V, 1> const& i, vec<V, 1> const& j) const
        -> mat<V, 1, 1>
    {
      return {{{detail::sph<Dim, Kernel>::value(r, V(2) / (i[0] + j[0]))}}};
    }
  };

  /// K(r) = [W(r, h); grad_x W(r, h)], h = (h_target + h_source) / 2: the symmetric density and its gradient with respect to
  /// the target. The gradient is zero at r = 0. With m_j A_j / rho_j as inputs it gives A and grad A at the target.
  /// (J. J. Monaghan, Annu. Rev. Astron. Astrophys. 30, 543, 1992, doi:10.1146/annurev.aa.30.090192.002551)
  template <int Dim = 3, sph_kernel Kernel = sph_kernel::cubic_spline>
  struct sph_gradient
  {
    static constexpr int dim = Dim, n_in = 1, n_out = 1 + Dim, n_parameters = 1;
    static constexpr int flops = detail::sph<Dim, Kernel>::flops + 3 * Dim + 14;
    static constexpr bool is_regular = true;
    static constexpr auto name =
        detail::sph<Dim, Kernel>::is_cubic ? "sph_gradient" : "sph_gradient_wendland";
    static constexpr std::string_view formula = "[W; grad W](r, (h_i + h_j) / 2)",
                                      source = detail::sph<Dim, Kernel>::source;
    static constexpr std::string_view inputs = "mass", outputs = "density, its gradient";
    static constexpr std::array point_parameters{
        point_parameter{"h", parameter_range::positive, "length"}};

    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, vec<V, 1> const& i, vec<V, 1> const& j) const
        -> value_and_radial<V, dim>
    {
      V const sum = i[0] + j[0];
      return detail::sph<Dim, Kernel>::gradient(r, V(0.5) * sum, V(2) / sum);
    }
  };
}

namespace nearfield::detail
{
  // the other forms of Wendland's kernel are compiled where they are used, as interactions of a user's own
  using sph_interactions =
      type_list<sph_density<2>, sph_density<3>, sph_gather_density<3>, sph_symmetric_density<3>,
                sph_gradient<2>, sph_gradient<3>, sph_gather_density<3, sph_kernel::wendland_c2>,
                sph_gradient<3, sph_kernel::wendland_c2>>;
}
