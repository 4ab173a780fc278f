#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/scalfmm/far_field.hpp>
#include <nearfield/scalfmm/foreign.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>

namespace nearfield::scalfmm3
{
  /// An interaction as a matrix kernel of ScalFMM 3: use it where ScalFMM's own stands, and its
  /// passes call the p2p_... of <nearfield/scalfmm/p2p.hpp> by argument-dependent look-up.
  ///
  ///     outputs(x) += K(x - y) inputs(y),  km = n_in inputs and kn = n_out outputs
  ///
  /// Signs are ScalFMM's: r points from the source to the target, gradients are with respect to the
  /// target, so `matrix_kernel<grad_one_over_r<3>>` is its laplace::grad_one_over_r<3>.
  ///
  /// RightHandSides > 1 gives as many independent sets of inputs and outputs, set after set
  /// (ScalFMM's like_mrhs for 1/r and 2): km and kn grow by that factor and K is block-diagonal.
  template <interaction K, int RightHandSides = 1>
  struct matrix_kernel
  {
    static_assert(RightHandSides >= 1, "a matrix kernel has at least one right-hand side");

    /// the interaction
    using interaction_type = K;
    /// of space
    static constexpr int dim = K::dim;

    /// matrix_kernels::homogeneity of K: whether K(a r) = a^degree K(r)
    static constexpr far_field::tag homogeneity_tag{far_field::traits<K>::homogeneous};
    /// matrix_kernels::symmetry of K: whether it has one output that depends on |r| alone
    static constexpr far_field::tag symmetry_tag{far_field::traits<K>::symmetric};
    /// the number of inputs
    static constexpr std::size_t km = std::size_t{K::n_in} * RightHandSides;
    /// the number of outputs
    static constexpr std::size_t kn = std::size_t{K::n_out} * RightHandSides;
    /// leaves that touch are near
    static constexpr int separation_criterion = 1;

    /// K, row after row
    template <class V>
    using matrix_type = std::array<V, kn * km>;
    /// a value for each output
    template <class V>
    using vector_type = std::array<V, kn>;

    /// its parameters, such as the width of a Gaussian
    K interaction{};

    /// K's name
    [[nodiscard]] NEARFIELD_FN std::string name() const { return std::string(K::name); }

    /// +1 for an output that is even in r, -1 for one that is odd: K(y, x) from K(x, y).
    template <class V>
    [[nodiscard]] NEARFIELD_FN vector_type<V>
    mutual_coefficient() const requires nearfield::detail::has_way_back<K>
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

    /// K(x - y), row after row: the entry of output n and input m is at n * km + m. Points of reals
    /// or of SIMD batches; at x = y it is what the formula gives, infinite where K is singular.
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

    /// width to the degree of each output, where K is homogeneous: K(a r) = a^degree K(r).
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
