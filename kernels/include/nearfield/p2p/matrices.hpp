#pragma once

#include <nearfield/p2p/pair.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <utility>

/// \file
/// K(r) of many pairs, evaluated once for several right-hand sides and stored as plain matrices.

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The block of targets and right-hand sides whose sums are in registers.
  template <class V>
  constexpr rhs_block rhs_block_for()
  {
    int registers = 1;
    if constexpr (requires { V::lanes; }) registers = math<V>::width / V::lanes;
    return rhs_block_of(static_cast<int>(sizeof(V)) / registers, registers);
  }

  /// Packs of sources and a block of targets, and where their matrices are stored: those of pack p and target
  /// t have entry e at `entry(e)[(p * targets + t) * width]`.
  template <class V>
  struct matrix_block
  {
    using T = real_of<V>;
    static constexpr int width = math<V>::width;
    static constexpr int targets = width < 4 ? 1 : 4;
    static_assert(targets % rhs_block_for<V>().targets == 0);

    T const* target_x; ///< coordinate d of target t at [d * targets + t]
    T const* source_x; ///< columns `stride` apart
    int stride;
    int packs;
    T* entries;

    NEARFIELD_FN T* entry(int e) const { return entries + e * packs * targets * width; }
  };

  /// The first odd output of a map with `back` where K(-r) and K(r) differ in the signs of outputs only; -1
  /// for any other map.
  template <class Map>
  inline constexpr int first_odd_output = -1;
  template <class V, int D, int Sign>
  inline constexpr int first_odd_output<radial<V, D, Sign>> = 0;
  template <class V, int D, int Sign>
  inline constexpr int first_odd_output<value_radial<V, D, Sign>> = 1;
  template <class V, int D>
  inline constexpr int first_odd_output<isotropic<V, D>> = D;

  /// Whether K(r) is K(-r) with a minus, which would cost an instruction per entry.
  template <class Map>
  inline constexpr bool is_negative = false;
  template <class V, int D>
  inline constexpr bool is_negative<radial<V, D, -1>> = true;
  template <class V, int D>
  inline constexpr bool is_negative<value_radial<V, D, -1>> = true;

  /// How K(-r) follows from K(r).
  template <class K, class V>
  struct way_back
  {
    using map_type = decltype(evaluate(std::declval<K const&>(), vec<V, K::dim>{}));
    static constexpr bool has_back = requires(map_type const& map, vec<V, K::n_in> const& q)
    {
      map.back(q);
    };
    /// The entries of K(-r) are stored after those of K(r).
    static constexpr bool is_stored = has_back && first_odd_output<map_type> < 0;
    /// They are stored in place of those of K(r).
    static constexpr bool is_stored_instead = is_negative<map_type>;

    static constexpr bool is_odd(int o)
    {
      if constexpr (has_back)
        return !is_stored && o >= first_odd_output<map_type>;
      else
        return parity_of<K>(o) == parity::odd;
    }
  };

  /// Stores K(r), and K(-r) after it if StoresBack, or K(-r) alone if way_back says so. A tested pair at distance zero
  /// has a zero matrix.
  template <bool StoresBack, class K, class V>
  [[gnu::noinline]] void evaluate_matrices(void const* interaction, matrix_block<V> const& block,
                                           bool tested) noexcept
  {
    constexpr int width = math<V>::width, n_in = K::n_in, n_out = K::n_out;
    // copies: as far as the compiler knows, a store of a pack may change the originals
    K const k = *static_cast<K const*>(interaction);
    matrix_block<V> const to = block;
    V const untested(tested ? 0 : 1);
    for (int t = 0; t < to.targets; ++t)
    {
      vec<V, K::dim> target;
      NEARFIELD_UNROLL
      for (int d = 0; d < K::dim; ++d) target[d] = V(to.target_x[d * to.targets + t]);
      NEARFIELD_NO_UNROLL
      for (int p = 0; p < to.packs; ++p)
      {
        vec<V, K::dim> r;
        NEARFIELD_UNROLL
        for (int d = 0; d < K::dim; ++d)
          r[d] = target[d] - math<V>::load(to.source_x + d * to.stride + p * width);
        V nonzero;
        auto const map = [&]
        {
          if constexpr (radial_interaction<K>)
            return k(r, root_of<true, K>(r));
          else
          {
            nonzero = dot(r, r) + untested;
            r[0] = r[0] + (V(1) - math<V>::keep_nonzero(nonzero, V(1)));
            return k(r);
          }
        }();
        auto const store = [&](vec<V, n_out> const& column, int first)
        {
          NEARFIELD_UNROLL
          for (int o = 0; o < n_out; ++o)
          {
            V value = column[o];
            if constexpr (!radial_interaction<K>) value = math<V>::keep_nonzero(nonzero, value);
            math<V>::store(to.entry(first + o * n_in) + (p * to.targets + t) * width, value);
          }
        };
        NEARFIELD_UNROLL
        for (int i = 0; i < n_in; ++i)
        {
          vec<V, n_in> unit;
          NEARFIELD_UNROLL
          for (int c = 0; c < n_in; ++c) unit[c] = V(c == i ? 1 : 0);
          if constexpr (way_back<K, V>::is_stored_instead)
            store(map.back(unit), i);
          else
            store(map.to(unit), i);
          if constexpr (StoresBack) store(map.back(unit), n_out * n_in + i);
        }
      }
    }
  }
}
