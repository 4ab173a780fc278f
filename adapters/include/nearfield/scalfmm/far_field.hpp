#pragma once

#include <nearfield/kernels/builtin.hpp>

#include <type_traits>

/// \file
/// What ScalFMM's interpolation of the far field may know of an interaction.

namespace nearfield::scalfmm3::far_field
{
  /// What homogeneity_tag and symmetry_tag say: it compares equal to, and converts to, the enumerator
  /// of ScalFMM's matrix_kernels::homogeneity or symmetry, whose header is not needed for that.
  struct tag
  {
    /// whether the kernel is homogeneous, or symmetric
    bool holds;

    /// the enumerator of homogeneity
    template <class Enum>
    requires requires { Enum::homogenous, Enum::non_homogenous; }
    constexpr operator Enum() const // NOLINT(google-explicit-constructor)
    {
      return holds ? Enum::homogenous : Enum::non_homogenous;
    }
    /// the enumerator of symmetry
    template <class Enum>
    requires requires { Enum::symmetric, Enum::non_symmetric; }
    constexpr operator Enum() const // NOLINT(google-explicit-constructor)
    {
      return holds ? Enum::symmetric : Enum::non_symmetric;
    }
    /// whether the tag means the enumerator b
    template <class Enum>
    requires std::is_enum_v<Enum>
    friend constexpr bool operator==(tag a, Enum b) { return Enum(a) == b; }
  };

  /// What of K an interpolation may use: whether it has one output that depends on |r| alone, and,
  /// where K(a r) = a^degree K(r), the degree of each output; the last one is that of all outputs
  /// that follow. Degrees are below zero.
  template <bool Symmetric, int... Degrees>
  struct properties
  {
    /// whether K has one output that depends on |r| alone
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

  /// The properties of K. Those of an interaction of your own are safe and slow; specialise this
  /// where it has better ones.
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
}
