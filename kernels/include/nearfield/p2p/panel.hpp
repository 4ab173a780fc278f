#pragma once

#include <nearfield/core/math.hpp>
#include <nearfield/p2p/job.hpp>
#include <nearfield/p2p/tuning.hpp>

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  template <class T>
  NEARFIELD_FN p2p_strides strides_of(p2p_job<T> const& job)
  {
    return job.strides != nullptr ? *job.strides : p2p_strides{};
  }

  // Both functions end with a pack in part or, where there is none, with one that overlaps the one before, if
  // there is one: a tail of single values would cost as much as the pairs of a small box. All columns are
  // handled together, since the branch predictor cannot guess the length of a range.

  template <class V, int N>
  NEARFIELD_FN void copy_columns(real_of<V>* const* to, real_of<V> const* const* from,
                                 index_type count)
  {
    using T = real_of<V>;
    constexpr int width = math<V>::width;
    index_type j = 0;
    if constexpr (!loads_in_part<V>)
      if (count < width)
      {
        for (; j < count; ++j)
        {
          NEARFIELD_UNROLL
          for (int c = 0; c < N; ++c) to[c][j] = from[c][j];
        }
        return;
      }
    for (; j + width < count; j += width)
    {
      NEARFIELD_UNROLL
      for (int c = 0; c < N; ++c) math<V>::store(to[c] + j, math<V>::load(from[c] + j));
    }
    NEARFIELD_UNROLL
    for (int c = 0; c < N; ++c)
      if constexpr (loads_in_part<V>)
        math<V>::store(to[c] + j,
                       math<V>::load_first(from[c] + j, static_cast<int>(count - j), V(T(0))));
      else
        math<V>::store(to[c] + count - width, math<V>::load(from[c] + count - width));
  }

  /// to += scale * sums; `sums` is undefined afterwards.
  template <class V>
  NEARFIELD_FN void add_scaled(real_of<V>* to, real_of<V>* sums, int count, real_of<V> scale)
  {
    using T = real_of<V>;
    constexpr int width = math<V>::width;
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

  // Columns with strides: functions that all kernels share, since loops of their own would take the compiler a
  // tenth of the time of a kernel.

  /// Points [first, first + count) of columns whose values are `stride` apart, to columns that are `distance` apart.
  template <class V>
  [[gnu::noinline]] void read_strided(real_of<V>* to, int distance, int n_columns,
                                      real_of<V> const* const* from, std::ptrdiff_t stride,
                                      index_type first, index_type count) noexcept
  {
    for (int c = 0; c < n_columns; ++c, to += distance)
      for (index_type i = 0; i < count; ++i) to[i] = from[c][(first + i) * stride];
  }

  template <class V>
  concept transposes_four = requires { requires math<V>::transposes; };

  /// The first `count` points of NX columns with one stride and of NIn with another: all in one loop, as above.
  template <class V, int NX, int NIn>
  [[gnu::noinline]] void read_points(real_of<V>* const* to, real_of<V> const* const* from,
                                     std::ptrdiff_t stride_x, std::ptrdiff_t stride_q,
                                     index_type count) noexcept
  {
    if constexpr (NX + NIn == 4 && transposes_four<V>)
    {
      bool const are_records = stride_x == stride_q && from[1] == from[0] + 1 &&
                               from[2] == from[0] + 2 && from[3] == from[0] + 3;
      if (are_records && count >= 4)
      {
        for (index_type j = 0; j + 4 < count; j += 4)
          math<V>::transpose_four(from[0] + j * stride_x, stride_x, to, j);
        index_type const j = count - 4;
        return math<V>::transpose_four(from[0] + j * stride_x, stride_x, to, j);
      }
    }
    NEARFIELD_NO_UNROLL
    for (index_type j = 0; j < count; ++j)
    {
      NEARFIELD_UNROLL
      for (int d = 0; d < NX; ++d) to[d][j] = from[d][j * stride_x];
      NEARFIELD_UNROLL
      for (int i = 0; i < NIn; ++i) to[NX + i][j] = from[NX + i][j * stride_q];
    }
  }

  /// The way back.
  template <class V>
  [[gnu::noinline]] void write_strided(real_of<V>* const* to, std::ptrdiff_t stride,
                                       index_type first, index_type count, int n_columns,
                                       real_of<V> const* from, int distance) noexcept
  {
    for (int c = 0; c < n_columns; ++c, from += distance)
      for (index_type i = 0; i < count; ++i) to[c][(first + i) * stride] = from[i];
  }

  /// At most `most` points of one side of a job, copied from columns with strides into columns of their own, so that
  /// what is written for columns serves them too. It does not own its memory.
  template <class V>
  struct copied_points
  {
    using T = real_of<V>;

    T* values; ///< of all columns, `most` apart
    T** columns;
    int const n_x, n_in, n_out, most;

    T* const* x() const { return columns; }
    T* const* q() const { return columns + n_x; }
    T* const* out() const { return columns + n_x + n_in; }

    [[gnu::noinline]] void read_targets(p2p_job<T> const& job, index_type begin, index_type count,
                                        bool with_inputs) noexcept
    {
      p2p_strides const strides = strides_of(job);
      for (int c = 0; c < n_x + n_in + n_out; ++c) columns[c] = values + c * most;
      read_strided<V>(*x(), most, n_x, job.target_x, strides.target_x, begin, count);
      if (with_inputs)
        read_strided<V>(*q(), most, n_in, job.target_q, strides.target_q, begin, count);
      read_strided<V>(*out(), most, n_out, job.target_out, strides.target_out, begin, count);
    }

    [[gnu::noinline]] void read_sources(p2p_job<T> const& job, source_range const& range,
                                        bool receive) noexcept
    {
      p2p_strides const& strides = *job.strides;
      index_type const count = range.end - range.begin;
      for (int c = 0; c < n_x + n_in + n_out; ++c) columns[c] = values + c * most;
      read_strided<V>(*x(), most, n_x, job.source_x + range.set * n_x, strides.source_x,
                      range.begin, count);
      read_strided<V>(*q(), most, n_in, job.source_q + range.set * n_in, strides.source_q,
                      range.begin, count);
      if (receive)
        read_strided<V>(*out(), most, n_out, job.source_out + range.set * n_out, strides.source_out,
                        range.begin, count);
    }

    void put_back_targets(p2p_job<T> const& job, index_type begin, index_type count) const noexcept
    {
      write_strided<V>(job.target_out, job.strides->target_out, begin, count, n_out, *out(), most);
    }

    // Targets that meet several panels: the sums of each go to a total, and that to the columns.

    void clear_out(index_type count) const noexcept
    {
      for (int o = 0; o < n_out; ++o)
        for (index_type i = 0; i < count; ++i) out()[o][i] = 0;
    }

    [[gnu::noinline]] void add_out(double* total, index_type count, bool is_first) const noexcept
    {
      for (int o = 0; o < n_out; ++o, total += most)
        for (index_type i = 0; i < count; ++i)
          total[i] = (is_first ? 0 : total[i]) + static_cast<double>(out()[o][i]);
    }

    [[gnu::noinline]] void put_back_total(p2p_job<T> const& job, index_type begin, index_type count,
                                          double const* total) const noexcept
    {
      std::ptrdiff_t const stride = strides_of(job).target_out;
      for (int o = 0; o < n_out; ++o, total += most)
        for (index_type i = 0; i < count; ++i)
        {
          T& to = job.target_out[o][(begin + i) * stride];
          to = static_cast<T>(static_cast<double>(to) + total[i]);
        }
    }

    void put_back_sources(p2p_job<T> const& job, source_range const& range) const noexcept
    {
      write_strided<V>(job.source_out + range.set * n_out, job.strides->source_out, range.begin,
                       range.end - range.begin, n_out, *out(), most);
    }
  };

  /// Sources [begin, begin + count) of a set of a mutual kernel, which receive, stand in the panel from number
  /// `at` on. No initialisers: 64 of them would cost a small box more than its pairs.
  struct panel_piece
  {
    index_type begin;
    int count, set, at;
  };
  inline constexpr int panel_pieces = 64; ///< the most in a panel

  /// Adds scale * sums of a piece of the panel to a column of the job; `sums` is undefined afterwards.
  template <class V>
  NEARFIELD_FN void add_to_sources(p2p_job<real_of<V>> const& job, real_of<V>* column,
                                   panel_piece const& piece, real_of<V>* sums, real_of<V> scale)
  {
    // columns with strides are copied: one loop for both, or a compiler might contract only one of two to an FMA
    real_of<V> copy[most_packs * math<V>::width];
    real_of<V>* to = column + piece.begin;
    index_type const count = static_cast<index_type>(piece.count);
    std::ptrdiff_t const stride = strides_of(job).source_out;
    if (stride != 1)
    {
      to = copy;
      read_strided<V>(copy, 0, 1, &column, stride, piece.begin, count);
    }
    add_scaled<V>(to, sums + piece.at, piece.count, scale);
    if (stride != 1) write_strided<V>(&column, stride, piece.begin, count, 1, copy, 0);
  }

  /// Sources copied side by side, in whole packs. The loop over pairs runs over arrays that the library owns,
  /// so it needs no tails and never reads outside the caller's arrays. Lanes left over in the last pack
  /// repeat the last source, with q = 0. The first Dim of the NX columns of points are coordinates.
  template <class V, int Dim, int NX, int NIn, int NOut, bool Mutual>
  struct panel
  {
    using T = real_of<V>;
    static constexpr int width = math<V>::width;
    static constexpr int columns = NX + NIn + NOut;
    static constexpr int fitting =
        panel_bytes / (columns * static_cast<int>(sizeof(T))) / width * width;
    static constexpr int least = 4 * width, most = most_packs * width;
    static constexpr int capacity = fitting < least ? least : fitting > most ? most : fitting;

    // one pack more than fits: pad() stores a whole pack after the last source
    alignas(64) T x[NX][capacity + width];
    alignas(64) T q[NIn][capacity + width];
    alignas(64) T out[NOut][capacity + width];
    panel_piece pieces[panel_pieces];
    int n_pieces = 0;
    int size = 0;

    NEARFIELD_FN int vectors() const { return (size + width - 1) / width; }
    NEARFIELD_FN bool full() const { return size >= capacity || n_pieces == panel_pieces; }

    NEARFIELD_FN void clear()
    {
      n_pieces = 0;
      size = 0;
    }

    /// Copies sources from the start of the range, as many as fit, and returns their number. Like scatter_out
    /// it is not inlined: all kernels with the same columns share it, and compile faster.
    [[gnu::noinline]] index_type append(p2p_job<T> const& job, source_range const& range) noexcept
    {
      index_type const room = static_cast<index_type>(capacity - size);
      index_type const length = range.end - range.begin;
      index_type const count = length < room ? length : room;
      T const* const* const source_x = job.source_x + range.set * NX;
      T const* const* const source_q = job.source_q + range.set * NIn;
      auto const find = [&](T const** from, T** to, p2p_strides const& strides)
                            __attribute__((always_inline))
      {
        NEARFIELD_UNROLL
        for (int d = 0; d < NX; ++d)
        {
          from[d] = source_x[d] + range.begin * strides.source_x;
          to[d] = x[d] + size;
        }
        NEARFIELD_UNROLL
        for (int i = 0; i < NIn; ++i)
        {
          from[NX + i] = source_q[i] + range.begin * strides.source_q;
          to[NX + i] = q[i] + size;
        }
      };
      // arrays of their own: those that a function takes are in memory
      if (job.strides != nullptr)
      {
        T const* from[NX + NIn];
        T* to[NX + NIn];
        find(from, to, *job.strides);
        read_points<V, NX, NIn>(to, from, job.strides->source_x, job.strides->source_q, count);
      }
      else
      {
        T const* from[NX + NIn];
        T* to[NX + NIn];
        find(from, to, {});
        copy_columns<V, NX + NIn>(to, from, count);
      }
      if (range.shift != 0)
        for (int d = 0; d < Dim; ++d)
        {
          T const shift = static_cast<T>(job.shifts[range.shift][static_cast<unsigned>(d)]);
          for (index_type j = 0; j < count; ++j) x[d][static_cast<index_type>(size) + j] += shift;
        }
      if constexpr (Mutual)
        pieces[n_pieces++] = {range.begin, static_cast<int>(count), range.set, size};
      size += static_cast<int>(count);
      return count;
    }

    /// Completes the last pack.
    NEARFIELD_FN void pad()
    {
      NEARFIELD_UNROLL
      for (int d = 0; d < NX; ++d) math<V>::store(x[d] + size, V(x[d][size - 1]));
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
        panel_piece const& from = pieces[p];
        NEARFIELD_UNROLL
        for (int o = 0; o < NOut; ++o)
          add_to_sources<V>(job, job.source_out[from.set * NOut + o], from, out[o], scale[o]);
      }
    }
  };

  /// A panel for some right-hand sides, whose columns are counted at run time: positions, then inputs, then
  /// what sources receive (none if one-sided). It does not own its memory.
  template <class V>
  struct rhs_panel
  {
    using T = real_of<V>;
    static constexpr int width = math<V>::width;

    T* const columns;
    int const dim, n_x, inputs,
        outputs;                       ///< n_x columns of points, the first dim of them coordinates
    int const n_out;                   ///< of one right-hand side
    int const set_inputs, set_outputs; ///< columns of a set of the job
    int const stride;
    int const capacity;
    panel_piece pieces[panel_pieces] = {};
    int n_pieces = 0;
    int size = 0;

    T* x(int c) const { return columns + c * stride; }
    T* q(int c) const { return x(n_x + c); }
    T* out(int c) const { return x(n_x + inputs + c); }
    int vectors() const { return (size + width - 1) / width; }
    bool full() const { return size >= capacity || n_pieces == panel_pieces; }

    void clear()
    {
      n_pieces = 0;
      size = 0;
    }

    index_type append(p2p_job<T> const& job, source_range const& range) noexcept
    {
      index_type const room = static_cast<index_type>(capacity - size);
      index_type const length = range.end - range.begin;
      index_type const count = length < room ? length : room;
      auto const copy = [&](T* column, T const* from, std::ptrdiff_t step)
      {
        T* const to = column + size;
        T const* const begin = from + range.begin;
        if (step == 1)
          copy_columns<V, 1>(&to, &begin, count);
        else
          read_strided<V>(to, 0, 1, &from, step, range.begin, count);
      };
      p2p_strides const strides = strides_of(job);
      for (int d = 0; d < n_x; ++d)
      {
        copy(x(d), job.source_x[range.set * n_x + d], strides.source_x);
        if (range.shift == 0 || d >= dim) continue;
        T const shift = static_cast<T>(job.shifts[range.shift][static_cast<unsigned>(d)]);
        for (index_type j = 0; j < count; ++j) x(d)[static_cast<index_type>(size) + j] += shift;
      }
      for (int c = 0; c < inputs; ++c)
        copy(q(c), job.source_q[range.set * set_inputs + c], strides.source_q);
      pieces[n_pieces++] = {range.begin, static_cast<int>(count), range.set, size};
      size += static_cast<int>(count);
      return count;
    }

    void pad()
    {
      for (int d = 0; d < n_x; ++d) math<V>::store(x(d) + size, V(x(d)[size - 1]));
      for (int c = 0; c < inputs; ++c) math<V>::store(q(c) + size, V(T(0)));
      size = vectors() * width;
    }

    void clear_out()
    {
      for (int c = 0; c < outputs; ++c)
        for (int j = 0; j < size; j += width) math<V>::store(out(c) + j, V(T(0)));
    }

    void scatter_out(p2p_job<T> const& job, T const* scale) noexcept
    {
      for (int p = 0; p < n_pieces; ++p)
      {
        panel_piece const& from = pieces[p];
        for (int c = 0; c < outputs; ++c)
          add_to_sources<V>(job, job.source_out[from.set * set_outputs + c], from, out(c),
                            scale[c % n_out]);
      }
    }
  };

  /// How the panel meets targets of its box. The packs [0, own_end) hold the sources that may coincide with targets:
  /// own_count of them, the first of which has the number own_begin, counted from the first target.
  struct panel_parts
  {
    int own_end = 0;
    int own_begin = 0;
    int own_count = 0;
    int number = 0; ///< of the panels that these targets meet
    bool is_last = false;
  };

  /// Every box b of the job for which is_done(b) is false meets its own sources and those of its ranges, a panel
  /// at a time: meet(begin, end, parts) for the targets [begin, end), at most targets_at_once. In the mutual form of a
  /// box with itself, these have met the sources before them.
  template <class Panel, class T, class IsDone, class Meet>
  inline __attribute__((always_inline)) void for_each_panel(p2p_job<T> const& job, Panel& sources,
                                                            bool mutual, IsDone const& is_done,
                                                            Meet const& meet)
  {
    for (index_type b = job.first_box; b < job.last_box; ++b)
    {
      if (job.box_offsets[b] == job.box_offsets[b + 1] || is_done(b)) continue;
      index_type end = job.box_offsets[b] + job.first_target;
      do {
        index_type const begin = end, box_end = job.box_offsets[b + 1];
        end = box_end - begin > targets_at_once ? begin + targets_at_once : box_end;
        source_range own = job.own[b];
        index_type const zero = own.begin + (begin - job.box_offsets[b]);
        if (mutual && job.own_is_self) own.begin = zero;
        index_type range = job.range_offsets[b];
        index_type const last_range = job.range_offsets[b + 1];
        source_range rest = range < last_range ? job.ranges[range] : source_range{};
        // past ranges without sources, which would take the place of a piece in a panel
        auto const to_next = [&]() __attribute__((always_inline))
        {
          while (range < last_range && rest.begin == rest.end)
            if (++range < last_range) rest = job.ranges[range];
        };
        to_next();
        panel_parts parts{.is_last = false};
        for (int number = 0; !parts.is_last; ++number)
        {
          parts = {.number = number};
          sources.clear();
          if (own.begin < own.end)
          {
            parts.own_begin = static_cast<int>(own.begin - zero);
            index_type const count = sources.append(job, own);
            own.begin += count;
            parts.own_count = static_cast<int>(count);
            sources.pad();
            parts.own_end = sources.vectors();
          }
          if (own.begin == own.end)
          {
            while (range < last_range && !sources.full())
            {
              rest.begin += sources.append(job, rest);
              to_next();
            }
            parts.is_last = range == last_range;
          }
          if (sources.size == 0) break;
          sources.pad();
          meet(begin, end, parts);
        }
      } while (end < job.box_offsets[b + 1]);
    }
  }
}
