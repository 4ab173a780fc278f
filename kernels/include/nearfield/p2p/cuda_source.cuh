#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/job.hpp>
#include <nearfield/p2p/pair.hpp>

#include <algorithm>

/// \file
/// What the CUDA kernels share: the job as a kernel parameter, and the sources of an item, which pass through
/// tiles in shared memory.

namespace nearfield::detail
{
  /// The columns of B right-hand sides of K, which one pass serves.
  template <class K, int B>
  struct several
  {
    static constexpr int dim = K::dim, n_parameters = parameters_of<K>;
    static constexpr int n_in = B * K::n_in, n_out = B * K::n_out;
  };

  /// The interaction and the number of right-hand sides of a pass.
  template <class K>
  struct pass_of
  {
    using interaction = K;
    static constexpr int width = 1;
  };
  template <class K, int B>
  struct pass_of<several<K, B>>
  {
    using interaction = K;
    static constexpr int width = B;
  };

  template <class K, class T>
  struct device_sources
  {
    T const* x[point_columns<K>];
    T const* q[K::n_in];
  };

  /// Some right-hand sides of a cuda_job by value, as a kernel parameter.
  template <class K, class T>
  struct device_job
  {
    using interaction = typename pass_of<K>::interaction;
    static constexpr int width = pass_of<K>::width;
    static constexpr int n_in = interaction::n_in, n_out = interaction::n_out;

    device_sources<K, T> targets;
    T* out[K::n_out];
    T* halo[K::n_out];
    device_sources<K, T> sources[most_source_allocations];

    index_type const* box_offsets;
    source_range const* own;
    index_type const* range_offsets;
    source_range const* ranges;
    std::array<double, 3> const* shifts;
    source_set const* sets;
    cuda_item const* items;
    cuda_item_counts const* item_counts;
    index_type n_wide, n_medium, n_items;

    // one box
    index_type n_targets, n_sources;
    index_type piece; ///< targets per item
    index_type parts; ///< the number of parts that each item is computed in, by its sources

    bool own_is_self, has_many_shifts, singular, always_tests;
    /// those of the pass that exist; columns of the others repeat the first inputs, and have no outputs
    int n_rhs;

    /// The right-hand sides from number `first` on, as many as a pass serves.
    explicit device_job(cuda_job<T> const& from, int first = 0)
        : box_offsets(from.box_offsets), own(from.own), range_offsets(from.range_offsets),
          ranges(from.ranges), shifts(from.shifts), sets(from.sets), items(from.items),
          item_counts(from.item_counts), n_wide(from.n_wide), n_medium(from.n_medium),
          n_items(from.n_items), n_targets(from.n_targets), n_sources(from.n_sources), piece(0),
          parts(1), own_is_self(from.own_is_self), has_many_shifts(from.has_many_shifts),
          singular(from.singular), always_tests(radial_interaction<interaction> && !from.singular),
          n_rhs(std::min(width, from.n_rhs - first))
    {
      auto const input = [&](int c)
      {
        return first * n_in + (c < n_rhs * n_in ? c : c % n_in);
      };
      for (int d = 0; d < point_columns<K>; ++d) targets.x[d] = from.target_x[d];
      for (int c = 0; c < K::n_in; ++c)
        targets.q[c] = from.target_q ? from.target_q[input(c)] : nullptr;
      for (int o = 0; o < K::n_out; ++o)
      {
        bool const exists = o < n_rhs * n_out;
        out[o] = exists ? from.target_out[first * n_out + o] : nullptr;
        halo[o] = exists && from.halo_out ? from.halo_out[first * n_out + o] : nullptr;
      }
      for (int a = 0; a < most_source_allocations; ++a)
      {
        bool const exists = a < from.n_allocations;
        for (int d = 0; d < point_columns<K>; ++d)
          sources[a].x[d] = exists ? from.source_x[a * point_columns<K> + d] : nullptr;
        for (int c = 0; c < K::n_in; ++c)
          sources[a].q[c] = exists ? from.source_q[a * from.n_rhs * n_in + input(c)] : nullptr;
      }
    }

    /// Whether to look for pairs at distance zero among the points of an item: a singular interaction leaves
    /// them out, and a radial one gets 1/|r| = 0.
    [[nodiscard]] __host__ __device__ bool tests_own_points() const
    {
      return radial_interaction<interaction> || singular;
    }

    /// The numbers of items of the list.
    [[nodiscard]] __device__ cuda_item_counts counts() const
    {
      return item_counts ? *item_counts : cuda_item_counts{n_wide, n_medium, n_items};
    }

