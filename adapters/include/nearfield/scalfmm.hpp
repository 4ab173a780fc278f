#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/scalfmm/interactions.hpp>
#include <nearfield/scalfmm/matrix_kernel.hpp>
#include <nearfield/scalfmm/p2p.hpp>

#include <cstddef>
#include <type_traits>

/// \file
/// nearfield inside ScalFMM 3, and ScalFMM's matrix kernels inside nearfield (docs/embedding.md). No
/// header of ScalFMM is included: its leaves, points and tags are used through their interfaces.
///
/// The namespace is nearfield::scalfmm3, so that `scalfmm` still means ScalFMM after `using namespace
/// nearfield`.

namespace nearfield::scalfmm3
{
  namespace detail
  {
    /// A full matrix with a sign per output for the reverse direction: (K(-r) q)_o = sign_o (K(r) q)_o.
    template <class V, int NOut, int NIn>
    struct signed_mat
    {
      mat<V, NOut, NIn> map;
      vec<V, NOut> sign;

      NEARFIELD_FN vec<V, NOut> to(vec<V, NIn> const& q) const { return map.to(q); }
      NEARFIELD_FN vec<V, NOut> back(vec<V, NIn> const& q) const
      {
        vec<V, NOut> result = map.to(q);
        NEARFIELD_UNROLL
        for (int o = 0; o < NOut; ++o) result[o] = sign[o] * result[o];
        return result;
      }
    };

    /// The number of registers of V: 1 for a real.
    template <class V>
    inline constexpr int registers_of = 1;
    template <class V>
      requires requires(V v) { v.part[0]; }
    inline constexpr int registers_of<V> = static_cast<int>(std::extent_v<decltype(V::part)>);

    template <class V>
    NEARFIELD_FN auto& register_at(V& v, [[maybe_unused]] int m)
    {
      if constexpr (std::is_floating_point_v<V>)
        return v;
      else
        return v.part[m];
    }

    template <class MatrixKernel>
    concept has_mutual_coefficient =
        requires(MatrixKernel const& mk) { mk.template mutual_coefficient<double>(); };
  }

  /// A ScalFMM matrix kernel as an interaction: K(r) = mk.evaluate(r, 0).
  ///
  ///     template <class V> using point = scalfmm::container::point<V, 3>;
  ///     using own = scalfmm::matrix_kernels::laplace::one_over_r;
  ///     nearfield::scalfmm3::interaction_of<own, point> const k;
  ///     nearfield::p2p_inner(nearfield::simd, k, x, q, out);
  ///
  /// The matrix kernel must depend on x - y alone. Point<V> is its point type, with `dimension` and at(); V is
  /// float, double or, in SIMD kernels, xsimd's batch. Its mutual_coefficient gives the reverse direction;
  /// without it there is no mutual form. `simd` requires <nearfield/p2p/simd.hpp>.
  template <class MatrixKernel, template <class> class Point>
  struct interaction_of
  {
    /// the dimension of space
    static constexpr int dim = static_cast<int>(Point<double>::dimension);
    static_assert(dim == 2 || dim == 3,
                  "nearfield computes in two and three dimensions: leave others to ScalFMM's P2P");
    /// the number of inputs, km
    static constexpr int n_in = static_cast<int>(MatrixKernel::km);
    /// the number of outputs, kn
    static constexpr int n_out = static_cast<int>(MatrixKernel::kn);
    /// an estimate: one root and a product with a full matrix
    static constexpr int flops = dim + 2 * dim + 1 + 2 * n_in * n_out;
    /// the same name for all matrix kernels
    static constexpr auto name = "scalfmm_matrix_kernel";

    /// the matrix kernel, with its parameters
    MatrixKernel kernel{};

    /// K(r)
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const
    {
      mat<V, n_out, n_in> map;
      NEARFIELD_UNROLL
      for (int m = 0; m < detail::registers_of<V>; ++m) evaluate(r, map, m);
      if constexpr (detail::has_mutual_coefficient<MatrixKernel>)
      {
        detail::signed_mat<V, n_out, n_in> result{map, {}};
        auto const sign = kernel.template mutual_coefficient<nearfield::detail::real_of<V>>();
        for (int o = 0; o < n_out; ++o) result.sign[o] = V(sign[static_cast<std::size_t>(o)]);
        return result;
      }
      else
        return map;
    }

  private:
    /// Computes the entries in register m of V.
    template <class V>
    NEARFIELD_FN void evaluate(vec<V, dim> const& r, mat<V, n_out, n_in>& map, int m) const
    {
      using register_type = std::decay_t<decltype(detail::register_at(r[0], m))>;
      Point<register_type> x{}, origin{};
      NEARFIELD_UNROLL
      for (int d = 0; d < dim; ++d)
      {
        x.at(static_cast<std::size_t>(d)) = detail::register_at(r[d], m);
        origin.at(static_cast<std::size_t>(d)) = register_type(nearfield::detail::real_of<V>(0));
      }
      auto const values = kernel.evaluate(x, origin);
      NEARFIELD_UNROLL
      for (int o = 0; o < n_out; ++o)
      {
        NEARFIELD_UNROLL
        for (int i = 0; i < n_in; ++i)
          detail::register_at(map.data[o][i], m) = values[static_cast<std::size_t>(o * n_in + i)];
      }
    }
  };
}
