#pragma once

#include "kernels/jet.hpp"
#include "reference.hpp"

#include <nearfield/kernels/helmholtz.hpp>
#include <nearfield/kernels/inverse_square.hpp>
#include <nearfield/kernels/laplace.hpp>
#include <nearfield/kernels/screened.hpp>

#include <array>

/// \file
/// The kernels of potential theory, from their potentials: the formula<K> of reference.hpp.

namespace nearfield::test
{
  /// Where K is singular at r = 0.
  struct singular_formula
  {
    template <class K>
    static bool singular(K const&)
    {
      return true;
    }
  };

  /// The potential of a charge, as a matrix of one entry.
  template <int Dim>
  long_matrix<1, 1> value_of(jet<Dim> const& potential)
  {
    return {{{potential.value}}};
  }
  /// Its gradient, with respect to the target.
  template <int Dim>
  long_matrix<Dim, 1> gradient_of(jet<Dim> const& potential)
  {
    long_matrix<Dim, 1> k;
    for (int d = 0; d < Dim; ++d) k[d][0] = potential.gradient[d];
    return k;
  }
  /// Both.
  template <int Dim>
  long_matrix<1 + Dim, 1> value_and_gradient_of(jet<Dim> const& potential)
  {
    long_matrix<1 + Dim, 1> k;
    k[0][0] = potential.value;
    for (int d = 0; d < Dim; ++d) k[1 + d][0] = potential.gradient[d];
    return k;
  }
  /// The upper triangle of its Hessian, row by row.
  template <int Dim>
  long_matrix<Dim*(Dim + 1) / 2, 1> hessian_of(jet<Dim> const& potential)
  {
    long_matrix<Dim*(Dim + 1) / 2, 1> k;
    int next = 0;
    for (int a = 0; a < Dim; ++a)
      for (int b = a; b < Dim; ++b) k[next++][0] = potential.hessian[a][b];
    return k;
  }
  /// The potential of a dipole: the derivative of the charge's with respect to the source.
  template <int Dim>
  long_matrix<1, Dim> dipole_of(jet<Dim> const& potential)
  {
    long_matrix<1, Dim> k;
    for (int d = 0; d < Dim; ++d) k[0][d] = -potential.gradient[d];
    return k;
  }

  template <int Dim>
  jet<Dim> coulomb(long_vector<Dim> const& r)
  {
    return inverse(length<Dim>(r));
  }
  template <int Dim>
  jet<Dim> inverse_square_potential(long_vector<Dim> const& r)
  {
    return inverse(length<Dim>(r) * length<Dim>(r));
  }
  inline jet<2> logarithm(long_vector<2> const& r)
  {
    return log(length<2>(r));
  }
  inline jet<3> yukawa_potential(double kappa, long_vector<3> const& r)
  {
    return coulomb<3>(r) * exp(-static_cast<long double>(kappa) * length<3>(r));
  }
  template <class K>
  jet<3> ewald_potential(K const& k, long_vector<3> const& r)
  {
    bool const ends = k.r_c > 0 && norm(r) >= static_cast<long double>(k.r_c);
    return ends ? jet<3>{} : coulomb<3>(r) * erfc(static_cast<long double>(k.alpha) * length<3>(r));
  }
  /// The real and the imaginary part.
  inline std::array<jet<3>, 2> wave_potential(double k, long_vector<3> const& r)
  {
    auto const angle = static_cast<long double>(k) * length<3>(r);
    return {coulomb<3>(r) * cos(angle), coulomb<3>(r) * sin(angle)};
  }
  /// Puts the complex number re + i im at an output and an input, each a pair.
  template <std::size_t NOut, std::size_t NIn>
  void put_complex(std::array<std::array<long double, NIn>, NOut>& k, int output, int input,
                   long double re, long double im)
  {
    k[2 * output][2 * input] = k[2 * output + 1][2 * input + 1] = re;
    k[2 * output][2 * input + 1] = -im;
    k[2 * output + 1][2 * input] = im;
  }

