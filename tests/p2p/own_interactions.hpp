#pragma once

#include <nearfield/core/interaction.hpp>

#include <array>

/// \file
/// Interactions as a user writes them.

namespace nearfield::test
{
  struct softened
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 10;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "softened";
    static constexpr bool has_cuda = true;
    double eps2; // length^2
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, n_out, n_in>
    {
      return {{{rsqrt(dot(r, r) + V(eps2))}}};
    }
  };

  /// Two inputs, three outputs of mixed parity, a full matrix; singular in its second input.
  struct mixed
  {
    static constexpr int dim = 2, n_in = 2, n_out = 3, flops = 20;
    static constexpr std::array symmetry{parity::odd, parity::even, parity::odd};
    static constexpr auto name = "mixed";
    static constexpr bool has_cuda = true;
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, n_out, n_in>
    {
      V const inverse = rsqrt(dot(r, r));
      V const length = nearfield::sqrt(dot(r, r));
      return {{{r[0], r[0] * inverse}, {length, V(2) * inverse}, {V(0) - r[1], r[1] * inverse}}};
    }
  };

  /// Radial, as a user writes it for speed, with a symmetry instead of a map with both directions.
  struct inverse_square
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 10;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "inverse_square";
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const&, V const& inv_r) const -> mat<V, 1, 1>
    {
      return {{{inv_r * inv_r}}};
    }
  };

  /// Radial, regular, a structured map: a force r |r| / (|r| + reach).
  struct spring
  {
    static constexpr int dim = 3, n_in = 1, n_out = 3, flops = 20;
    static constexpr auto name = "spring";
    double reach; // length
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> radial<V, dim>
    {
      return {V(1) / (V(1) + V(reach) * inv_r), r};
    }
  };

  /// Neither even nor odd: a pair must be evaluated twice.
  struct one_way
  {
    static constexpr int dim = 2, n_in = 1, n_out = 1, flops = 8;
    static constexpr auto name = "one_way";
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 1, 1>
    {
      return {{{nearfield::exp(r[0]) + r[1]}}};
    }
  };

  /// Many outputs: r r^T / (r^2 + eps2), its upper triangle.
  struct outer_product
  {
    static constexpr int dim = 3, n_in = 1, n_out = 6, flops = 25;
    static constexpr std::array symmetry{parity::even, parity::even, parity::even,
                                         parity::even, parity::even, parity::even};
    static constexpr auto name = "outer_product";
    double eps2; // length^2
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, n_out, n_in>
    {
      V const root = rsqrt(dot(r, r) + V(eps2));
      V const x = r[0] * root, y = r[1] * root, z = r[2] * root;
      return {{{x * x}, {x * y}, {x * z}, {y * y}, {y * z}, {z * z}}};
    }
  };

  /// A double layer, radial: the normal of the source is its parameter, of three.
  struct dipole
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1, n_parameters = 3, flops = 15;
    static constexpr auto name = "dipole";
    static constexpr bool has_cuda = true;
    template <class V>
    struct map
    {
      V there, back_there; // K(r; target, source) and K(-r; source, target)
      NEARFIELD_FN vec<V, 1> to(vec<V, 1> const& q) const { return {{there * q[0]}}; }
      NEARFIELD_FN vec<V, 1> back(vec<V, 1> const& q) const { return {{back_there * q[0]}}; }
    };
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r,
                                 vec<V, n_parameters> const& target,
                                 vec<V, n_parameters> const& source) const -> map<V>
    {
      V const inv_r3 = inv_r * inv_r * inv_r;
      return {inv_r3 * dot(source, r), V(0) - inv_r3 * dot(target, r)};
    }
  };

  /// Two Gaussians of different widths, regular, with a symmetry.
  struct blobs
  {
    static constexpr int dim = 2, n_in = 1, n_out = 1, n_parameters = 1, flops = 20;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "blobs";
    static constexpr bool has_cuda = true;
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r, vec<V, 1> const& target,
                                 vec<V, 1> const& source) const -> mat<V, 1, 1>
    {
      V const width2 = target[0] * target[0] + source[0] * source[0];
      return {{{nearfield::exp(V(0) - dot(r, r) / width2)}}};
    }
  };
}
