#pragma once

#include <nearfield/core/math.hpp>
#include <nearfield/core/vec.hpp>
#include <nearfield/p2p/job.hpp>
#include <nearfield/p2p/tuning.hpp>

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  template <class V, int N, class Column>
  NEARFIELD_FN vec<V, N> load_columns(Column* columns, int j)
  {
    vec<V, N> result;
    NEARFIELD_UNROLL
    for (int c = 0; c < N; ++c) result[c] = math<V>::load(columns[c] + j);
    return result;
  }

  template <class V, int N, class Column>
  NEARFIELD_FN void store_columns(Column* columns, int j, vec<V, N> const& values)
  {
    NEARFIELD_UNROLL
    for (int c = 0; c < N; ++c) math<V>::store(columns[c] + j, values[c]);
  }

  /// Sources copied side by side, in whole packs: the loop over pairs runs over arrays that the
  /// library owns, so it needs no tails and never reads outside the caller's arrays. The lanes that
  /// fill up a pack repeat the last source with q = 0. It has room for `Rhs` right-hand sides; NOut is 0
  /// where sources receive nothing.
  template <class V, int Dim, int NIn, int NOut, int Rhs = 1>
  struct panel
  {
    using T = real_of<V>;
    static constexpr int width = math<V>::width;
    static constexpr int columns = Dim + Rhs * (NIn + NOut);
    static constexpr int fitting = (Rhs == 1 ? panel_bytes : rhs_panel_bytes) /
                                   (columns * static_cast<int>(sizeof(T))) / width * width;
    static constexpr int least = 4 * width, most = terms_in_a_row * width;
    static constexpr int capacity = fitting < least ? least : fitting > most ? most : fitting;
    static constexpr int max_pieces = 64;

    /// Sources [begin, begin + count) of a chunk stand at `at`. Without initialisers: 64 of them would cost a
    /// small box more than its pairs.
    struct piece
    {
      index_type begin;
      int count, at, chunk;
    };

    // one pack more than fits: the last one is filled up by a whole store
    alignas(64) T x[Dim][capacity + width];
    alignas(64) T q[Rhs * NIn][capacity + width];
    alignas(64) T out[NOut > 0 ? Rhs* NOut : 1][capacity + width];
    piece pieces[max_pieces];
    int n_pieces = 0;
    int size = 0;
    int used = Rhs; // right-hand sides

    NEARFIELD_FN int n_rhs() const { return Rhs == 1 ? 1 : used; }

    /// The first n right-hand sides are there, zeros in place of the others.
    NEARFIELD_FN void use(int n)
    {
      used = n;
      for (int i = n * NIn; i < Rhs * NIn; ++i)
        for (int j = 0; j < capacity; j += width) math<V>::store(q[i] + j, V(T(0)));
      for (int o = n * NOut; o < Rhs * NOut; ++o)
        for (int j = 0; j < capacity; j += width) math<V>::store(out[o] + j, V(T(0)));
    }

    NEARFIELD_FN int vectors() const { return (size + width - 1) / width; }
    NEARFIELD_FN bool full() const { return size >= capacity || n_pieces == max_pieces; }

    NEARFIELD_FN void clear()
    {
      n_pieces = 0;
      size = 0;
    }

    /// Copies the sources of the range from `begin` on, as many as fit, and returns their number. Like
    /// scatter_out a function of its own: all kernels of equal columns share it, and compile faster.
    template <bool Mutual>
    [[gnu::noinline]] index_type append(p2p_job<T> const& job, source_range const& range,
                                        index_type begin) noexcept
    {
      index_type const room = static_cast<index_type>(capacity - size);
      index_type const length = range.end - begin;
      index_type const count = length < room ? length : room;
      if (count == 0) return 0;
      T const* from[Dim + NIn];
      T* to[Dim + NIn];
      T const* const* const inputs = job.source_q + range.chunk * chunk_columns(job, NIn);
      NEARFIELD_UNROLL
      for (int d = 0; d < Dim; ++d)
      {
        from[d] = job.source_x[range.chunk * Dim + d] + begin;
        to[d] = x[d] + size;
      }
      NEARFIELD_UNROLL
      for (int i = 0; i < NIn; ++i)
      {
        from[Dim + i] = inputs[i] + begin;
        to[Dim + i] = q[i] + size;
      }
      copy<Dim, NIn>(to, from, count);
      if constexpr (Rhs > 1)
        for (int i = NIn; i < n_rhs() * NIn; ++i)
        {
          T const* const more = inputs[i] + begin;
          T* const there = q[i] + size;
          copy<0, 1>(&there, &more, count);
        }
      if (range.shift != 0)
        for (int d = 0; d < Dim; ++d)
        {
          T const shift = static_cast<T>(job.shifts[range.shift][static_cast<unsigned>(d)]);
          for (index_type j = 0; j < count; ++j) to[d][j] += shift;
        }
      if constexpr (Mutual)
        pieces[n_pieces++] = {begin, static_cast<int>(count), size, range.chunk};
      size += static_cast<int>(count);
      return count;
    }

    /// The same of a range that fits into one pack, and the panel is complete. Returns false where a column
    /// ends too close to the end of a page.
    template <bool Mutual>
    NEARFIELD_FN bool take_pack(p2p_job<T> const& job, source_range const& range, int count)
    {
      static_assert(Rhs == 1);
      T const* from[Dim + NIn];
      bool crosses = false;
      NEARFIELD_UNROLL
      for (int c = 0; c < Dim + NIn; ++c)
      {
        from[c] = range.begin + (c < Dim ? job.source_x[range.chunk * Dim + c]
                                         : job.source_q[range.chunk * NIn + c - Dim]);
        crosses |= math<V>::crosses_page(from[c]);
      }
      if (crosses) return false;
      NEARFIELD_UNROLL
      for (int d = 0; d < Dim; ++d)
        math<V>::store(x[d], math<V>::load_first(from[d], count, V(from[d][count - 1])));
      NEARFIELD_UNROLL
      for (int i = 0; i < NIn; ++i)
        math<V>::store(q[i], math<V>::load_first(from[Dim + i], count, V(T(0))));
      if constexpr (Mutual) pieces[0] = {range.begin, count, 0, range.chunk};
      n_pieces = Mutual;
      size = width;
      return true;
    }

    /// Fills the last pack up.
    NEARFIELD_FN void pad()
    {
      if (size % width == 0) return;
      NEARFIELD_UNROLL
      for (int d = 0; d < Dim; ++d) math<V>::store(x[d] + size, V(x[d][size - 1]));
      for (int i = 0; i < n_rhs() * NIn; ++i) math<V>::store(q[i] + size, V(T(0)));
      size = vectors() * width;
    }

    /// The same after one range that began with a pack: where packs are loaded in part, append has done it.
    NEARFIELD_FN void pad_first(source_range const& range)
    {
      if (math<V>::partial && range.shift == 0)
        size = vectors() * width;
      else
        pad();
    }

    NEARFIELD_FN void clear_out()
    {
      for (int v = 0; v < vectors(); ++v)
      {
        NEARFIELD_UNROLL
        for (int o = 0; o < NOut; ++o) math<V>::store(out[o] + v * width, V(T(0)));
      }
      if constexpr (Rhs > 1)
        for (int o = NOut; o < n_rhs() * NOut; ++o)
          for (int v = 0; v < vectors(); ++v) math<V>::store(out[o] + v * width, V(T(0)));
    }

    /// Adds what the sources received to the caller's arrays, times scale, and uses it up.
    [[gnu::noinline]] void scatter_out(p2p_job<T> const& job, T const* scale) noexcept
    {
      for (int p = 0; p < n_pieces; ++p)
      {
        piece const& from = pieces[p];
        T* const* const outputs = job.source_out + from.chunk * chunk_columns(job, NOut);
        for (int rhs = 0; rhs < n_rhs(); ++rhs)
        {
          NEARFIELD_UNROLL
          for (int o = 0; o < NOut; ++o)
            add_scaled(outputs[rhs * NOut + o] + from.begin, out[rhs * NOut + o] + from.at,
                       from.count, scale[o]);
        }
      }
    }

  private:
    /// The columns of a chunk of sources, of n for each right-hand side.
    static NEARFIELD_FN int chunk_columns(p2p_job<T> const& job, int n)
    {
      return Rhs == 1 ? n : job.n_rhs * n;
    }

    // Both end with a pack that is loaded in part, or else one that overlaps the one before, where there is
    // one: a tail of single values would cost as much as the pairs of a small box. All columns go together,
    // since the length of a range is what the branch predictor cannot know.

    /// NX columns of positions, which end by repeating the last one, and NQ of inputs, which end in zeros.
    template <int NX, int NQ>
    static NEARFIELD_FN void copy(T* const* to, T const* const* from, index_type count)
    {
      constexpr int n = NX + NQ;
      index_type j = 0;
      if constexpr (math<V>::partial)
      {
        for (; j + width < count; j += width) copy_pack<n>(to, from, j);
        int const rest = static_cast<int>(count - j);
        NEARFIELD_UNROLL
        for (int c = 0; c < n; ++c)
          math<V>::store(to[c] + j,
                         load_rest(from[c] + j, rest, c < NX ? V(from[c][count - 1]) : V(T(0))));
      }
      else if (count < width)
        for (; j < count; ++j)
        {
          NEARFIELD_UNROLL
          for (int c = 0; c < n; ++c) to[c][j] = from[c][j];
        }
      else
      {
        for (; j + width < count; j += width) copy_pack<n>(to, from, j);
        copy_pack<n>(to, from, count - width);
      }
    }

    static NEARFIELD_FN V load_rest(T const* from, int count, V const& rest)
    {
      return math<V>::crosses_page(from) ? math<V>::gather_first(from, count, rest)
                                         : math<V>::load_first(from, count, rest);
    }

    template <int N>
    static NEARFIELD_FN void copy_pack(T* const* to, T const* const* from, index_type j)
    {
      NEARFIELD_UNROLL
      for (int c = 0; c < N; ++c) math<V>::store(to[c] + j, math<V>::load(from[c] + j));
    }

    static NEARFIELD_FN void add_scaled(T* to, T* sums, int count, T scale)
    {
      V const factor(scale);
      int j = 0;
      for (; j + width <= count; j += width)
        math<V>::store(to + j, math<V>::load(to + j) + factor * math<V>::load(sums + j));
      if constexpr (math<V>::partial)
      {
        // few are added one by one: the loads of the next call on the same points would wait for a store of a
        // part
        if (count - j > 4 && !math<V>::crosses_page(to + j))
        {
          V const before = math<V>::load_first(to + j, count - j, factor);
          return math<V>::store_first(to + j, count - j, before + factor * math<V>::load(sums + j));
        }
      }
      else if (j > 0 && j < count)
      {
        math<V>::store(sums + j - width, V(T(0))); // added already
        j = count - width;
        return math<V>::store(to + j, math<V>::load(to + j) + factor * math<V>::load(sums + j));
      }
      for (; j < count; ++j) to[j] += scale * sums[j];
    }
  };

  /// How the panel meets the targets of its box: the packs [0, own_end) hold sources that may coincide
  /// with targets; own_begin is the position of the first of them among the points of the own range.
  struct panel_parts
  {
    int own_end = 0;
    int own_begin = 0;
    int own_count = 0;
  };

  /// Every box of the job meets its own sources and those of its ranges, a panel at a time:
  /// meet(begin, end, parts) for the targets [begin, end).
  template <bool Mutual, class Panel, class Meet>
  NEARFIELD_INLINE inline void for_each_panel(p2p_job<typename Panel::T> const& job, Panel& sources,
                                              Meet const& meet)
  {
    for (index_type b = job.first_box; b < job.last_box; ++b)
    {
      index_type const begin = job.box_offsets[b];
      index_type const end = job.box_offsets[b + 1];
      if (begin == end) continue;
      // members one by one: a load of two of them would wait for a caller that has just stored each
      source_range const& own = job.own[b];
      index_type next_own = own.begin;
      index_type const own_begin = own.begin, own_end = own.end;
      index_type range = job.range_offsets[b];
      index_type const last_range = job.range_offsets[b + 1];
      index_type next = range < last_range ? job.ranges[range].begin : 0;
      while (next_own < own_end || range < last_range)
      {
        panel_parts parts;
        sources.clear();
        if (next_own < own_end)
        {
          parts.own_begin = static_cast<int>(next_own - own_begin);
          index_type const count = sources.template append<Mutual>(job, own, next_own);
          next_own += count;
          parts.own_count = static_cast<int>(count);
          sources.pad_first(own);
          parts.own_end = sources.vectors();
        }
        if (next_own >= own_end)
          while (range < last_range && !sources.full())
          {
            next += sources.template append<Mutual>(job, job.ranges[range], next);
            if (next == job.ranges[range].end && ++range < last_range)
              next = job.ranges[range].begin;
          }
        if (sources.size == 0) continue;
        sources.pad();
        meet(begin, end, parts);
      }
    }
  }
}