  template <>
  struct formula<hess_one_over_r> : singular_formula
  {
    static auto at(hess_one_over_r, long_vector<3> const& r) { return hessian_of(coulomb<3>(r)); }
  };
  template <>
  struct formula<dipole_one_over_r> : singular_formula
  {
    static auto at(dipole_one_over_r, long_vector<3> const& r) { return dipole_of(coulomb<3>(r)); }
  };
  template <>
  struct formula<charge_dipole_one_over_r> : singular_formula
  {
    static auto at(charge_dipole_one_over_r, long_vector<3> const& r)
    {
      auto const potential = coulomb<3>(r);
      long_matrix<4, 4> k;
      k[0][0] = potential.value;
      for (int a = 0; a < 3; ++a)
      {
        k[1 + a][0] = potential.gradient[a];
        k[0][1 + a] = -potential.gradient[a];
        for (int b = 0; b < 3; ++b) k[1 + a][1 + b] = -potential.hessian[a][b];
      }
      return k;
    }
  };
  template <>
  struct formula<val_grad_dipole_one_over_r> : singular_formula
  {
    static auto at(val_grad_dipole_one_over_r, long_vector<3> const& r)
    {
      auto const both = formula<charge_dipole_one_over_r>::at({}, r);
      long_matrix<4, 3> k;
      for (int o = 0; o < 4; ++o)
        for (int c = 0; c < 3; ++c) k[o][c] = both[o][1 + c];
      return k;
    }
  };
  template <>
  struct formula<double_layer_one_over_r> : singular_formula
  {
    static long_matrix<1, 1> at(double_layer_one_over_r, long_vector<3> const& r,
                                long_vector<3> const&, long_vector<3> const& normal)
    {
      auto const of_axis = dipole_of(coulomb<3>(r));
      return {
          {{of_axis[0][0] * normal[0] + of_axis[0][1] * normal[1] + of_axis[0][2] * normal[2]}}};
    }
  };
  template <>
  struct formula<val_grad_log_r> : singular_formula
  {
    static auto at(val_grad_log_r, long_vector<2> const& r)
    {
      return value_and_gradient_of(logarithm(r));
    }
  };
  template <>
  struct formula<hess_log_r> : singular_formula
  {
    static auto at(hess_log_r, long_vector<2> const& r) { return hessian_of(logarithm(r)); }
  };
  template <>
  struct formula<dipole_log_r> : singular_formula
  {
    static auto at(dipole_log_r, long_vector<2> const& r) { return dipole_of(logarithm(r)); }
  };

  template <int Dim>
  struct formula<one_over_r2<Dim>> : singular_formula
  {
    static auto at(one_over_r2<Dim>, long_vector<Dim> const& r)
    {
      return value_of(inverse_square_potential<Dim>(r));
    }
  };
  template <int Dim>
  struct formula<grad_one_over_r2<Dim>> : singular_formula
  {
    static auto at(grad_one_over_r2<Dim>, long_vector<Dim> const& r)
    {
      return gradient_of(inverse_square_potential<Dim>(r));
    }
  };
  template <int Dim>
  struct formula<val_grad_one_over_r2<Dim>> : singular_formula
  {
    static auto at(val_grad_one_over_r2<Dim>, long_vector<Dim> const& r)
    {
      return value_and_gradient_of(inverse_square_potential<Dim>(r));
    }
  };

  template <>
  struct formula<yukawa> : singular_formula
  {
    static auto at(yukawa const& k, long_vector<3> const& r)
    {
      return value_of(yukawa_potential(k.kappa, r));
    }
  };
  template <>
  struct formula<grad_yukawa> : singular_formula
  {
    static auto at(grad_yukawa const& k, long_vector<3> const& r)
    {
      return gradient_of(yukawa_potential(k.kappa, r));
    }
  };
  template <>
  struct formula<val_grad_yukawa> : singular_formula
  {
    static auto at(val_grad_yukawa const& k, long_vector<3> const& r)
    {
      return value_and_gradient_of(yukawa_potential(k.kappa, r));
    }
  };
  template <>
  struct formula<dipole_yukawa> : singular_formula
  {
    static auto at(dipole_yukawa const& k, long_vector<3> const& r)
    {
      return dipole_of(yukawa_potential(k.kappa, r));
    }
  };
  template <>
  struct formula<ewald_real> : singular_formula
  {
    static auto at(ewald_real const& k, long_vector<3> const& r)
    {
      return value_of(ewald_potential(k, r));
    }
  };
  template <>
  struct formula<val_grad_ewald_real> : singular_formula
  {
    static auto at(val_grad_ewald_real const& k, long_vector<3> const& r)
    {
      return value_and_gradient_of(ewald_potential(k, r));
    }
  };

  template <>
  struct formula<helmholtz> : singular_formula
  {
    static auto at(helmholtz const& k, long_vector<3> const& r)
    {
      auto const [re, im] = wave_potential(k.k, r);
      long_matrix<2, 2> result;
      put_complex(result, 0, 0, re.value, im.value);
      return result;
    }
  };
  template <>
  struct formula<val_grad_helmholtz> : singular_formula
  {
    static auto at(val_grad_helmholtz const& k, long_vector<3> const& r)
    {
      auto const [re, im] = wave_potential(k.k, r);
      long_matrix<8, 2> result;
      put_complex(result, 0, 0, re.value, im.value);
      for (int d = 0; d < 3; ++d) put_complex(result, 1 + d, 0, re.gradient[d], im.gradient[d]);
      return result;
    }
  };
  template <>
  struct formula<dipole_helmholtz> : singular_formula
  {
    static auto at(dipole_helmholtz const& k, long_vector<3> const& r)
    {
      auto const [re, im] = wave_potential(k.k, r);
      long_matrix<2, 6> result;
      for (int d = 0; d < 3; ++d) put_complex(result, 0, d, -re.gradient[d], -im.gradient[d]);
      return result;
    }
  };
}
