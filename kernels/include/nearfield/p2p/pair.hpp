#pragma once

#include <nearfield/core/interaction.hpp>

/// \file
/// What one pair contributes, written once for every value type and back-end.

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The factor that undoes what the loop leaves in the sums of output o.
  template <class K, class V>
  constexpr double final_scale(int o)
  {
    double scale = 1;
    if constexpr (homogeneous_in_root<K>)
      for (int p = 0; p < K::inv_r_power(o); ++p) scale /= math<V>::root_scale;
    return scale;
  }

  /// What the loop passes to a radial interaction for 1/|r|; where K allows, it still contains root_scale. A
  /// tested pair at distance zero gets zero.
  template <bool Tested, class K, class V>
  NEARFIELD_FN V root_of(vec<V, K::dim> const& r)
  {
    V const r2 = dot(r, r);
    V const root = homogeneous_in_root<K> ? math<V>::scaled_rsqrt(r2) : math<V>::rsqrt(r2);
    return Tested ? math<V>::keep_nonzero(r2, root) : root;
  }

  /// out += K(r) q, and back_out += K(-r) back_q for a mutual kernel.
  template <bool Mutual, class K, class V, class Map>
  NEARFIELD_FN void apply(Map const& map, vec<V, K::n_in> const& q, vec<V, K::n_out>& out,
                          vec<V, K::n_in> const& back_q, vec<V, K::n_out>& back_out)
  {
    out += map.to(q);
    if constexpr (Mutual) back_out += apply_back<K>(map, back_q);
  }

  /// One target meets one source in each lane. A tested pair at distance zero adds zero.
  template <bool Mutual, bool Tested, class K, class V>
  NEARFIELD_FN void interact(K const& k, pair_at<K, V>&& pair, vec<V, K::n_in> q,
                             vec<V, K::n_out>& out, vec<V, K::n_in> back_q,
                             vec<V, K::n_out>& back_out)
  {
    if constexpr (radial_interaction<K>)
      apply<Mutual, K>(map_of(k, pair, root_of<Tested, K>(pair.r)), q, out, back_q, back_out);
    else
    {
      if constexpr (Tested)
      {
        V const r2 = dot(pair.r, pair.r);
        pair.r[0] = pair.r[0] + (V(1) - math<V>::keep_nonzero(r2, V(1)));
        NEARFIELD_UNROLL
        for (int i = 0; i < K::n_in; ++i)
        {
          q[i] = math<V>::keep_nonzero(r2, q[i]);
          if constexpr (Mutual) back_q[i] = math<V>::keep_nonzero(r2, back_q[i]);
        }
      }
      apply<Mutual, K>(map_of(k, pair), q, out, back_q, back_out);
    }
  }
}
