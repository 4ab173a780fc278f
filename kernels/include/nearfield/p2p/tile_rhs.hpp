#pragma once

#include <nearfield/p2p/pair.hpp>
#include <nearfield/p2p/panel.hpp>

#include <utility>

/// \file
/// The loop over pairs for several right-hand sides. Their number is known at run time only, so it is not
/// the number of sums in registers: a block of targets meets some packs of sources, what K(r) is there
/// stays in the first-level cache, and the right-hand sides pass over it, a few at a time. Those that
/// fill up the last few have q = 0.

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// K(r) of some packs of sources and a block of targets.
  template <class K, class V, rhs_block Block>
  struct evaluated_maps
  {
    using map_type = decltype(evaluate(std::declval<K const&>(), vec<V, K::dim>{}));

    map_type map[Block.packs][Block.targets];
    /// 1 where the pair counts, else 0; a radial map is zero there by itself
    alignas(64)
        real_of<V> counts[radial_interaction<K> ? 1 : Block.packs][Block.targets][math<V>::width];
  };

  template <class K, class V, rhs_block Block, class Panel>
  NEARFIELD_FN void evaluate_maps(K const& k, evaluated_maps<K, V, Block>& maps,
                                  vec<V, K::dim> const (&targets)[Block.targets],
                                  Panel const& sources, int first, int packs, bool tested)
  {
    NEARFIELD_NO_UNROLL
    for (int p = 0; p < packs; ++p)
    {
      auto const x = load_columns<V, K::dim>(sources.x, (first + p) * math<V>::width);
      NEARFIELD_UNROLL
      for (int t = 0; t < Block.targets; ++t)
      {
        vec<V, K::dim> r = targets[t] - x;
        if constexpr (radial_interaction<K>)
          maps.map[p][t] = k(r, root_of<true, K>(r));
        else
        {
          V counts(1);
          if (tested)
          {
            counts = math<V>::keep_nonzero(dot(r, r), counts);
            r[0] = r[0] + (V(1) - counts);
          }
          maps.map[p][t] = k(r);
          math<V>::store(maps.counts[p][t], counts);
        }
      }
    }
  }

  /// The sums of a block of targets, and what they give to the sources of a mutual kernel.
  template <class K, class V, rhs_block Block>
  struct rhs_sums
  {
    V out[Block.targets][most_rhs * K::n_out];
    vec<V, K::n_in> q[Block.targets][most_rhs];
  };

  /// Some right-hand sides, from number `rhs` on, pass over the maps.
  template <bool Mutual, class K, class V, rhs_block Block, class Panel>
  NEARFIELD_FN void apply_maps(evaluated_maps<K, V, Block> const& maps, rhs_sums<K, V, Block>& sums,
                               Panel& sources, int first, int packs, int rhs)
  {
    constexpr int n_targets = Block.targets, sides = Block.sides;
    vec<V, K::n_out> out[n_targets][sides];
    NEARFIELD_UNROLL
    for (int t = 0; t < n_targets; ++t)
    {
      NEARFIELD_UNROLL
      for (int c = 0; c < sides * K::n_out; ++c)
        out[t][c / K::n_out][c % K::n_out] = sums.out[t][rhs * K::n_out + c];
    }
    NEARFIELD_NO_UNROLL
    for (int p = 0; p < packs; ++p)
    {
      int const j = (first + p) * math<V>::width;
      // in registers: each is used several times, and loads are what limits this loop
      typename evaluated_maps<K, V, Block>::map_type map[n_targets];
      NEARFIELD_UNROLL
      for (int t = 0; t < n_targets; ++t) map[t] = maps.map[p][t];
      NEARFIELD_UNROLL
      for (int s = 0; s < sides; ++s)
      {
        auto const q = load_columns<V, K::n_in>(sources.q + (rhs + s) * K::n_in, j);
        vec<V, K::n_out> back;
        if constexpr (Mutual)
          back = load_columns<V, K::n_out>(sources.out + (rhs + s) * K::n_out, j);
        NEARFIELD_UNROLL
        for (int t = 0; t < n_targets; ++t)
          if constexpr (radial_interaction<K>)
            apply<Mutual, K>(map[t], q, out[t][s], sums.q[t][rhs + s], back);
          else
          {
            V const counts = math<V>::load(maps.counts[p][t]);
            vec<V, K::n_in> back_q;
            if constexpr (Mutual) back_q = counts * sums.q[t][rhs + s];
            apply<Mutual, K>(map[t], counts * q, out[t][s], back_q, back);
          }
        if constexpr (Mutual) store_columns(sources.out + (rhs + s) * K::n_out, j, back);
      }
    }
    NEARFIELD_UNROLL
    for (int t = 0; t < n_targets; ++t)
    {
      NEARFIELD_UNROLL
      for (int c = 0; c < sides * K::n_out; ++c)
        sums.out[t][rhs * K::n_out + c] = out[t][c / K::n_out][c % K::n_out];
    }
  }

  /// All targets of one box meet the panel.
  template <bool Mutual, class K, class V, rhs_block Block, class Panel>
  NEARFIELD_INLINE inline void meet_rhs(K const& k, p2p_job<real_of<V>> const& job,
                                        index_type begin, index_type end, Panel& sources,
                                        panel_parts const& parts, real_of<V> const* scale)
  {
    using T = real_of<V>;
    constexpr int width = math<V>::width, block_size = Block.targets;
    static_assert(width % block_size == 0,
                  "the targets of a block must lie in one pack of sources");
    static_assert(terms_in_a_row % block_size == 0 && most_rhs % 4 == 0);

    evaluated_maps<K, V, Block> maps;
    rhs_sums<K, V, Block> sums;
    int const n_targets = static_cast<int>(end - begin);
    int const n_packs = sources.vectors();
    int const n_rhs = sources.n_rhs();
    int const filled = (n_rhs + 3) / 4 * 4; // blocks of 1, 2 or 4
    for (int i = 0; i < n_targets; i += block_size)
    {
      if constexpr (Mutual)
        if (i % terms_in_a_row == 0) sources.clear_out();
      vec<V, K::dim> x[block_size];
      NEARFIELD_UNROLL
      for (int t = 0; t < block_size; ++t)
      {
        // a block that is not full repeats its last target, with q = 0
        bool const exists = i + t < n_targets;
        index_type const at = exists ? begin + static_cast<index_type>(i + t) : end - 1;
        NEARFIELD_UNROLL
        for (int d = 0; d < K::dim; ++d) x[t][d] = V(job.target_x[d][at]);
        for (int c = 0; c < filled * K::n_out; ++c) sums.out[t][c] = V(T(0));
        if constexpr (Mutual)
          for (int rhs = 0; rhs < filled; ++rhs)
          {
            NEARFIELD_UNROLL
            for (int c = 0; c < K::n_in; ++c)
              sums.q[t][rhs][c] =
                  V(exists && rhs < n_rhs ? job.target_q[rhs * K::n_in + c][at] : T(0));
          }
      }

      // the pack of the own points is met one-sided
      int const self = i - parts.own_begin;
      bool const behind = job.own_is_self && self >= 0;
      bool const inside = behind && self < parts.own_count;
      int const diagonal = inside ? self / width : -1;
      int bounds[2][2] = {{0, 0}, {0, n_packs}};
      if constexpr (Mutual)
        if (behind)
        {
          // what comes before was met when those were the targets
          bounds[0][0] = inside ? diagonal : parts.own_end;
          bounds[0][1] = bounds[1][0] = inside ? diagonal + 1 : parts.own_end;
        }
      for (int part = Mutual ? 0 : 1; part < 2; ++part)
        for (int first = bounds[part][0]; first < bounds[part][1]; first += Block.packs)
        {
          int const left = bounds[part][1] - first;
          int const packs = left < Block.packs ? left : Block.packs;
          evaluate_maps(k, maps, x, sources, first, packs, job.tests_for_zero);
          if constexpr (!radial_interaction<K>)
            if (first <= diagonal && diagonal < first + packs)
              for (int t = 0; t < block_size; ++t)
                maps.counts[diagonal - first][t][self % width + t] = T(0);
          for (int rhs = 0; rhs < n_rhs; rhs += Block.sides)
            if (Mutual && part == 1)
              apply_maps<Mutual>(maps, sums, sources, first, packs, rhs);
            else
              apply_maps<false>(maps, sums, sources, first, packs, rhs);
        }

      for (int t = 0; t < block_size && i + t < n_targets; ++t)
      {
        index_type const at = begin + static_cast<index_type>(i + t);
        for (int c = 0; c < n_rhs * K::n_out; c += 4)
        {
          T values[4];
          math<V>::sums_of_four(values, sums.out[t] + c);
          for (int g = 0; g < 4 && c + g < n_rhs * K::n_out; ++g)
            job.target_out[c + g][at] += scale[(c + g) % K::n_out] * values[g];
        }
      }
      if constexpr (Mutual)
        if ((i + block_size) % terms_in_a_row == 0 || i + block_size >= n_targets)
          sources.scatter_out(job, scale);
    }
  }

  /// The kernel for a job of several right-hand sides.
  template <bool Mutual, class K, class V, rhs_block Block>
  [[gnu::noinline]] void run_rhs(K const& k, p2p_job<real_of<V>> const& all) noexcept
  {
    using T = real_of<V>;
    panel<V, K::dim, K::n_in, Mutual ? K::n_out : 0, most_rhs> sources;
    T scale[K::n_out];
    NEARFIELD_UNROLL
    for (int o = 0; o < K::n_out; ++o) scale[o] = static_cast<T>(final_scale<K, V>(o));
    p2p_job<T> job = all;
    for (int rhs = 0; rhs < all.n_rhs; rhs += most_rhs)
    {
      job.source_q = all.source_q + rhs * K::n_in;
      job.target_out = all.target_out + rhs * K::n_out;
      if constexpr (Mutual)
      {
        job.target_q = all.target_q + rhs * K::n_in;
        job.source_out = all.source_out + rhs * K::n_out;
      }
      int const left = all.n_rhs - rhs;
      sources.use(left < most_rhs ? left : most_rhs);
      for_each_panel<Mutual>(
          job, sources,
          [&](index_type begin, index_type end, panel_parts const& parts) NEARFIELD_INLINE
          { meet_rhs<Mutual, K, V, Block>(k, job, begin, end, sources, parts, scale); });
    }
  }
}