    /// Item i of the list or, without one, of the box.
    [[nodiscard]] __device__ cuda_item item(index_type i) const
    {
      if (items) return items[i];
      index_type const first = i * piece;
      return {0, first, min(piece, n_targets - first)};
    }
  };

  /// A source in a tile: x, then q; aligned for the widest loads.
  template <class K, class T>
  struct alignas(16) tile_source
  {
    T value[point_columns<K> + K::n_in];

    __device__ vec<T, point_columns<K>> x() const
    {
      vec<T, point_columns<K>> result;
      NEARFIELD_UNROLL
      for (int d = 0; d < point_columns<K>; ++d) result[d] = value[d];
      return result;
    }
    __device__ vec<T, K::n_in> q() const
    {
      vec<T, K::n_in> result;
      NEARFIELD_UNROLL
      for (int c = 0; c < K::n_in; ++c) result[c] = value[point_columns<K> + c];
      return result;
    }
  };

  /// The sources that an item meets, in the order of the list and without the item's own points, which a
  /// kernel meets first. All threads of a team hold the same state.
  template <class K, class T>
  class source_feed
  {
  public:
    /// The own range without [self_begin, self_end), then the ranges of the box.
    __device__ source_feed(device_job<K, T> const& job, source_range own, index_type self_begin,
                           index_type self_end, index_type range, index_type last_range)
        : job_(job), range_(range), last_range_(last_range), rest_(own), begin_(own.begin),
          end_(self_begin)
    {
      rest_.begin = self_end;
      open(own);
    }

    /// Puts the next sources, at most `capacity`, into tile[0], tile[1] ... and returns their number; thread
    /// `thread` of `threads`. It passes the place of each in the tile and in the current segment to
    /// `place(at, source)`.
    template <class Source, class Place>
    __device__ index_type fill(Source* tile, index_type capacity, index_type thread,
                               index_type threads, Place&& place)
    {
      index_type filled = 0;
      while (filled < capacity && (begin_ < end_ || next()))
      {
        index_type const n = min(end_ - begin_, capacity - filled);
        for (index_type j = thread; j < n; j += threads)
        {
          load(tile[filled + j], begin_ + j);
          place(filled + j, begin_ + j);
        }
        filled += n;
        begin_ += n;
      }
      return filled;
    }

    /// Whether what the sources of the current segment receive goes to the halo, and to which place of it.
    [[nodiscard]] __device__ bool in_halo() const { return in_halo_; }
    [[nodiscard]] __device__ index_type halo_begin() const { return halo_begin_; }

    /// Source j of the current segment.
    __device__ void load(tile_source<K, T>& to, index_type j) const
    {
      index_type const table = job_.has_many_shifts ? allocation_ : 0;
      device_sources<K, T> const& from = job_.sources[allocation_ - table];
      NEARFIELD_UNROLL
      for (int d = 0; d < point_columns<K>; ++d) to.value[d] = from.x[d][set_begin_ + j];
      NEARFIELD_UNROLL
      for (int c = 0; c < K::n_in; ++c) to.value[point_columns<K> + c] = from.q[c][set_begin_ + j];
      if (index_type const shift = table << 16 | shift_; shift != 0)
      {
        NEARFIELD_UNROLL
        for (int d = 0; d < K::dim; ++d)
          to.value[d] += static_cast<T>(reinterpret_cast<double const*>(job_.shifts + shift)[d]);
      }
    }

  private:
    __device__ bool next()
    {
      for (;;)
      {
        if (rest_.begin < rest_.end)
        {
          begin_ = rest_.begin;
          end_ = rest_.end;
          rest_.begin = rest_.end;
          return true;
        }
        if (range_ == last_range_) return false;
        source_range const range = job_.ranges[range_++];
        open(range);
        begin_ = range.begin;
        end_ = range.end;
        if (begin_ < end_) return true;
      }
    }

    __device__ void open(source_range const& range)
    {
      source_set const set = job_.sets ? job_.sets[range.set] : source_set{range.set, 0, 0};
      allocation_ = set.allocation;
      set_begin_ = set.begin;
      shift_ = range.shift;
      in_halo_ = job_.halo[0] && (job_.items == nullptr || range.set != 0);
      halo_begin_ = set.halo;
    }

    device_job<K, T> const& job_;
    index_type allocation_, set_begin_;
    index_type range_, last_range_;
    source_range rest_;
    index_type begin_, end_, halo_begin_;
    std::uint16_t shift_;
    bool in_halo_;
  };

