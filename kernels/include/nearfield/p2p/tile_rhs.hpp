#pragma once

#include <nearfield/p2p/pair.hpp>
#include <nearfield/p2p/panel.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <utility>

/// \file
/// The loop over pairs for several right-hand sides. A block of targets meets some packs of sources: K(r) is
/// evaluated once, and every right-hand side is multiplied by the stored matrices. The products know nothing
/// of the interaction. All interactions share them, so that a further one costs the compiler its evaluation
/// only.

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
    static constexpr bool has_back =
        requires(map_type const& map, vec<V, K::n_in> const& q) { map.back(q); };
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
    constexpr bool masked = !radial_interaction<K> && !always_regular<K>;
    // copies: as far as the compiler knows, a store of a pack may change the originals
    K const k = *static_cast<K const*>(interaction);
    matrix_block<V> const to = block;
    V const untested(tested ? 0 : 1);
    for (int t = 0; t < to.targets; ++t)
    {
      vec<V, point_columns<K>> target, source;
      NEARFIELD_UNROLL
      for (int d = 0; d < point_columns<K>; ++d) target[d] = V(to.target_x[d * to.targets + t]);
      NEARFIELD_NO_UNROLL
      for (int p = 0; p < to.packs; ++p)
      {
        NEARFIELD_UNROLL
        for (int d = 0; d < point_columns<K>; ++d)
          source[d] = math<V>::load(to.source_x + d * to.stride + p * width);
        auto pair = between<K>(target, source);
        auto& r = pair.r;
        V nonzero;
        auto const map = [&]() __attribute__((always_inline))
        {
          if constexpr (radial_interaction<K>)
            return map_of(k, pair, root_of<true, K>(r));
          else
          {
            if constexpr (masked)
            {
              nonzero = dot(r, r) + untested;
              r[0] = r[0] + (V(1) - math<V>::keep_nonzero(nonzero, V(1)));
            }
            return map_of(k, pair);
          }
        }();
        auto const store = [&](vec<V, n_out> const& column, int first)
        {
          NEARFIELD_UNROLL
          for (int o = 0; o < n_out; ++o)
          {
            V value = column[o];
            if constexpr (masked) value = math<V>::keep_nonzero(nonzero, value);
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

  /// What is left of an interaction, and memory for its matrices.
  template <class V>
  struct rhs_kernel
  {
    using T = real_of<V>;
    void (*evaluate)(void const* interaction, matrix_block<V> const& to, bool tested) noexcept;
    void const* interaction;
    int dim, n_x, n_in, n_out; ///< n_x: columns of points
    int n_entries;             ///< that are stored
    int first_back;            ///< the first entry of K(-r)
    bool mutual;
    T const* scale;      ///< of the outputs of targets
    T const* back_scale; ///< of the outputs of sources
    T* entries;          ///< of the matrices
    int packs;           ///< that have room there
    T* target_x;         ///< column d of target t at [d * matrix_block::targets + t]
    T* target_q;         ///< input c of target t at [c * matrix_block::targets + t]
    T* values;           ///< of the targets of a block, if columns have strides
    T** columns;         ///< in values
  };

  /// The products with one block of matrices, whose targets have numbers [at, at + count).
  template <class V>
  struct rhs_products
  {
    using T = real_of<V>;
    static constexpr int width = math<V>::width;
    static constexpr int targets = matrix_block<V>::targets;
    static constexpr int n = rhs_block_for<V>().targets; ///< whose sums are in registers

    // copies: as far as the compiler knows, a store of a pack may change the originals
    rhs_kernel<V> const kernel;
    matrix_block<V> const matrices;
    T* const* const target_out;
    T const* const inputs; ///< of the sources, the first column
    T* const panel;
    std::ptrdiff_t const back; ///< the place of their first output there; only if mutual
    std::ptrdiff_t const stride;
    index_type const at;
    int const count;
    int const first_back; ///< the sources of packs from this one on receive

    /// What some right-hand sides read and add to: of the first of them.
    struct columns
    {
      T const* q;          ///< inputs of the sources
      T* const* out;       ///< outputs of the targets
      T const* target_q;   ///< inputs of the targets
      std::ptrdiff_t back; ///< outputs of the sources, a place in the panel; only if mutual
    };

    /// The targets receive from `Sides` right-hand sides.
    template <int Sides>
    __attribute__((always_inline)) void to_targets(columns const& of) const
    {
      int const packs = matrices.packs, n_in = kernel.n_in, n_out = kernel.n_out;
      std::ptrdiff_t const next = n_in * stride;
      for (int t = 0; t < targets; t += n)
      {
        T const* matrix = matrices.entries + t * width; // entry after entry
        for (int o = 0; o < n_out; ++o)
        {
          V sums[Sides][n];
          NEARFIELD_UNROLL
          for (int s = 0; s < Sides; ++s)
          {
            NEARFIELD_UNROLL
            for (int u = 0; u < n; ++u) sums[s][u] = V(T(0));
          }
          T const* column = of.q;
          for (int i = 0; i < n_in; ++i, column += stride)
          {
            T const* q = column;
            NEARFIELD_NO_UNROLL
            for (int p = 0; p < packs; ++p, matrix += targets * width, q += width)
            {
              V side[Sides];
              NEARFIELD_UNROLL
              for (int s = 0; s < Sides; ++s) side[s] = math<V>::load(q + s * next);
              NEARFIELD_UNROLL
              for (int u = 0; u < n; ++u)
              {
                V const k = math<V>::load(matrix + u * width);
                NEARFIELD_UNROLL
                for (int s = 0; s < Sides; ++s) sums[s][u] = sums[s][u] + k * side[s];
              }
            }
          }
          T values[Sides][n];
          if constexpr (width > 1)
            math<V>::template sums<Sides * n>(values[0], sums[0]);
          else
            for (int s = 0; s < Sides; ++s) values[s][0] = sums[s][0];
          T const scale = kernel.scale[o];
          NEARFIELD_UNROLL
          for (int s = 0; s < Sides; ++s)
          {
            T* const to = of.out[s * n_out + o] + at + t;
            if (count == targets)
            {
              NEARFIELD_UNROLL
              for (int u = 0; u < n; ++u) to[u] += scale * values[s][u];
            }
            else
              for (int u = 0; u < n && t + u < count; ++u) to[u] += scale * values[s][u];
          }
        }
      }
    }

    /// The sources receive. The inputs of the targets stay in registers for all outputs.
    template <int Sides>
    __attribute__((always_inline)) void to_sources(columns const& of) const
    {
      int const packs = matrices.packs - first_back, n_in = kernel.n_in, n_out = kernel.n_out;
      std::ptrdiff_t const next = n_out * stride;
      for (int i = 0; i < n_in; ++i)
      {
        V q[Sides][targets];
        NEARFIELD_UNROLL
        for (int s = 0; s < Sides; ++s)
        {
          NEARFIELD_UNROLL
          for (int t = 0; t < targets; ++t) q[s][t] = V(of.target_q[(s * n_in + i) * targets + t]);
        }
        T const* entry = matrices.entry(kernel.first_back + i) + first_back * targets * width;
        T* column = panel + of.back;
        for (int o = 0; o < n_out; ++o)
        {
          T const* matrix = entry;
          T* to = column;
          NEARFIELD_NO_UNROLL
          for (int p = 0; p < packs; ++p, matrix += targets * width, to += width)
          {
            V sums[Sides];
            NEARFIELD_UNROLL
            for (int s = 0; s < Sides; ++s) sums[s] = math<V>::load(to + s * next);
            NEARFIELD_UNROLL
            for (int t = 0; t < targets; ++t)
            {
              V const k = math<V>::load(matrix + t * width);
              NEARFIELD_UNROLL
              for (int s = 0; s < Sides; ++s) sums[s] = sums[s] + k * q[s][t];
            }
            NEARFIELD_UNROLL
            for (int s = 0; s < Sides; ++s) math<V>::store(to + s * next, sums[s]);
          }
          entry += n_in * matrices.packs * targets * width;
          column += stride;
        }
      }
    }

    /// n_sides of them, `Sides` at a time as long as there are so many.
    template <int Sides>
    __attribute__((always_inline)) void run(columns& of, int& n_sides) const
    {
      bool const both = kernel.mutual && first_back < matrices.packs;
      for (; n_sides >= Sides; n_sides -= Sides)
      {
        to_targets<Sides>(of);
        if (both) to_sources<Sides>(of);
        of.q += Sides * kernel.n_in * stride;
        of.out += Sides * kernel.n_out;
        of.target_q += Sides * kernel.n_in * targets;
        of.back += Sides * kernel.n_out * stride;
      }
    }

    /// The first n_sides right-hand sides.
    __attribute__((always_inline)) void run(int n_sides) const
    {
      columns of{inputs, target_out, kernel.target_q, back + first_back * width};
      if constexpr (rhs_block_for<V>().sides == 4) run<4>(of, n_sides);
      run<2>(of, n_sides);
      run<1>(of, n_sides);
    }
  };

  /// All targets of one box meet the panel. If the columns of the job have strides, blocks of targets are copied:
  /// functions of two kinds, since the loop of products needs all registers.
  template <bool Strided, class V>
  void meet_rhs(rhs_kernel<V> const& kernel, p2p_job<real_of<V>> const& job, int n_sides,
                index_type begin, index_type end, rhs_panel<V>& sources,
                panel_parts const& parts) noexcept
  {
    using T = real_of<V>;
    constexpr int width = math<V>::width, n_block = matrix_block<V>::targets;
    static_assert(width % n_block == 0, "the targets of a block must lie in one pack of sources");
    static_assert(targets_at_once % n_block == 0);

    copied_points<V> copies{kernel.values,         kernel.columns,         kernel.n_x,
                            n_sides * kernel.n_in, n_sides * kernel.n_out, n_block};
    std::conditional_t<Strided, p2p_job<T>, p2p_job<T> const&> here = job;
    int const n_targets = static_cast<int>(end - begin);
    int const n_packs = sources.vectors();
    sources.clear_out();
    for (int i = 0; i < n_targets; i += n_block)
    {
      index_type const first_target = begin + static_cast<index_type>(i);
      index_type const at = Strided ? 0 : first_target;
      int const count = n_targets - i < n_block ? n_targets - i : n_block;
      if constexpr (Strided)
      {
        copies.read_targets(job, first_target, static_cast<index_type>(count), kernel.mutual);
        here.target_x = copies.x();
        here.target_q = copies.q();
        here.target_out = copies.out();
      }
      // a partial block repeats its last target, with q = 0
      for (int d = 0; d < kernel.n_x; ++d)
        for (int t = 0; t < n_block; ++t)
          kernel.target_x[d * n_block + t] =
              here.target_x[d][at + static_cast<index_type>(t < count ? t : count - 1)];
      if (kernel.mutual)
        for (int c = 0; c < n_sides * kernel.n_in; ++c)
          for (int t = 0; t < n_block; ++t)
            kernel.target_q[c * n_block + t] =
                t < count ? here.target_q[c][at + static_cast<index_type>(t)] : T(0);

      // The block's own pack is met one-sided; a mutual kernel met those before it when their points were the
      // targets.
      int const self = i - parts.own_begin;
      bool const behind = job.own_is_self && self >= 0;
      bool const inside = behind && self < parts.own_count;
      int const own_pack = inside ? self / width : behind ? parts.own_end : 0;
      int const first_back = inside ? own_pack + 1 : own_pack;
      for (int first = kernel.mutual ? own_pack : 0; first < n_packs; first += kernel.packs)
      {
        matrix_block<V> const matrices{
            kernel.target_x, sources.x(0) + first * width, sources.stride,
            n_packs - first < kernel.packs ? n_packs - first : kernel.packs, kernel.entries};
        kernel.evaluate(kernel.interaction, matrices, job.tests_for_zero);
        if (inside && first <= own_pack && own_pack < first + matrices.packs)
          for (int e = 0; e < kernel.n_entries; ++e)
            for (int t = 0; t < n_block; ++t)
              matrices.entry(e)[((own_pack - first) * n_block + t) * width + self % width + t] = 0;
        rhs_products<V> const products{
            kernel,          matrices,
            here.target_out, sources.q(0) + first * width,
            sources.columns, sources.out(0) - sources.columns + first * width,
            sources.stride,  at,
            count,           first_back > first ? first_back - first : 0};
        products.run(n_sides);
      }
      if constexpr (Strided)
        copies.put_back_targets(job, first_target, static_cast<index_type>(count));
    }
    sources.scatter_out(job, kernel.back_scale);
  }

  /// The job, at most most_sides right-hand sides at a time, with panels in `columns`. One function for all
  /// interactions.
  template <class V>
  [[gnu::noinline]] void run_products(rhs_kernel<V> const& kernel, p2p_job<real_of<V>> const& all,
                                      int most_sides, real_of<V>* columns, int n_reals) noexcept
  {
    constexpr int width = math<V>::width;
    int const n_passes = (all.n_rhs + most_sides - 1) / most_sides;
    for (int pass = 0, rhs = 0; pass < n_passes; ++pass)
    {
      int const n_sides = (all.n_rhs - rhs) / (n_passes - pass);
      int const inputs = n_sides * kernel.n_in,
                outputs = kernel.mutual ? n_sides * kernel.n_out : 0;
      // one pack less than fits: pad() stores a whole pack after the last source
      int const stride = n_reals / (kernel.n_x + inputs + outputs) / width * width;
      int const capacity = stride / width > most_packs ? most_packs * width : stride - width;
      rhs_panel<V> sources{columns,
                           kernel.dim,
                           kernel.n_x,
                           inputs,
                           outputs,
                           kernel.n_out,
                           all.n_rhs * kernel.n_in,
                           all.n_rhs * kernel.n_out,
                           stride,
                           capacity};
      auto job = all;
      job.source_q += rhs * kernel.n_in;
      job.target_out += rhs * kernel.n_out;
      if (kernel.mutual) job.target_q += rhs * kernel.n_in;
      if (kernel.mutual) job.source_out += rhs * kernel.n_out;
      for_each_panel(
          job, sources, kernel.mutual, [](index_type) { return false; },
          [&](index_type begin, index_type end, panel_parts const& parts)
          {
            if (job.strides == nullptr)
              meet_rhs<false>(kernel, job, n_sides, begin, end, sources, parts);
            else
              meet_rhs<true>(kernel, job, n_sides, begin, end, sources, parts);
          });
      rhs += n_sides;
    }
  }

  /// The kernel for a job of several right-hand sides.
  template <bool Mutual, class K, class V>
  [[gnu::noinline]] void run_rhs(void const* interaction, p2p_job<real_of<V>> const& job) noexcept
  {
    using T = real_of<V>;
    using back = way_back<K, V>;
    constexpr bool stores_back = Mutual && back::is_stored;
    constexpr int width = math<V>::width, n_block = matrix_block<V>::targets;
    constexpr int n_entries = K::n_in * K::n_out * (stores_back ? 2 : 1);
    constexpr int wider = K::n_in < K::n_out ? K::n_out : K::n_in;
    constexpr int most_sides = wider < rhs_columns ? rhs_columns / wider : 1;
    constexpr int reals = static_cast<int>(sizeof(T));
    constexpr int least = (point_columns<K> + most_sides * (K::n_in + K::n_out)) * 5 * width;
    constexpr int fitting = rhs_panel_bytes / reals, n_reals = fitting < least ? least : fitting;
    constexpr int packs = rhs_matrix_bytes / reals / (n_entries * n_block * width) + 1;

    alignas(64) T columns[n_reals];
    alignas(64) T entries[packs * n_entries * n_block * width];
    constexpr int n_columns = point_columns<K> + most_sides * (K::n_in + K::n_out);
    T values[n_columns * n_block];
    T* of_values[n_columns];
    T target_x[point_columns<K> * n_block];
    T target_q[most_sides * K::n_in * n_block], scale[K::n_out], back_scale[K::n_out];
    for (int o = 0; o < K::n_out; ++o)
    {
      scale[o] = back_scale[o] = static_cast<T>(final_scale<K, V>(o));
      if constexpr (Mutual || back::is_stored_instead)
        if (back::is_odd(o)) (back::is_stored_instead ? scale : back_scale)[o] *= -1;
    }
    run_products<V>({&evaluate_matrices<stores_back, K, V>, interaction, K::dim, point_columns<K>,
                     K::n_in, K::n_out, n_entries, stores_back ? n_entries / 2 : 0, Mutual, scale,
                     back_scale, entries, packs, target_x, target_q, values, of_values},
                    job, most_sides, columns, n_reals);
  }
}
