#pragma once

#include <nearfield/p2p/pair.hpp>
#include <nearfield/p2p/panel.hpp>
#include <nearfield/p2p/small_box.hpp>
#include <nearfield/p2p/tile_rhs.hpp>

#include <limits>

/// \file
/// The loop over pairs, written once for V = a real and V = a SIMD pack.
///
/// The sources that a box meets are copied into a panel. A block of RT targets is held in registers, each
/// broadcast to all lanes, while the sources pass by, a pack at a time. A mutual kernel adds what the sources
/// receive, from the same evaluation, to the panel.

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// RT targets in registers.
  template <class K, class V, int RT>
  struct target_block
  {
    vec<V, point_columns<K>> x[RT];
    vec<V, K::n_in> q[RT]; // mutual only
    vec<V, K::n_out> out[RT];
  };

  template <class V, int N, class Column>
  NEARFIELD_FN vec<V, N> load_columns(Column const (&columns)[N], int j)
  {
    vec<V, N> result;
    NEARFIELD_UNROLL
    for (int c = 0; c < N; ++c) result[c] = math<V>::load(columns[c] + j);
    return result;
  }

  template <class V, int N, class Column>
  NEARFIELD_FN void store_columns(Column (&columns)[N], int j, vec<V, N> const& values)
  {
    NEARFIELD_UNROLL
    for (int c = 0; c < N; ++c) math<V>::store(columns[c] + j, values[c]);
  }

  /// Sets sums to zero.
  template <class V, int N, int RT>
  NEARFIELD_FN void clear(vec<V, N> (&sums)[RT])
  {
    NEARFIELD_UNROLL
    for (int t = 0; t < RT; ++t)
    {
      NEARFIELD_UNROLL
      for (int o = 0; o < N; ++o) sums[t][o] = V(real_of<V>(0));
    }
  }

  /// Sums what the block receives from the packs [first, last) of the panel. Skips packs beyond K's cutoff, unless K is
  /// radial: there the branch gains nothing.
  template <bool Mutual, bool Tested, class K, class V, int RT, class Panel>
  NEARFIELD_FN void sweep_once(K const& k, target_block<K, V, RT> const& block,
                               vec<V, K::n_out> (&sums)[RT], Panel& sources, int first, int last)
  {
    constexpr int width = math<V>::width;
    constexpr bool leaves_out = has_cutoff<K> && !radial_interaction<K>;
    V reach2;
    if constexpr (leaves_out)
    {
      // a little more: K decides by its own |r|^2, which may be rounded in another way
      constexpr double more = 1 + 4 * double(std::numeric_limits<real_of<V>>::epsilon());
      double const reach = k.cutoff() * more;
      reach2 = V(static_cast<real_of<V>>(reach * reach));
    }
    NEARFIELD_NO_UNROLL
    for (int j = first * width; j < last * width; j += width)
    {
      auto const x = load_columns<V>(sources.x, j);
      if constexpr (leaves_out)
      {
        V least = reach2;
        NEARFIELD_UNROLL
        for (int t = 0; t < RT; ++t)
        {
          auto const r = between<K>(block.x[t], x).r;
          V const r2 = dot(r, r);
          least = math<V>::select_less(r2, least, r2, least);
        }
        if (!math<V>::any_less(least, reach2)) continue;
      }
      auto const q = load_columns<V>(sources.q, j);
      vec<V, K::n_out> back;
      if constexpr (Mutual) back = load_columns<V>(sources.out, j);
      NEARFIELD_UNROLL
      for (int t = 0; t < RT; ++t)
        interact<Mutual, Tested>(k, between<K>(block.x[t], x), q, sums[t], block.q[t], back);
      if constexpr (Mutual) store_columns(sources.out, j, back);
    }
  }

  /// The same of at most `Packs` packs in two passes: first the roots, into the first-level cache, then
  /// the rest. Each pass has half the dependency chain, so more pairs are in flight at once.
  template <bool Mutual, bool Tested, int Packs, class K, class V, int RT, class Panel>
  NEARFIELD_FN void sweep_twice(K const& k, target_block<K, V, RT> const& block,
                                vec<V, K::n_out> (&sums)[RT], Panel& sources, int first, int last)
  {
    constexpr int width = math<V>::width;
    alignas(64) real_of<V> roots[Packs][RT][width];
    int const packs = last - first;
    NEARFIELD_NO_UNROLL
    for (int p = 0; p < packs; ++p)
    {
      auto const x = load_columns<V>(sources.x, (first + p) * width);
      NEARFIELD_UNROLL
      for (int t = 0; t < RT; ++t)
        math<V>::store(roots[p][t], root_of<Tested, K>(between<K>(block.x[t], x).r));
    }
    NEARFIELD_NO_UNROLL
    for (int p = 0; p < packs; ++p)
    {
      int const j = (first + p) * width;
      auto const x = load_columns<V>(sources.x, j);
      auto const q = load_columns<V>(sources.q, j);
      vec<V, K::n_out> back;
      if constexpr (Mutual) back = load_columns<V>(sources.out, j);
      NEARFIELD_UNROLL
      for (int t = 0; t < RT; ++t)
        apply<Mutual, K>(map_of(k, between<K>(block.x[t], x), math<V>::load(roots[p][t])), q,
                         sums[t], block.q[t], back);
      if constexpr (Mutual) store_columns(sources.out, j, back);
    }
  }

  /// The block meets the packs [first, last) of the panel. Floats are summed in runs. Packs = 0: in one pass.
  template <bool Mutual, bool Tested, int Packs, class K, class V, int RT, class Panel>
  NEARFIELD_FN void sweep(K const& k, target_block<K, V, RT>& block, Panel& sources, int first,
                          int last)
  {
    constexpr bool twice = Packs > 0 && radial_interaction<K>;
    constexpr int terms = terms_in_a_row<real_of<V>>, packs = twice ? Packs : terms;
    constexpr bool in_runs = terms < most_packs;
    static_assert(packs <= terms);
    // all packs of a panel at once: the loop below would load and store what a block holds in registers
    if constexpr (!in_runs && !twice)
      return sweep_once<Mutual, Tested>(k, block, block.out, sources, first, last);
    for (int next; first < last; first = next)
    {
      next = last - first < packs ? last : first + packs;
      vec<V, K::n_out> of_run[RT];
      auto& sums = in_runs ? of_run : block.out;
      if constexpr (in_runs) clear(sums);
      if constexpr (twice)
        sweep_twice<Mutual, Tested, Packs>(k, block, sums, sources, first, next);
      else
        sweep_once<Mutual, Tested>(k, block, sums, sources, first, next);
      if constexpr (in_runs)
      {
        NEARFIELD_UNROLL
        for (int t = 0; t < RT; ++t) block.out[t] = block.out[t] + sums[t];
      }
    }
  }

  /// The `width` values from `value + width - 1 - lane` on are 0 in that lane and 1 in the others.
  template <class T, int Width>
  struct all_but_one
  {
    T value[2 * Width - 1]{};
    constexpr all_but_one()
    {
      for (int i = 0; i < 2 * Width - 1; ++i) value[i] = T(i != Width - 1);
    }
  };

  /// The block meets the pack of its own points, one-sided: target t is source lane + t of the pack. That pair
  /// has r = 0 and q = 0, and K is finite there: the test for distance zero ensures it, or K is not singular.
  template <bool Tested, class K, class V, int RT, class Panel>
  NEARFIELD_FN void sweep_diagonal(K const& k, target_block<K, V, RT>& block, Panel const& sources,
                                   int pack, int lane)
  {
    using T = real_of<V>;
    constexpr int width = math<V>::width;
    static constexpr all_but_one<T, width> table;
    int const j = pack * width;
    auto const x = load_columns<V>(sources.x, j);
    NEARFIELD_UNROLL
    for (int t = 0; t < RT; ++t)
    {
      V const others = math<V>::load(table.value + (width - 1 - lane - t));
      auto const q = others * load_columns<V>(sources.q, j);
      interact<false, Tested>(k, between<K>(block.x[t], x), q, block.out[t], q, block.out[t]);
    }
  }

  /// The targets [begin, end) of one box meet the panel.
  template <bool Mutual, int Packs, class K, class V, int RT, class Panel>
  NEARFIELD_FN void meet(K const& k, p2p_job<real_of<V>> const& job, index_type begin,
                         index_type end, Panel& sources, panel_parts const& parts,
                         real_of<V> const* scale)
  {
    using T = real_of<V>;
    constexpr int width = math<V>::width;
    static_assert(width % RT == 0, "the targets of a block must lie in one pack of sources");

    // as tests_for_zero, but known at compile time if K is radial or regular: one sweep less to compile
    bool const tested = radial_interaction<K> || (!always_regular<K> && job.tests_for_zero);
    int const n_targets = static_cast<int>(end - begin);
    int const n_packs = sources.vectors();
    for (int i = 0; i < n_targets; i += RT)
    {
      target_block<K, V, RT> block;
      NEARFIELD_UNROLL
      for (int t = 0; t < RT; ++t)
      {
        // a partial block repeats its last target, with q = 0
        bool const exists = i + t < n_targets;
        index_type const at = exists ? begin + static_cast<index_type>(i + t) : end - 1;
        NEARFIELD_UNROLL
        for (int d = 0; d < point_columns<K>; ++d) block.x[t][d] = V(job.target_x[d][at]);
        if constexpr (Mutual)
        {
          NEARFIELD_UNROLL
          for (int c = 0; c < K::n_in; ++c) block.q[t][c] = V(exists ? job.target_q[c][at] : T(0));
        }
      }
      clear(block.out);

      // the packs [0, before) and [after, own_end) hold other points of the own range
      int before = parts.own_end;
      int after = parts.own_end;
      int const self = i - parts.own_begin;
      if (job.own_is_self && self >= 0)
      {
        // a mutual kernel met the packs before when their points were the targets
        bool const inside = self < parts.own_count;
        int const pack = inside ? self / width : parts.own_end;
        before = Mutual ? 0 : pack;
        if (inside)
        {
          after = pack + 1;
          if (tested)
            sweep_diagonal<true>(k, block, sources, pack, self % width);
          else
            sweep_diagonal<false>(k, block, sources, pack, self % width);
        }
      }
      // a loop over the parts, so that each sweep is compiled only once
      int const bounds[3][2] = {{0, before}, {after, parts.own_end}, {parts.own_end, n_packs}};
      for (int part = 0; part < 3; ++part)
        if (tested && (part < 2 || job.ranges_may_coincide))
          sweep<Mutual, true, Packs>(k, block, sources, bounds[part][0], bounds[part][1]);
        else
          sweep<Mutual, false, Packs>(k, block, sources, bounds[part][0], bounds[part][1]);

      NEARFIELD_UNROLL
      for (int t = 0; t < RT; ++t)
        if (i + t < n_targets)
        {
          NEARFIELD_UNROLL
          for (int o = 0; o < K::n_out; ++o)
            job.target_out[o][begin + static_cast<index_type>(i + t)] +=
                scale[o] * math<V>::sum(block.out[t][o]);
        }
    }
  }

  /// Every box of the job meets its own sources and those of its ranges, a panel at a time. What a mutual kernel adds
  /// to sources goes to the columns after each. Targets of columns with strides are copied, and put back before that.
  template <bool Mutual, class K, class V, int RT, int Packs>
  [[gnu::noinline]] void run_boxes(void const* interaction, p2p_job<real_of<V>> const& job) noexcept
  {
    using T = real_of<V>;
    constexpr int n_columns = point_columns<K> + K::n_in + K::n_out, most = targets_at_once;
    static_assert(most % RT == 0);
    K const k = *static_cast<K const*>(interaction);
    panel<V, K::dim, point_columns<K>, K::n_in, K::n_out, Mutual> sources;
    double total[K::n_out * most];
    T scale[K::n_out], values[n_columns][most];
    T* columns[n_columns];
    copied_points<V> copies{values[0], columns, point_columns<K>, K::n_in, K::n_out, most};
    NEARFIELD_UNROLL
    for (int o = 0; o < K::n_out; ++o) scale[o] = static_cast<T>(final_scale<K, V>(o));

    for_each_panel(
        job, sources, Mutual,
        [&](index_type b) __attribute__((always_inline))
        {
          if constexpr (takes_small_boxes<K, V>)
          {
            if (!is_small_box<K>(job, b)) return false;
            small_box<Mutual, K, V>(k, job, b);
            return true;
          }
          return false;
        },
        [&](index_type begin, index_type end, panel_parts const& parts)
            __attribute__((always_inline))
        {
          if constexpr (Mutual) sources.clear_out();
          p2p_job<T> part = job;
          index_type const count = end - begin;
          bool const several = parts.number >= panels_one_by_one;
          bool const copied = several || job.strides != nullptr;
          if (copied)
          {
            copies.read_targets(job, begin, count, Mutual);
            part.target_x = copies.x();
            part.target_q = copies.q();
            part.target_out = copies.out();
          }
          if (several) copies.clear_out(count);
          index_type const first = copied ? 0 : begin;
          meet<Mutual, Packs, K, V, RT>(k, part, first, first + count, sources, parts, scale);
          if (several) copies.add_out(total, count, parts.number == panels_one_by_one);
          if (several && parts.is_last)
            copies.put_back_total(job, begin, count, total);
          else if (copied && !several)
            copies.put_back_targets(job, begin, count);
          if constexpr (Mutual) sources.scatter_out(job, scale);
        });
  }

  /// The kernel. Never inlined: it is called through a pointer. One small box does without the frame of a panel.
  template <bool Mutual, class K, class V, int RT, int Packs>
  [[gnu::noinline]] void run(void const* interaction, p2p_job<real_of<V>> const& job) noexcept
  {
    if (job.n_rhs != 1) return run_rhs<Mutual, K, V>(interaction, job);
    if constexpr (takes_small_boxes<K, V>)
      if (job.last_box - job.first_box == 1 && is_small_box<K>(job, job.first_box))
        return small_box<Mutual, K, V>(*static_cast<K const*>(interaction), job, job.first_box);
    run_boxes<Mutual, K, V, RT, Packs>(interaction, job);
  }
}
