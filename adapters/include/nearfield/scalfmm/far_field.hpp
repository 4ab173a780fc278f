#pragma once

#include <nearfield/kernels/builtin.hpp>

#include <type_traits>

/// \file
/// Properties of an interaction that ScalFMM's far-field interpolation exploits.

namespace nearfield::scalfmm3::far_field
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
    friend constexpr bool operator==(tag a, Enum b) { return Enum(a) == b; }
  };

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
}
