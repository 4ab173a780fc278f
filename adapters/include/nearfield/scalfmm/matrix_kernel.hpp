#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/math.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/scalfmm/interactions.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>

/// Properties of an interaction that ScalFMM's far-field interpolation exploits.
namespace nearfield::scalfmm3::far_field
{
  /// Symmetric: K has one output, which depends on |r| alone. Degrees: the degree of each output of a
  /// homogeneous K, K(a r) = a^degree K(r); the last one applies to all further outputs. Degrees are negative.
  template <bool Symmetric, int... Degrees>
  struct properties
  {
    /// whether K has one output, which depends on |r| alone
    static constexpr bool symmetric = Symmetric;
    /// whether the degrees are given
    static constexpr bool homogeneous = sizeof...(Degrees) > 0;

    /// The degree of an output.
    static constexpr int degree(int output)
    {
      constexpr int n = sizeof...(Degrees), degrees[] = {Degrees..., 0};
      return degrees[output < n ? output : n - 1];
    }
  };

  /// The properties of K. The default is always correct but slow; specialise it for your interactions.
  template <class K>
  struct traits : properties<false>
  {};
  /// 1/|r|
  template <int Dim>
  struct traits<one_over_r<Dim>> : properties<true, -1>
  {};
  /// its gradient
  template <int Dim>
  struct traits<grad_one_over_r<Dim>> : properties<false, -2>
  {};
  /// both
  template <int Dim>
  struct traits<val_grad_one_over_r<Dim>> : properties<false, -1, -2>
  {};
  /// ln |r|
  template <>
  struct traits<log_r> : properties<true>
  {};
  /// its gradient
  template <>
  struct traits<grad_log_r> : properties<false, -1>
  {};
  /// a Gaussian
  template <int Dim>
  struct traits<gaussian<Dim>> : properties<true>
  {};
  /// the field of dipoles
  template <int Dim>
  struct traits<dipole_tensor<Dim>> : properties<false, -3>
  {};
  /// 1/|r|^2
  template <int Dim>
  struct traits<one_over_r2<Dim>> : properties<true, -2>
  {};
  /// its gradient
  template <int Dim>
  struct traits<grad_one_over_r2<Dim>> : properties<false, -3>
  {};
  /// both
  template <int Dim>
  struct traits<val_grad_one_over_r2<Dim>> : properties<false, -2, -3>
  {};
  /// second derivatives of 1/|r|
  template <>
  struct traits<hess_one_over_r> : properties<false, -3>
  {};
  /// the potential of dipoles
  template <>
  struct traits<dipole_one_over_r> : properties<false, -2>
  {};
  /// exp(-kappa |r|)/|r|
  template <>
  struct traits<yukawa> : properties<true>
  {};
  /// the velocity of forces
  template <>
  struct traits<stokeslet> : properties<false, -1>
  {};
  /// that of torques
  template <>
  struct traits<rotlet> : properties<false, -2>
  {};
  /// that of vortices
  template <>
  struct traits<biot_savart> : properties<false, -2>
  {};
}

namespace nearfield::scalfmm3::detail
{
  /// The type of homogeneity_tag and symmetry_tag. Converts to, and compares with, the enumerators of
  /// ScalFMM's matrix_kernels::homogeneity and symmetry without including their header.
  struct tag
  {
    /// whether the kernel is homogeneous, or symmetric
    bool holds;

    /// the enumerator of matrix_kernels::homogeneity
    template <class Enum>
      requires requires { Enum::homogenous, Enum::non_homogenous; }
    constexpr operator Enum() const // NOLINT(google-explicit-constructor)
    {
      return holds ? Enum::homogenous : Enum::non_homogenous;
    }
    /// the enumerator of matrix_kernels::symmetry
    template <class Enum>
      requires requires { Enum::symmetric, Enum::non_symmetric; }
    constexpr operator Enum() const // NOLINT(google-explicit-constructor)
    {
      return holds ? Enum::symmetric : Enum::non_symmetric;
    }
    /// whether the tag converts to b
    template <class Enum>
      requires std::is_enum_v<Enum>
    friend constexpr bool operator==(tag a, Enum b)
    {
      return Enum(a) == b;
    }
  };

