#pragma once

#include "p2p/own_interactions.hpp"
#include "reference.hpp"

#include <cmath>

/// \file
/// What the interactions of own_interactions.hpp are, as plain formulas.

namespace nearfield::test
{
  template <>
  struct formula<softened>
  {
    static bool singular(softened) { return false; }
    static long_matrix<1, 1> at(softened k, long_vector<3> const& r)
    {
      return {{{1 / std::sqrt(norm(r) * norm(r) + static_cast<long double>(k.eps2))}}};
    }
  };

  template <>
  struct formula<mixed>
  {
    static bool singular(mixed) { return true; }
    static long_matrix<3, 2> at(mixed, long_vector<2> const& r)
    {
      long double const d = norm(r);
      return {{{r[0], r[0] / d}, {d, 2 / d}, {-r[1], r[1] / d}}};
    }
  };

  template <>
  struct formula<inverse_square>
  {
    static bool singular(inverse_square) { return true; }
    static long_matrix<1, 1> at(inverse_square, long_vector<3> const& r)
    {
      return {{{1 / (norm(r) * norm(r))}}};
    }
  };

  template <>
  struct formula<spring>
  {
    static bool singular(spring const&) { return false; }
    static long_matrix<3, 1> at(spring const& k, long_vector<3> const& r)
    {
      long double const c = norm(r) / (norm(r) + static_cast<long double>(k.reach));
      return {{{c * r[0]}, {c * r[1]}, {c * r[2]}}};
    }
  };

  template <>
  struct formula<one_way>
  {
    static bool singular(one_way) { return false; }
    static long_matrix<1, 1> at(one_way, long_vector<2> const& r)
    {
      return {{{std::exp(r[0]) + r[1]}}};
    }
  };

  template <>
  struct formula<outer_product>
  {
    static bool singular(outer_product) { return false; }
    static long_matrix<6, 1> at(outer_product k, long_vector<3> const& r)
    {
      long double const s = norm(r) * norm(r) + static_cast<long double>(k.eps2);
      return {{{r[0] * r[0] / s},
               {r[0] * r[1] / s},
               {r[0] * r[2] / s},
               {r[1] * r[1] / s},
               {r[1] * r[2] / s},
               {r[2] * r[2] / s}}};
    }
  };

  template <>
  struct formula<dipole>
  {
    static bool singular(dipole) { return true; }
    static long_matrix<1, 1> at(dipole, long_vector<3> const& r, long_vector<3> const&,
                                long_vector<3> const& normal)
    {
      long double const d = norm(r);
      return {{{(normal[0] * r[0] + normal[1] * r[1] + normal[2] * r[2]) / (d * d * d)}}};
    }
  };

  template <>
  struct formula<blobs>
  {
    static bool singular(blobs) { return false; }
    static long_matrix<1, 1> at(blobs, long_vector<2> const& r, long_vector<1> const& target,
                                long_vector<1> const& source)
    {
      return {{{std::exp(-norm(r) * norm(r) / (target[0] * target[0] + source[0] * source[0]))}}};
    }
  };
}
