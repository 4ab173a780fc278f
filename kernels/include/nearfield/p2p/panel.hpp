#pragma once

#include <nearfield/core/math.hpp>
#include <nearfield/p2p/job.hpp>
#include <nearfield/p2p/tuning.hpp>

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// Sources copied side by side, in whole packs. The loop over pairs runs over arrays that the library owns,
  /// so it needs no tails and never reads outside the caller's arrays. Lanes left over in the last pack
  /// repeat the last source, with q = 0.
  template <class V, int Dim, int NIn, int NOut>
  struct panel
  {
    using T = real_of<V>;
    static constexpr int width = math<V>::width;
    static constexpr int columns = Dim + NIn + NOut;
    static constexpr int fitting =
        panel_bytes / (columns * static_cast<int>(sizeof(T))) / width * width;
    static constexpr int least = 4 * width, most = terms_in_a_row * width;
    static constexpr int capacity = fitting < least ? least : fitting > most ? most : fitting;
    static constexpr int max_pieces = 64;

    /// Sources [begin, begin + count) of a chunk lie at `at`. No initialisers: 64 of them would cost a small box
    /// more than its pairs.
    struct piece
    {
      index_type begin;
      int count, chunk, at;
    };

    // one pack more than fits: pad() stores a whole pack after the last source
    alignas(64) T x[Dim][capacity + width];
    alignas(64) T q[NIn][capacity + width];
    alignas(64) T out[NOut][capacity + width];
    piece pieces[max_pieces];
    int n_pieces = 0;
    int size = 0;

    NEARFIELD_FN int vectors() const { return (size + width - 1) / width; }
    NEARFIELD_FN bool full() const { return size >= capacity || n_pieces == max_pieces; }

    NEARFIELD_FN void clear()
    {
      n_pieces = 0;
      size = 0;
    }

    /// Copies sources from the start of the range, as many as fit, and returns their number. Like scatter_out
    /// it is not inlined: all kernels with the same columns share it, and compile faster.
    template <bool Mutual>
    [[gnu::noinline]] index_type append(p2p_job<T> const& job, source_range const& range) noexcept
    {
      index_type const room = static_cast<index_type>(capacity - size);
      index_type const length = range.end - range.begin;
      index_type const count = length < room ? length : room;
      T const* from[Dim + NIn];
      T* to[Dim + NIn];
      NEARFIELD_UNROLL
      for (int d = 0; d < Dim; ++d)
      {
        from[d] = job.source_x[range.chunk * Dim + d] + range.begin;
        to[d] = x[d] + size;
      }
      NEARFIELD_UNROLL
      for (int i = 0; i < NIn; ++i)
      {
        from[Dim + i] = job.source_q[range.chunk * NIn + i] + range.begin;
        to[Dim + i] = q[i] + size;
      }
      copy(to, from, count);
      if (range.shift != 0)
        for (int d = 0; d < Dim; ++d)
        {
          T const shift = static_cast<T>(job.shifts[range.shift][static_cast<unsigned>(d)]);
          for (index_type j = 0; j < count; ++j) to[d][j] += shift;
        }
      if constexpr (Mutual)
        pieces[n_pieces++] = {range.begin, static_cast<int>(count), range.chunk, size};
      size += static_cast<int>(count);
      return count;
    }

    /// Completes the last pack.
    NEARFIELD_FN void pad()
    {
      NEARFIELD_UNROLL
      for (int d = 0; d < Dim; ++d) math<V>::store(x[d] + size, V(x[d][size - 1]));
      NEARFIELD_UNROLL
      for (int i = 0; i < NIn; ++i) math<V>::store(q[i] + size, V(T(0)));
      size = vectors() * width;
    }

    NEARFIELD_FN void clear_out()
    {
      for (int v = 0; v < vectors(); ++v)
      {
        NEARFIELD_UNROLL
        for (int o = 0; o < NOut; ++o) math<V>::store(out[o] + v * width, V(T(0)));
      }
    }

    /// Adds scale times what the sources received to the caller's arrays. `out` is undefined afterwards.
    [[gnu::noinline]] void scatter_out(p2p_job<T> const& job, T const* scale) noexcept
    {
      for (int p = 0; p < n_pieces; ++p)
      {
        piece const& from = pieces[p];
        NEARFIELD_UNROLL
        for (int o = 0; o < NOut; ++o)
          add_scaled(job.source_out[from.chunk * NOut + o] + from.begin, out[o] + from.at,
                     from.count, scale[o]);
      }
    }

  private:
    // Both functions end with a pack in part or, where there is none, with one that overlaps the one before, if
    // there is one: a tail of single values would cost as much as the pairs of a small box. All columns are
    // handled together, since the branch predictor cannot guess the length of a range.

    static NEARFIELD_FN void copy(T* const* to, T const* const* from, index_type count)
    {
      constexpr int n = Dim + NIn;
      index_type j = 0;
      if constexpr (!loads_in_part<V>)
        if (count < width)
        {
          for (; j < count; ++j)
          {
            NEARFIELD_UNROLL
            for (int c = 0; c < n; ++c) to[c][j] = from[c][j];
          }
          return;
        }
      for (; j + width < count; j += width)
      {
        NEARFIELD_UNROLL
        for (int c = 0; c < n; ++c) math<V>::store(to[c] + j, math<V>::load(from[c] + j));
      }
      NEARFIELD_UNROLL
      for (int c = 0; c < n; ++c)
        if constexpr (loads_in_part<V>)
          math<V>::store(to[c] + j,
                         math<V>::load_first(from[c] + j, static_cast<int>(count - j), V(T(0))));
        else
          math<V>::store(to[c] + count - width, math<V>::load(from[c] + count - width));
    }

    static NEARFIELD_FN void add_scaled(T* to, T* sums, int count, T scale)
    {
      if (count < width)
      {
        for (int j = 0; j < count; ++j) to[j] += scale * sums[j];
        return;
      }
      V const factor(scale);
      int j = 0;
      for (; j + width <= count; j += width)
        math<V>::store(to + j, math<V>::load(to + j) + factor * math<V>::load(sums + j));
      if (j == count) return;
      math<V>::store(sums + j - width, V(T(0))); // added already
      j = count - width;
      math<V>::store(to + j, math<V>::load(to + j) + factor * math<V>::load(sums + j));
    }
  };
}