  /// A SIMD batch of another library as a value type of interactions. Its functions (sqrt, exp, log,
  /// select) are found by argument-dependent lookup, so no header of that library is needed here.
  template <class Batch>
  struct foreign
  {
    Batch value;

    foreign() = default;
    NEARFIELD_FN explicit foreign(Batch const& v) : value(v) {}
    template <class Real>
      requires std::is_arithmetic_v<Real>
    NEARFIELD_FN explicit foreign(Real v) : value(static_cast<typename Batch::value_type>(v))
    {}
    NEARFIELD_FN explicit operator Batch() const { return value; }

    friend NEARFIELD_FN foreign operator+(foreign const& a, foreign const& b)
    {
      return foreign(Batch(a.value + b.value));
    }
    friend NEARFIELD_FN foreign operator-(foreign const& a, foreign const& b)
    {
      return foreign(Batch(a.value - b.value));
    }
    friend NEARFIELD_FN foreign operator*(foreign const& a, foreign const& b)
    {
      return foreign(Batch(a.value * b.value));
    }
    friend NEARFIELD_FN foreign operator/(foreign const& a, foreign const& b)
    {
      return foreign(Batch(a.value / b.value));
    }
    friend NEARFIELD_FN foreign operator-(foreign const& a) { return foreign(Batch(-a.value)); }
  };

  // outside math<>, whose members of the same names would hide the batch's functions
  template <class Batch>
  NEARFIELD_FN Batch sqrt_of(Batch const& b)
  {
    return sqrt(b);
  }
  template <class Batch>
  NEARFIELD_FN Batch exp_of(Batch const& b)
  {
    return exp(b);
  }
  template <class Batch>
  NEARFIELD_FN Batch log_of(Batch const& b)
  {
    return log(b);
  }
  template <class Mask, class Batch>
  NEARFIELD_FN Batch keep(Mask const& mask, Batch const& b)
  {
    return select(mask, b, Batch(typename Batch::value_type(0)));
  }

  /// The value type that an interaction computes with for coordinates of type V.
  template <class V>
  using value_type_of = std::conditional_t<std::is_floating_point_v<V>, V, foreign<V>>;
}

namespace nearfield
{
  template <class Batch>
  struct math<scalfmm3::detail::foreign<Batch>>
  {
    using V = scalfmm3::detail::foreign<Batch>;
    using real = typename Batch::value_type;

    static NEARFIELD_FN V rsqrt(V const& x) { return V(1) / sqrt(x); }
    static NEARFIELD_FN V sqrt(V const& x) { return V(scalfmm3::detail::sqrt_of(x.value)); }
    static NEARFIELD_FN V exp(V const& x) { return V(scalfmm3::detail::exp_of(x.value)); }
    static NEARFIELD_FN V log(V const& x) { return V(scalfmm3::detail::log_of(x.value)); }
    static NEARFIELD_FN V keep_nonzero(V const& x, V const& y)
    {
      return V(scalfmm3::detail::keep(x.value != Batch(real(0)), y.value));
    }
    static NEARFIELD_FN V keep_less(V const& a, V const& b, V const& y)
    {
      return V(scalfmm3::detail::keep(a.value < b.value, y.value));
    }
  };
}

namespace nearfield::scalfmm3
{
  /// An interaction as a ScalFMM 3 matrix kernel. Used in place of one of ScalFMM's, it makes ScalFMM's passes
  /// call the p2p_... functions of <nearfield/scalfmm/p2p.hpp> by argument-dependent lookup.
  ///
  ///     outputs(x) += K(x - y) inputs(y),  km = n_in inputs and kn = n_out outputs
  ///
  /// Signs are those of ScalFMM: r points from the source to the target and gradients are with respect to the
  /// target, so `matrix_kernel<grad_one_over_r<3>>` equals laplace::grad_one_over_r<3>.
  ///
  /// RightHandSides > 1 adds independent sets of inputs and outputs, set after set (ScalFMM's like_mrhs is 1/r
  /// with two): km and kn grow by that factor and K becomes block-diagonal.
  template <interaction K, int RightHandSides = 1>
  struct matrix_kernel
  {
    static_assert(RightHandSides >= 1, "a matrix kernel has at least one right-hand side");

    /// the interaction
    using interaction_type = K;
    /// the dimension of space
    static constexpr int dim = K::dim;