  /// Calls meet(r, j) for the targets r and sources j = first, first + stride ... that are closer than the cutoff of K.
  /// A thread first tests 32 distances, one for each bit of a word, and then calls meet() for the bits that are set.
  template <class K, class T, int R, class Meet>
  __device__ __forceinline__ void
  for_pairs_within(K const& k, vec<T, point_columns<K>> const (&x)[R],
                   tile_source<K, T> const* tile, index_type first, index_type stride,
                   index_type end, Meet const& meet)
  {
    // a little more: K decides by its own |r|^2, which may be rounded in another way
    T const cutoff = static_cast<T>(k.cutoff() * (1 + 4 * (sizeof(T) == 4 ? 0x1p-23 : 0x1p-52)));
    T const most2 = cutoff * cutoff;
    for (index_type begin = first; begin < end; begin += 32 * stride)
    {
      std::uint32_t near[R] = {};
      index_type const last = min(end, begin + 32 * stride);
      std::uint32_t bit = 1;
#pragma unroll 4
      for (index_type j = begin; j < last; j += stride, bit <<= 1)
      {
        auto const source = tile[j].x();
        NEARFIELD_UNROLL
        for (int r = 0; r < R; ++r)
        {
          auto const d = between<K>(x[r], source).r;
          near[r] |= dot(d, d) < most2 ? bit : 0;
        }
      }
      NEARFIELD_UNROLL
      for (int r = 0; r < R; ++r)
#pragma unroll 1
        for (std::uint32_t left = near[r]; left != 0; left &= left - 1)
          meet(r, begin + static_cast<index_type>(__ffs(static_cast<int>(left)) - 1) * stride);
    }
  }

  /// The R targets of a thread meet the sources first, first + stride ... of a tile. Tested: a pair at
  /// distance zero adds zero.
  template <bool Tested, int Unroll, class K, class T, int R>
  __device__ void sweep_tile(K const& k, vec<T, point_columns<K>> const (&x)[R],
                             vec<T, K::n_out> (&sum)[R], tile_source<K, T> const* tile,
                             index_type first, index_type stride, index_type end)
  {
    vec<T, K::n_in> const none{};
    vec<T, K::n_out> nothing;
    if constexpr (has_cutoff<K>)
      for_pairs_within(k, x, tile, first, stride, end,
                       [&](int r, index_type j) __attribute__((always_inline))
                       {
                         tile_source<K, T> const source = tile[j];
                         interact<false, Tested>(k, between<K>(x[r], source.x()), source.q(),
                                                 sum[r], none, nothing);
                       });
    else
    {
#pragma unroll Unroll
      for (index_type j = first; j < end; j += stride)
      {
        tile_source<K, T> const source = tile[j];
        NEARFIELD_UNROLL
        for (int r = 0; r < R; ++r)
          interact<false, Tested>(k, between<K>(x[r], source.x()), source.q(), sum[r], none,
                                  nothing);
      }
    }
  }

  /// As sweep_tile, but leaves out source self + r * stride_of_self, which is target r itself. If `tested`, a
  /// pair at distance zero adds zero.
  template <class K, class T, int R>
  __device__ void sweep_tile_with_care(K const& k, vec<T, point_columns<K>> const (&x)[R],
                                       vec<T, K::n_out> (&sum)[R], tile_source<K, T> const* tile,
                                       index_type first, index_type stride, index_type end,
                                       index_type self, index_type stride_of_self, bool tested)
  {
    vec<T, K::n_in> const none{};
    vec<T, K::n_out> nothing;
#pragma unroll 1
    for (index_type j = first; j < end; j += stride)
    {
      tile_source<K, T> const source = tile[j];
      NEARFIELD_UNROLL
      for (int r = 0; r < R; ++r)
      {
        auto pair = between<K>(x[r], source.x());
        auto q = source.q();
        bool left_out = j == self + static_cast<index_type>(r) * stride_of_self;
        if constexpr (!radial_interaction<K>)
        {
          bool const at_zero = tested && dot(pair.r, pair.r) == T(0);
          if (at_zero) pair.r[0] = T(1);
          left_out = left_out || at_zero;
        }
        NEARFIELD_UNROLL
        for (int c = 0; c < K::n_in; ++c) q[c] = left_out ? T(0) : q[c];
        interact<false, radial_interaction<K>>(k, static_cast<pair_at<K, T>&&>(pair), q, sum[r],
                                               none, nothing);
      }
    }
  }

  template <class V, int R>
  __device__ void clear(V (&sums)[R])
  {
    NEARFIELD_UNROLL
    for (int r = 0; r < R; ++r) sums[r] = V{};
  }

  template <class T>
  __device__ bool is_finite(T x)
  {
    return x - x == T(0);
  }
}
