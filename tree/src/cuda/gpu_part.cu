// The lists of a part of a tree.
#include "gpu_part.cuh"

#include "launch.cuh"
#include "scratch.cuh"
#include "tree_lists.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace nearfield::detail
{
  namespace
  {
    constexpr char const* what = "gpu_part";

    /// Whether leaf b touches boxes whose keys are not in [begin, end).
    template <int Dim>
    struct is_at_border
    {
      leaf_cell<Dim> const* cells;
      std::uint64_t begin, end;
      int key_level;
      bool wraps[Dim];

      __device__ bool operator()(std::uint32_t b) const
      {
        leaf_cell<Dim> const cell = cells[b];
        std::uint32_t const last = (1u << cell.level) - 1;
        std::array<std::uint32_t, Dim> low, high;
        for (int d = 0; d < Dim; ++d)
        {
          std::uint32_t const at = cell.index[d];
          if (wraps[d] && (at == 0 || at == last)) return true;
          low[d] = at == 0 ? 0 : at - 1;
          high[d] = min(at + 1, last);
        }
        // keys ascend along each axis
        int const shift = Dim * (key_level - cell.level);
        return encode<leaf_order::morton, Dim>(low, cell.level) << shift < begin ||
               (encode<leaf_order::morton, Dim>(high, cell.level) + 1) << shift > end;
      }
    };

    __global__ void take_values(std::uint32_t const* from, index_type const* places,
                                std::uint32_t n, std::uint32_t* to)
    {
      std::uint32_t const i = thread_index();
      if (i < n) to[i] = from[places[i]];
    }

    /// Known leaves by chunk.
    struct chunk_view
    {
      std::uint32_t first[most_chunks_of_a_part + 1]; ///< the first leaves, then the end
      std::uint16_t set[most_chunks_of_a_part];       ///< of ranges
      int own;

      [[nodiscard]] __device__ bool is_own(std::uint32_t leaf) const
      {
        return leaf >= first[own] && leaf < first[own + 1];
      }
      [[nodiscard]] __device__ int of(std::uint32_t leaf) const
      {
        int chunk = 0;
        while (first[chunk + 1] <= leaf) ++chunk;
        return chunk;
      }
      [[nodiscard]] __device__ std::uint32_t n_own() const { return first[own + 1] - first[own]; }
    };

    /// The row of each leaf of the part.
    template <int Dim>
    struct row_view
    {
      leaf_view<Dim> leaves;
      chunk_view chunks;
      std::uint64_t const* offsets; ///< by known leaf
      index_type const* rows;
      std::uint32_t const* chunks_met; ///< by own leaf
      bool is_mutual;

      [[nodiscard]] __device__ std::uint32_t count(std::uint32_t leaf) const
      {
        return leaves.sources[leaf + 1] - leaves.sources[leaf];
      }
      /// Whether the list, inner or border, has a leaf with what it meets, or a part of that.
      [[nodiscard]] __device__ bool has_whole(bool of_border, std::uint32_t own_leaf) const
      {
        return !is_mutual && (chunks_met[own_leaf] != 0) == of_border;
      }
      /// Whether it has an element of the row of leaf b.
      [[nodiscard]] __device__ bool has(bool of_border, std::uint32_t b,
                                        std::uint32_t element) const
      {
        if (!is_mutual) return has_whole(of_border, b - chunks.first[chunks.own]);
        bool const is_own = chunks.is_own(leaves.leaf_of(element));
        return of_border ? !is_own : is_own && leaves.is_half(b, element);
      }
      /// Whether element i of a row, which the list has, begins a range.
      [[nodiscard]] __device__ bool begins(bool of_border, std::uint32_t b, index_type const* row,
                                           std::uint32_t i) const
      {
        return begins_range(leaves, row, i) || !has(of_border, b, row[i - 1]) ||
               chunks.of(leaves.leaf_of(row[i - 1])) != chunks.of(leaves.leaf_of(row[i]));
      }
    };

    /// Of leaves of other chunks there are no targets here.
    __global__ void take_targets(std::uint32_t n_known, index_type const* sources,
                                 chunk_view const chunks, index_type* targets)
    {
      std::uint32_t const b = thread_index();
      if (b > n_known) return;
      index_type const first = sources[chunks.first[chunks.own]],
                       last = sources[chunks.first[chunks.own + 1]];
      targets[b] = min(max(sources[b], first), last) - first;
    }

    /// The points of a known leaf, if it is own or met.
    struct points_left
    {
      index_type const* sources;
      std::uint8_t const* is_met;
      std::uint32_t first, last, n; ///< own leaves; known ones

      __device__ std::uint64_t operator()(std::uint32_t b) const
      {
        if (b >= n || (!is_met[b] && (b < first || b >= last))) return 0;
        return sources[b + 1] - sources[b];
      }
    };

    __global__ void narrow(std::uint64_t const* from, std::uint32_t n, index_type* to)
    {
      std::uint32_t const i = thread_index();
      if (i < n) to[i] = static_cast<index_type>(from[i]);
    }

    /// A warp for each leaf of the part. chunks_met: null if there is one chunk.
    template <int Dim>
    __global__ void __launch_bounds__(block_threads)
        look_at_rows(row_view<Dim> const all, std::uint64_t* n_sources, std::uint32_t* chunks_met,
                     std::uint8_t* is_met, unsigned long long* pairs)
    {
      __shared__ unsigned long long of_warp[block_threads / 32];
      std::uint32_t const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
      std::uint32_t const own = blockIdx.x * (block_threads / 32) + warp;
      unsigned long long sources = 0, met = 0;
      if (own < all.chunks.n_own())
      {
        std::uint32_t const b = all.chunks.first[all.chunks.own] + own;
        index_type const* const row = all.rows + all.offsets[b];
        auto const n = static_cast<std::uint32_t>(all.offsets[b + 1] - all.offsets[b]);
        std::uint32_t chunks = 0;
        for (std::uint32_t i = lane; i < n; i += 32)
        {
          std::uint32_t const c = all.leaves.leaf_of(row[i]);
          sources += all.count(c);
          if (all.chunks.is_own(c)) continue;
          chunks |= 1u << all.chunks.of(c);
          is_met[c] = 1;
        }
        chunks = __reduce_or_sync(all_lanes, chunks);
        for (int s = 16; s > 0; s /= 2) sources += __shfl_xor_sync(all_lanes, sources, s);
        std::uint32_t const n_targets = all.count(b);
        sources += n_targets;
        met = n_targets * (sources - 1);
        if (lane == 0)
        {
          n_sources[own] = sources;
          chunks_met[own] = chunks;
        }
      }
      if (lane == 0) of_warp[warp] = met;
      __syncthreads();
      if (threadIdx.x != 0) return;
      for (std::uint32_t w = 1; w < block_threads / 32; ++w) met += of_warp[w];
      if (met > 0) atomicAdd(pairs, met);
    }

    /// What is counted of the lists: inner, border.
    struct part_counts
    {
      unsigned long long pairs[2];
      std::uint32_t leaves_of_size[2][32]; ///< leaves that a list has, as in device_leaves
    };

    /// The ranges of each leaf in the inner list << 32, and in the border list. A warp for each.
    template <int Dim>
    __global__ void __launch_bounds__(block_threads)
        count_part(row_view<Dim> const all, std::uint64_t* counts, part_counts* found)
    {
      __shared__ part_counts of_block;
      for (std::uint32_t w = threadIdx.x; w < sizeof(part_counts) / 4; w += block_threads)
        reinterpret_cast<std::uint32_t*>(&of_block)[w] = 0;
      __syncthreads();
      std::uint32_t const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
      std::uint32_t const own = blockIdx.x * (block_threads / 32) + warp;
      if (own < all.chunks.n_own())
      {
        std::uint32_t const b = all.chunks.first[all.chunks.own] + own;
        index_type const* const row = all.rows + all.offsets[b];
        auto const n = static_cast<std::uint32_t>(all.offsets[b + 1] - all.offsets[b]);
        std::uint32_t ranges[2] = {0, 0};
        unsigned long long sources[2] = {0, 0};
        for (std::uint32_t i = lane; i < n; i += 32)
          for (int of_border = 0; of_border < 2; ++of_border)
            if (all.has(of_border, b, row[i]))
            {
              ranges[of_border] += all.begins(of_border, b, row, i);
              sources[of_border] += all.count(all.leaves.leaf_of(row[i]));
            }
        std::uint64_t count = 0;
        for (int of_border = 0; of_border < 2; ++of_border)
        {
          count = count << 32 | __reduce_add_sync(all_lanes, ranges[of_border]);
          for (int s = 16; s > 0; s /= 2)
            sources[of_border] += __shfl_xor_sync(all_lanes, sources[of_border], s);
        }
        if (lane == 0)
        {
          counts[own] = count;
          unsigned long long const points = all.count(b);
          int const size = 31 - __clz(static_cast<int>(points));
          for (int of_border = 0; of_border < 2; ++of_border)
          {
            bool const has_own = all.has_whole(of_border, own) || (all.is_mutual && of_border == 0);
            unsigned long long pairs = points * sources[of_border];
            if (all.is_mutual && of_border == 0) pairs *= 2;
            if (has_own) pairs += points * (points - 1);
            if (!has_own && pairs == 0) continue;
            atomicAdd(of_block.pairs + of_border, pairs);
            atomicAdd(of_block.leaves_of_size[of_border] + size, 1u);
          }
        }
      }
      __syncthreads();
      if (threadIdx.x < 2 && of_block.pairs[threadIdx.x] > 0)
        atomicAdd(found->pairs + threadIdx.x, of_block.pairs[threadIdx.x]);
      if (threadIdx.x < 64)
      {
        int const of_border = threadIdx.x / 32, k = threadIdx.x % 32;
        std::uint32_t const value = of_block.leaves_of_size[of_border][k];
        if (value > 0) atomicAdd(found->leaves_of_size[of_border] + k, value);
      }
    }

    /// A list as it is written.
    struct part_columns
    {
      index_type* offsets;
      source_range *own, *ranges;
    };

    /// `before` holds the counts of all earlier leaves. A warp for each, and one for the end.
    template <int Dim>
    __global__ void __launch_bounds__(block_threads)
        write_part(row_view<Dim> const all, std::uint64_t const* before, bool of_border,
                   part_columns const to)
    {
      std::uint32_t const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
      std::uint32_t const own = blockIdx.x * (block_threads / 32) + warp,
                          n_own = all.chunks.n_own();
      if (own > n_own) return;
      auto const at = static_cast<index_type>(of_border ? before[own] : before[own] >> 32);
      if (lane == 0) to.offsets[own] = at;
      if (own == n_own) return;

      chunk_view const& chunks = all.chunks;
      index_type const* const sources = all.leaves.sources;
      std::uint32_t const b = chunks.first[chunks.own] + own;
      if (lane == 0)
      {
        bool const has_own = all.has_whole(of_border, own) || (all.is_mutual && !of_border);
        index_type const first = sources[chunks.first[chunks.own]];
        to.own[own] = has_own ? source_range{sources[b] - first, sources[b + 1] - first, 0, 0}
                              : source_range{0, 0, 0, 0};
      }
      index_type const* const row = all.rows + all.offsets[b];
      auto const n = static_cast<std::uint32_t>(all.offsets[b + 1] - all.offsets[b]);
      std::uint32_t first = 0; // ranges before this round
      for (std::uint32_t i = lane; i - lane < n; i += 32)
      {
        bool const is_there = i < n && all.has(of_border, b, row[i]);
        bool const begins = is_there && all.begins(of_border, b, row, i);
        std::uint32_t const beginnings = __ballot_sync(all_lanes, begins);
        if (is_there)
        {
          std::uint32_t const r = at + first + __popc(beginnings & (~0u >> (31 - lane))) - 1;
          std::uint32_t const leaf = all.leaves.leaf_of(row[i]);
          int const chunk = chunks.of(leaf);
          index_type const base = sources[chunks.first[chunk]];
          if (begins)
          {
            to.ranges[r].begin = sources[leaf] - base;
            to.ranges[r].set = chunks.set[chunk];
            to.ranges[r].shift = all.leaves.shift_in(row[i]);
          }
          if (i + 1 == n || !all.has(of_border, b, row[i + 1]) ||
              all.begins(of_border, b, row, i + 1))
            to.ranges[r].end = sources[leaf + 1] - base;
        }
        first += __popc(beginnings);
      }
    }

    chunk_view view_of(std::span<index_type const> chunks, std::span<std::uint16_t const> sets,
                       std::size_t own)
    {
      chunk_view view{};
      std::ranges::copy(chunks, view.first);
      std::ranges::copy(sets, view.set);
      view.own = static_cast<int>(own);
      return view;
    }
  }

  template <int Dim>
  std::vector<index_type> gpu_part<Dim>::find_border(tree_tables<Dim> const& own, std::size_t n,
                                                     curve_range const& owned)
  {
    cuda_stream const stream = stream_.get();
    is_at_border<Dim> wanted{own.cells.data(), owned.begin, owned.end, layout_.level, {}};
    for (int d = 0; d < Dim; ++d) wanted.wraps[d] = period_[d] > 0;
    border_ = device_array<index_type>(n, stream, what);
    device_array<std::uint32_t> count(1, stream, what);
    auto const all = thrust::make_counting_iterator(std::uint32_t(0));
    with_scratch(stream, what,
                 [&](void* scratch, std::size_t& bytes)
                 {
                   return cub::DeviceSelect::If(scratch, bytes, all, border_.data(), count.data(),
                                                static_cast<std::int64_t>(n), wanted, stream);
                 });
    std::uint32_t found = 0;
    count.copy_to(std::span(&found, 1));
    std::vector<index_type> border(n_border_ = found);
    if (found > 0) device_copy(border.data(), border_.data(), found * sizeof(index_type), stream);
    return border;
  }

  template <int Dim>
  met_leaves gpu_part<Dim>::meet(part_leaves<Dim> const& known, tree_tables<Dim> const& own,
                                 staging& bus, executor& on)
  {
    cuda_stream const stream = stream_.get();
    chunks_.assign(known.chunks.begin(), known.chunks.end());
    own_ = known.own;
    leaf_set<Dim> const& leaves = known.leaves;
    std::uint32_t const n = leaves.size(), first = known.first(), last = known.last(),
                        n_own = last - first;
    std::size_t const n_offsets = n + std::size_t(1);
    if (any_period(period_) && n >= 1u << (32 - bits_of_shift))
      throw error("gpu_part: too many leaves in a periodic box", error_kind::out_of_memory);

    device_array<std::uint64_t> keys(n, stream, what);
    device_array<leaf_cell<Dim>> cells(n, stream, what);
    sources_ = device_array<index_type>(n_offsets, stream, what);
    targets_ = device_array<index_type>(n_offsets, stream, what);
    device_copy_inside(keys.data() + first, own.keys.data(), n_own * sizeof(std::uint64_t), stream);
    device_copy_inside(cells.data() + first, own.cells.data(), n_own * sizeof(leaf_cell<Dim>),
                       stream);
    std::vector<staged_column> columns{
        column_from(leaves.source_offsets.data(), sources_.data(), n_offsets)};
    auto const add = [&](index_type begin, index_type end)
    {
      if (begin == end) return;
      columns.push_back(column_from(leaves.keys.data() + begin, keys.data() + begin, end - begin));
      columns.push_back(
          column_from(leaves.cells.data() + begin, cells.data() + begin, end - begin));
    };
    add(0, first);
    add(last, n);
    bus.upload(on, columns, stream);
    chunk_view const chunks = view_of(chunks_, {}, own_);
    take_targets<<<blocks_for(n_offsets, block_threads), block_threads, 0, stream>>>(
        n, sources_.data(), chunks, targets_.data());
    check_cuda(cudaGetLastError(), "gpu_part: take_targets");

    list_report start{};
    start.leaves = n;
    device_array<list_report> report(std::span<list_report const>(&start, 1), stream);
    leaf_view<Dim> const view{keys.data(), cells.data(), targets_.data(), sources_.data(),
                              n,           layout_,      report.data(),   period_};
    offsets_ = device_array<std::uint64_t>(n_offsets, stream, what);
    auto const room = [&]
    {
      std::uint64_t n_met = 0;
      device_copy(&n_met, offsets_.data() + n, sizeof n_met, stream);
      if (n_met >= std::numeric_limits<index_type>::max())
        throw error("gpu_part: too many neighbours", error_kind::out_of_memory);
      return n_met + 1;
    };
    rows_ = make_rows(view, offsets_.data(), stream, what, room);
    n_own_ = device_array<index_type>(std::span<index_type const>(&n_own, 1), stream);
    auto const shifts = shifts_of(period_);
    if (!shifts.empty()) shifts_ = device_array<std::array<double, 3>>(std::span(shifts), stream);
    return look_at(view, known, bus, on);
  }

  template <int Dim>
  met_leaves gpu_part<Dim>::look_at(leaf_view<Dim> const& view, part_leaves<Dim> const& known,
                                    staging& bus, executor& on)
  {
    cuda_stream const stream = stream_.get();
    std::uint32_t const n = view.capacity, n_own = known.last() - known.first();
    device_array<std::uint64_t> n_sources(n_own, stream, what);
    device_array<std::uint8_t> is_met(n, stream, what);
    device_array<unsigned long long> pairs(1, stream, what);
    chunks_met_ = device_array<std::uint32_t>(n_own, stream, what);
    device_clear(is_met.data(), n, stream);
    device_clear(pairs.data(), sizeof(unsigned long long), stream);
    look_at_rows<Dim><<<blocks_of_warps(n_own), block_threads, 0, stream>>>(
        {view, view_of(chunks_, {}, own_), offsets_.data(), rows_.data(), nullptr, false},
        n_sources.data(), chunks_met_.data(), is_met.data(), pairs.data());
    check_cuda(cudaGetLastError(), "gpu_part: look_at_rows");

    met_leaves met;
    met.sources.resize(n_own);
    std::vector<staged_column> columns{column_to(met.sources.data(), n_sources, n_own)};
    device_array<std::uint32_t> of_border(n_border_, stream, what);
    bool const has_others = chunks_.size() > 2;
    if (has_others)
    {
      met.is_met.resize(n);
      columns.push_back(column_to(met.is_met.data(), is_met, n));
      // points of others are counted without those that none of the part meets
      std::size_t const n_offsets = n + std::size_t(1);
      device_array<std::uint64_t> before(n_offsets, stream, what);
      exclusive_sum(points_left{sources_.data(), is_met.data(), known.first(), known.last(), n},
                    before.data(), n + 1, stream, what);
      narrow<<<blocks_for(n_offsets, block_threads), block_threads, 0, stream>>>(
          before.data(), n + 1, sources_.data());
      check_cuda(cudaGetLastError(), "gpu_part: narrow");
    }
    if (has_others && n_border_ > 0)
    {
      met.chunks.resize(n_border_);
      take_values<<<blocks_for(n_border_, block_threads), block_threads, 0, stream>>>(
          chunks_met_.data(), border_.data(), static_cast<std::uint32_t>(n_border_),
          of_border.data());
      check_cuda(cudaGetLastError(), "gpu_part: take_values");
      columns.push_back(column_to(met.chunks.data(), of_border, n_border_));
    }
    bus.download(on, columns, stream);
    unsigned long long total = 0;
    device_copy(&total, pairs.data(), sizeof total, stream);
    met.pairs = total;
    sets_.assign(chunks_.size() - 1, 0);
    std::uint16_t n_sets = 1;
    for (std::size_t c = 0; c < sets_.size(); ++c)
      if (c != own_ && std::any_of(met.is_met.begin() + chunks_[c],
                                   met.is_met.begin() + chunks_[c + 1], std::identity()))
        sets_[c] = n_sets++;
    return met;
  }

  template <int Dim>
  part_lists<Dim> gpu_part<Dim>::lists(pair_form form, std::span<index_type const> order) const
  {
    cuda_stream const stream = stream_.get();
    index_type const n_own = chunks_[own_ + 1] - chunks_[own_];
    // rows are there: nobody looks for leaves
    leaf_view<Dim> const leaves{nullptr,        nullptr, targets_.data(), sources_.data(),
                                chunks_.back(), layout_, nullptr,         period_};
    row_view<Dim> const all{leaves,
                            view_of(chunks_, sets_, own_),
                            offsets_.data(),
                            rows_.data(),
                            chunks_met_.data(),
                            form == pair_form::mutual};
    std::size_t const n_offsets = n_own + std::size_t(1);
    device_array<std::uint64_t> counts(n_offsets, stream, what), before(n_offsets, stream, what);
    device_array<part_counts> found(1, stream, what);
    device_clear(counts.data(), n_offsets * sizeof(std::uint64_t), stream);
    device_clear(found.data(), sizeof(part_counts), stream);
    count_part<Dim>
        <<<blocks_of_warps(n_own), block_threads, 0, stream>>>(all, counts.data(), found.data());
    check_cuda(cudaGetLastError(), "gpu_part: count_part");
    exclusive_sum(column_load<std::uint64_t>{counts.data()}, before.data(),
                  static_cast<std::uint32_t>(n_offsets), stream, what);
    part_counts host;
    std::uint64_t n_ranges = 0;
    found.copy_to(std::span(&host, 1));
    device_copy(&n_ranges, before.data() + n_own, sizeof n_ranges, stream);

    part_lists<Dim> made;
    made.stream = stream_;
    for (int of_border = 0; of_border < 2; ++of_border)
    {
      auto& list = of_border ? made.border : made.inner;
      list.pairs = static_cast<double>(host.pairs[of_border]);
      list.own = device_array<source_range>(n_own, stream, what);
      list.offsets = device_array<index_type>(n_offsets, stream, what);
      list.ranges = device_array<source_range>(
          (of_border ? n_ranges & ~std::uint32_t(0) : n_ranges >> 32) + 1, stream, what);
      write_part<Dim><<<blocks_of_warps(n_offsets), block_threads, 0, stream>>>(
          all, before.data(), of_border != 0,
          {list.offsets.data(), list.own.data(), list.ranges.data()});
      check_cuda(cudaGetLastError(), "gpu_part: write_part");
      list_view const view{targets_.data() + chunks_[own_], list.own.data(), list.offsets.data(),
                           list.ranges.data(), shifts_.data()};
      list.leaves.full = list.leaves.half = view;
      list.leaves.n_leaves = n_own_.data();
      list.leaves.most_leaves = n_own;
      list.leaves.target_order = list.leaves.source_order = order;
      list.leaves.stream = stream;
      std::copy_n(host.leaves_of_size[of_border], 32, list.leaves.leaves_of_size.emplace().begin());
    }
    synchronize(stream);
    return made;
  }

  template class gpu_part<2>;
  template class gpu_part<3>;
}
