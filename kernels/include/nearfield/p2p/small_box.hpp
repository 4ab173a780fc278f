#pragma once

#include <nearfield/p2p/job.hpp>
#include <nearfield/p2p/pair.hpp>
#include <nearfield/p2p/panel.hpp>
#include <nearfield/p2p/tuning.hpp>

/// \file
/// Boxes of a few points, where a panel would cost more than the pairs. The lanes of a pack are groups of four:
/// each group holds a target, and all groups hold the same four sources, so that 4 points fill the lanes too.
/// Sources are loaded from the caller's arrays, the last ones by a masked load, which touches nothing else.
/// Where there are no such packs (detail::has_groups), small boxes go through a panel.

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// Packs whose lanes are groups of four.
  template <class V>
  concept has_groups = requires(real_of<V> const* p) { math<V>::repeat_four(p, 1, *p); };

  /// Whether boxes of K may be small (is_small_box).
  template <class K, class V>
  concept takes_small_boxes = has_groups<V> && (radial_interaction<K> || !always_regular<K>);

  /// Whether box b has few points and meets no others. Only the list decides, never an address: equal points
  /// give equal bits wherever they lie. Regular interactions that are not radial are left out, since here a
  /// target meets itself, and only the test for distance zero makes that nothing.
  template <class K, class T>
  NEARFIELD_FN bool is_small_box(p2p_job<T> const& job, index_type b)
  {
    index_type const most = small_box_points;
    return job.box_offsets[b + 1] - job.box_offsets[b] <= most &&
           job.own[b].end - job.own[b].begin - 1 < most &&
           job.range_offsets[b] == job.range_offsets[b + 1] &&
           (radial_interaction<K> || job.tests_for_zero);
  }

  /// Four sources, in every group of lanes.
  template <class K, class V>
  struct four_sources
  {
    vec<V, point_columns<K>> x;
    vec<V, K::n_in> q;
    vec<V, K::n_out> out; // mutual only
  };

  /// The targets of box b meet its own sources.
  template <bool Mutual, class K, class V>
  [[gnu::noinline]] void meet_few(K const k, p2p_job<real_of<V>> const& job, index_type b) noexcept
  {
    using T = real_of<V>;
    using sources = four_sources<K, V>;
    constexpr int groups = math<V>::groups;
    // members one by one: a load of two would wait for a caller who has just stored each of them
    source_range const& own = job.own[b];
    index_type const own_begin = own.begin;
    int const n_sources = static_cast<int>(own.end - own_begin);
    int const set = own.set;
    sources all[small_box_points / 4];
    sources* end = all;
    for (int j = 0; j < n_sources; j += 4, ++end)
    {
      NEARFIELD_UNROLL
      for (int d = 0; d < point_columns<K>; ++d)
      {
        T const* const column = job.source_x[set * point_columns<K> + d] + own_begin;
        end->x[d] = math<V>::repeat_four(column + j, n_sources - j, column[n_sources - 1]);
      }
      NEARFIELD_UNROLL
      for (int c = 0; c < K::n_in; ++c)
        end->q[c] = math<V>::repeat_four(job.source_q[set * K::n_in + c] + own_begin + j,
                                         n_sources - j, T(0));
      if constexpr (Mutual)
      {
        NEARFIELD_UNROLL
        for (int o = 0; o < K::n_out; ++o) end->out[o] = V(T(0));
      }
    }

    index_type const last = job.box_offsets[b + 1];
    for (index_type i = job.box_offsets[b]; i < last; i += groups)
    {
      // groups left over repeat the last target, and give nothing
      index_type at[groups];
      NEARFIELD_UNROLL
      for (index_type g = 0; g < groups; ++g) at[g] = i + g < last ? i + g : last - 1;
      vec<V, point_columns<K>> target;
      vec<V, K::n_in> target_q{}; // mutual only
      vec<V, K::n_out> out;
      NEARFIELD_UNROLL
      for (int d = 0; d < point_columns<K>; ++d) target[d] = math<V>::spread(job.target_x[d], at);
      if constexpr (Mutual)
      {
        NEARFIELD_UNROLL
        for (int c = 0; c < K::n_in; ++c) target_q[c] = math<V>::spread(job.target_q[c], at);
        if (i + groups > last)
        {
          static constexpr T gives[] = {1, 1, 1, 0, 0, 0};
          constexpr index_type in_place[] = {0, 1, 2, 3};
          V const giving = math<V>::spread(gives + 3 - (last - i), in_place);
          NEARFIELD_UNROLL
          for (int c = 0; c < K::n_in; ++c) target_q[c] = giving * target_q[c];
        }
      }
      NEARFIELD_UNROLL
      for (int o = 0; o < K::n_out; ++o) out[o] = V(T(0));
      sources* four = all;
      do interact<Mutual, true>(k, between<K>(target, four->x), four->q, out, target_q, four->out);
      while (++four != end);
      NEARFIELD_UNROLL
      for (int o = 0; o < K::n_out; ++o)
      {
        T sums[groups];
        math<V>::add_in_groups(out[o], sums);
        T* const to = job.target_out[o] + i;
        NEARFIELD_UNROLL
        for (index_type g = 0; g < groups; ++g)
          if (i + g < last) to[g] += static_cast<T>(final_scale<K, V>(o)) * sums[g];
      }
    }

    if constexpr (Mutual)
    {
      T* to[K::n_out];
      NEARFIELD_UNROLL
      for (int o = 0; o < K::n_out; ++o) to[o] = job.source_out[set * K::n_out + o] + own_begin;
      int left = n_sources;
      for (sources const* four = all; four != end; ++four, left -= 4)
      {
        T sums[K::n_out][4];
        NEARFIELD_UNROLL
        for (int o = 0; o < K::n_out; ++o) math<V>::add_groups(four->out[o], sums[o]);
        // one by one: the loads of the next call on the same points would wait for a store in part
        NEARFIELD_UNROLL
        for (int lane = 0; lane < 4; ++lane)
          if (lane < left)
          {
            NEARFIELD_UNROLL
            for (int o = 0; o < K::n_out; ++o)
              *to[o]++ += static_cast<T>(final_scale<K, V>(o)) * sums[o][lane];
          }
      }
    }
  }

  /// A small box of columns with strides, copied: equal points give equal bits here too.
  template <class V>
  struct copied_box
  {
    copied_points<V> targets, sources;
    index_type offsets[2];
    source_range own;
    p2p_job<real_of<V>> job;

    [[gnu::noinline]] void read(p2p_job<real_of<V>> const& all, index_type b, bool mutual) noexcept
    {
      index_type const begin = all.box_offsets[b], count = all.box_offsets[b + 1] - begin;
      targets.read_targets(all, begin, count, mutual);
      sources.read_sources(all, all.own[b], mutual);
      offsets[0] = 0;
      offsets[1] = count;
      own.end = all.own[b].end - all.own[b].begin;
      job.box_offsets = offsets;
      job.own = &own;
      job.target_x = targets.x();
      job.target_q = targets.q();
      job.target_out = targets.out();
      job.source_x = sources.x();
      job.source_q = sources.q();
      job.source_out = sources.out();
    }

    [[gnu::noinline]] void put_back(p2p_job<real_of<V>> const& all, index_type b,
                                    bool mutual) const noexcept
    {
      targets.put_back_targets(all, all.box_offsets[b], offsets[1]);
      if (mutual) sources.put_back_sources(all, all.own[b]);
    }
  };

  template <bool Mutual, class K, class V>
  [[gnu::noinline]] void meet_few_strided(K const& k, p2p_job<real_of<V>> const& job,
                                          index_type b) noexcept
  {
    constexpr int n_columns = point_columns<K> + K::n_in + K::n_out, most = small_box_points;
    real_of<V> values[2][n_columns][most];
    real_of<V>* columns[2][n_columns];
    copied_box<V> box{{values[0][0], columns[0], point_columns<K>, K::n_in, K::n_out, most},
                      {values[1][0], columns[1], point_columns<K>, K::n_in, K::n_out, most},
                      {},
                      {},
                      {}};
    box.read(job, b, Mutual);
    meet_few<Mutual, K, V>(k, box.job, 0);
    box.put_back(job, b, Mutual);
  }

  /// Box b, for which is_small_box. The pairs of a box with itself are few enough to be evaluated twice.
  template <bool Mutual, class K, class V>
  NEARFIELD_FN void small_box(K const& k, p2p_job<real_of<V>> const& job, index_type b)
  {
    if (Mutual && !job.own_is_self)
      return job.strides == nullptr ? meet_few<Mutual, K, V>(k, job, b)
                                    : meet_few_strided<Mutual, K, V>(k, job, b);
    job.strides == nullptr ? meet_few<false, K, V>(k, job, b)
                           : meet_few_strided<false, K, V>(k, job, b);
  }
}