    /// matrix_kernels::homogeneity of K: whether K(a r) = a^degree K(r)
    static constexpr detail::tag homogeneity_tag{far_field::traits<K>::homogeneous};
    /// matrix_kernels::symmetry of K: whether it has one output, which depends on |r| alone
    static constexpr detail::tag symmetry_tag{far_field::traits<K>::symmetric};
    /// the number of inputs
    static constexpr std::size_t km = std::size_t{K::n_in} * RightHandSides;
    /// the number of outputs
    static constexpr std::size_t kn = std::size_t{K::n_out} * RightHandSides;
    /// leaves that touch are neighbours
    static constexpr int separation_criterion = 1;

    /// K in row-major order
    template <class V>
    using matrix_type = std::array<V, kn * km>;
    /// one value per output
    template <class V>
    using vector_type = std::array<V, kn>;

    /// the interaction with its parameters, such as the width of a Gaussian
    K interaction{};

    /// the name of K
    [[nodiscard]] NEARFIELD_FN std::string name() const { return std::string(K::name); }

    /// The factor from K(x, y) to K(y, x) for each output: +1 if it is even in r, -1 if it is odd.
    template <class V>
    [[nodiscard]] NEARFIELD_FN vector_type<V> mutual_coefficient() const
      requires nearfield::detail::has_way_back<K>
    {
      vec<double, dim> r;
      for (int d = 0; d < dim; ++d) r[d] = 0.3 + 0.2 * d;
      auto const map = nearfield::detail::evaluate(interaction, r);
      vector_type<V> signs;
      signs.fill(V(1));
      for (int i = 0; i < K::n_in; ++i)
      {
        vec<double, K::n_in> q{};
        q[i] = 1;
        auto const there = map.to(q), back = nearfield::detail::apply_back<K>(map, q);
        for (std::size_t n = 0; n < kn; ++n)
        {
          int const o = static_cast<int>(n) % K::n_out;
          if (there[o] != 0 && back[o] == -there[o]) signs[n] = V(-1);
        }
      }
      return signs;
    }

    /// K(x - y) in row-major order: the entry of output n and input m is element n * km + m. The points
    /// hold reals or SIMD batches. At x = y the result is that of the formula, not finite if K is singular.
    template <class X, class Y>
    [[nodiscard]] NEARFIELD_FN auto evaluate(X const& x, Y const& y) const
        -> matrix_type<std::decay_t<decltype(x.at(0))>>
    {
      using V = std::decay_t<decltype(x.at(0))>;
      using W = detail::value_type_of<V>;
      vec<W, dim> r;
      for (int d = 0; d < dim; ++d)
        r[d] = W(V(x.at(static_cast<std::size_t>(d)) - y.at(static_cast<std::size_t>(d))));
      auto const map = nearfield::detail::evaluate(interaction, r);
      matrix_type<V> result;
      result.fill(V(0));
      for (int i = 0; i < K::n_in; ++i)
      {
        vec<W, K::n_in> q;
        for (int c = 0; c < K::n_in; ++c) q[c] = W(c == i ? 1 : 0);
        auto const column = map.to(q);
        for (int rhs = 0; rhs < RightHandSides; ++rhs)
          for (int o = 0; o < K::n_out; ++o)
          {
            int const n = rhs * K::n_out + o, m = rhs * K::n_in + i;
            result[static_cast<std::size_t>(n) * km + static_cast<std::size_t>(m)] =
                static_cast<V>(column[o]);
          }
      }
      return result;
    }

    /// width^degree for each output if K is homogeneous, K(a r) = a^degree K(r); 1 otherwise.
    template <class V>
    [[nodiscard]] NEARFIELD_FN vector_type<V> scale_factor(V width) const
    {
      vector_type<V> factors;
      factors.fill(V(1));
      if constexpr (far_field::traits<K>::homogeneous)
        for (std::size_t n = 0; n < kn; ++n)
          for (int d = far_field::traits<K>::degree(static_cast<int>(n) % K::n_out); d < 0; ++d)
            factors[n] = factors[n] / width;
      return factors;
    }
  };
}

// Without these ScalFMM would run its own P2P with a matrix_kernel, and nobody would be told.
#include <nearfield/scalfmm/p2p.hpp>
