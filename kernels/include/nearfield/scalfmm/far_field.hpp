#pragma once

#include <nearfield/kernels/builtin.hpp>

/// \file
/// What ScalFMM's interpolation of the far field may know of an interaction.

namespace nearfield::scalfmm3::far_field
{
  /// The value of homogeneity_tag: it compares equal to, and converts to, the enumerator of
  /// ScalFMM's matrix_kernels::homogeneity, whose header is not needed for that.
  struct homogeneity
  {
    bool homogeneous;

    template <class Enum>
    requires requires { Enum::homogenous, Enum::non_homogenous; }
    constexpr operator Enum() const // NOLINT(google-explicit-constructor)
    {
      return homogeneous ? Enum::homogenous : Enum::non_homogenous;
    }
    template <class Enum>
    requires requires { Enum::homogenous, Enum::non_homogenous; }
    friend constexpr bool operator==(homogeneity a, Enum b) { return Enum(a) == b; }
  };

  /// The same for symmetry_tag and matrix_kernels::symmetry.
  struct symmetry
  {
    bool symmetric;

    template <class Enum>
    requires requires { Enum::symmetric, Enum::non_symmetric; }
    constexpr operator Enum() const // NOLINT(google-explicit-constructor)
    {
      return symmetric ? Enum::symmetric : Enum::non_symmetric;
    }
    template <class Enum>
    requires requires { Enum::symmetric, Enum::non_symmetric; }
    friend constexpr bool operator==(symmetry a, Enum b) { return Enum(a) == b; }
  };

  /// What of K an interpolation may use. `false` is always right; `true` makes it faster.
  /// Specialise it for an interaction of your own:
  ///
  /// symmetric: one output that is the same for all r of equal length;
  /// homogeneous: K(a r) = a^degree(output) K(r), with a degree below zero.
  template <class K>
  struct traits
  {
    static constexpr bool symmetric = false, homogeneous = false;
  };

  template <int Dim>
  struct traits<one_over_r<Dim>>
  {
    static constexpr bool symmetric = true, homogeneous = true;
    static constexpr int degree(int) { return -1; }
  };
  template <int Dim>
  struct traits<grad_one_over_r<Dim>>
  {
    static constexpr bool symmetric = false, homogeneous = true;
    static constexpr int degree(int) { return -2; }
  };
  template <int Dim>
  struct traits<val_grad_one_over_r<Dim>>
  {
    static constexpr bool symmetric = false, homogeneous = true;
    static constexpr int degree(int output) { return output == 0 ? -1 : -2; }
  };
  template <>
  struct traits<log_r>
  {
    static constexpr bool symmetric = true, homogeneous = false;
  };
  template <>
  struct traits<grad_log_r>
  {
    static constexpr bool symmetric = false, homogeneous = true;
    static constexpr int degree(int) { return -1; }
  };
  template <int Dim>
  struct traits<gaussian<Dim>>
  {
    static constexpr bool symmetric = true, homogeneous = false;
  };
  template <int Dim>
  struct traits<dipole_tensor<Dim>>
  {
    static constexpr bool symmetric = false, homogeneous = true;
    static constexpr int degree(int) { return -3; }
  };
}
