#pragma once

#include <nearfield/p2p/cuda_source.cuh>
#include <nearfield/p2p/pair.hpp>

#include <type_traits>
#include <utility>

/// \file
/// What a pair adds to several right-hand sides on a GPU: K(r) is evaluated once, as a full matrix, and applied
/// to the inputs of each. So a right-hand side costs n_in n_out operations, whatever the map is made of.

namespace nearfield::detail
{
  template <class V, int NOut, int NIn>
  __device__ __forceinline__ mat<V, NOut, NIn> const& matrix_of(mat<V, NOut, NIn> const& map)
  {
    return map;
  }

  // c comes last: c b may overflow where K does not
  template <class V, int D>
  __device__ __forceinline__ mat<V, D, D> matrix_of(isotropic<V, D> const& map)
  {
    mat<V, D, D> result;
    NEARFIELD_UNROLL
    for (int o = 0; o < D; ++o)
    {
      V const along = map.b * map.r[o];
      NEARFIELD_UNROLL
      for (int i = 0; i <= o; ++i)
      {
        V const entry = i == o ? along * map.r[i] + map.a : along * map.r[i];
        result.data[o][i] = result.data[i][o] = map.c * entry;
      }
    }
    return result;
  }

  /// Column by column: exact multiples of the unit vectors, which the compiler folds for one input.
  template <class V, int NOut, int NIn, class Apply>
  __device__ __forceinline__ mat<V, NOut, NIn> columns_of(Apply&& apply)
  {
    mat<V, NOut, NIn> result;
    NEARFIELD_UNROLL
    for (int i = 0; i < NIn; ++i)
    {
      vec<V, NIn> unit{};
      unit[i] = V(1);
      auto const column = apply(unit);
      NEARFIELD_UNROLL
      for (int o = 0; o < NOut; ++o) result.data[o][i] = column[o];
    }
    return result;
  }

  /// K(r) and, for a mutual kernel, K(-r).
  template <class K, class V>
  struct pair_matrices
  {
    using matrix = mat<V, K::n_out, K::n_in>;
    matrix forth, back;

    template <bool Mutual, class Map>
    __device__ __forceinline__ void set(Map const& map, std::bool_constant<Mutual>)
    {
      if constexpr (requires { matrix_of(map); })
        forth = matrix_of(map);
      else
        forth = columns_of<V, K::n_out, K::n_in>([&](auto const& q) { return map.to(q); });
      if constexpr (Mutual)
      {
        if constexpr (std::is_same_v<Map, isotropic<V, K::dim>>)
          back = forth;
        else if constexpr (requires(vec<V, K::n_in> q) { map.back(q); })
          back = columns_of<V, K::n_out, K::n_in>([&](auto const& q) { return map.back(q); });
        else
        {
          NEARFIELD_UNROLL
          for (int i = 0; i < K::n_in; ++i)
          {
            vec<V, K::n_out> column;
            NEARFIELD_UNROLL
            for (int o = 0; o < K::n_out; ++o) column[o] = forth.data[o][i];
            turn_odd<K>(column, std::make_integer_sequence<int, K::n_out>{});
            NEARFIELD_UNROLL
            for (int o = 0; o < K::n_out; ++o) back.data[o][i] = column[o];
          }
        }
      }
    }
  };

  template <class V, int NOut, int NIn>
  __device__ __forceinline__ void clear_if(bool nothing, mat<V, NOut, NIn>& matrix)
  {
    NEARFIELD_UNROLL
    for (int o = 0; o < NOut; ++o)
    {
      NEARFIELD_UNROLL
      for (int i = 0; i < NIn; ++i) matrix.data[o][i] = nothing ? V(0) : matrix.data[o][i];
    }
  }

  /// out += matrix q for B right-hand sides.
  template <int B, class V, int NOut, int NIn>
  __device__ __forceinline__ void apply_to_all(mat<V, NOut, NIn> const& matrix,
                                               vec<V, B * NIn> const& q, vec<V, B * NOut>& out)
  {
    NEARFIELD_UNROLL
    for (int b = 0; b < B; ++b)
    {
      NEARFIELD_UNROLL
      for (int o = 0; o < NOut; ++o)
      {
        NEARFIELD_UNROLL
        for (int i = 0; i < NIn; ++i) out[b * NOut + o] += matrix.data[o][i] * q[b * NIn + i];
      }
    }
  }

  /// One target meets one source: out += K(r) q for B right-hand sides, and back_out += K(-r) back_q for a mutual
  /// kernel. With care: a pair that is left out adds nothing, and one at distance zero neither if `tested`; for a
  /// radial interaction the second covers the first, and K(0) = 0 unless it is left out.
  template <bool Mutual, bool Care, int B, class K, class T>
  __device__ __forceinline__ void
  meet_several(K const& k, pair_at<K, T> at, bool left_out, bool tested,
               vec<T, B * K::n_in> const& q, vec<T, B * K::n_out>& out,
               vec<T, B * K::n_in> const& back_q, vec<T, B * K::n_out>& back_out)
  {
    constexpr std::bool_constant<Mutual> mutual;
    pair_matrices<K, T> pair;
    if constexpr (radial_interaction<K>)
      pair.set(map_of(k, at, root_of<Care, K>(at.r)), mutual);
    else
    {
      bool const at_zero = Care && tested && dot(at.r, at.r) == T(0);
      if (at_zero) at.r[0] = T(1);
      pair.set(map_of(k, at), mutual);
      if constexpr (Care)
      {
        clear_if(left_out || at_zero, pair.forth);
        if constexpr (Mutual) clear_if(left_out || at_zero, pair.back);
      }
    }
    apply_to_all<B>(pair.forth, q, out);
    if constexpr (Mutual) apply_to_all<B>(pair.back, back_q, back_out);
  }

  /// The R targets of a thread meet the sources first, first + stride ... of a tile. With care: source self + r *
  /// stride_of_self, which is target r itself, is left out and, if `tested`, so are pairs at distance zero.
  template <bool Care, int Unroll, int B, class K, class T, int R, class Source>
  __device__ __forceinline__ void
  sweep_several(K const& k, vec<T, point_columns<K>> const (&x)[R], vec<T, B * K::n_out> (&sum)[R],
                Source const* tile, index_type first, index_type stride, index_type end,
                index_type self, index_type stride_of_self, bool tested)
  {
    vec<T, B * K::n_in> const none{};
    vec<T, B * K::n_out> nothing;
#pragma unroll Unroll
    for (index_type j = first; j < end; j += stride)
    {
      Source const source = tile[j];
      NEARFIELD_UNROLL
      for (int r = 0; r < R; ++r)
        meet_several<false, Care, B>(k, between<K>(x[r], source.x()),
                                     j == self + static_cast<index_type>(r) * stride_of_self,
                                     tested, source.q(), sum[r], none, nothing);
    }
  }
}
