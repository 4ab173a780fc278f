// The lists of a part of a tree.
#include "gpu_part.cuh"

#include "part_lists.cuh"
#include "scratch.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <algorithm>
#include <limits>

namespace nearfield::detail
{
  namespace
  {
    constexpr char const* what = "gpu_part";

    chunk_view view_of(std::span<index_type const> chunks, std::size_t own)
    {
      chunk_view view{};
      std::ranges::copy(chunks, view.first);
      view.own = static_cast<int>(own);
      return view;
    }
  }

  template <int Dim>
  page_vector<border_leaf<Dim>>
  gpu_part<Dim>::find_border(tree_tables<Dim> const& own, std::span<curve_range const> parts,
                             std::size_t part, staging& bus, executor& on)
  {
    cuda_stream const stream = stream_.get();
    std::size_t const n = own.capacity.leaves;
    if (n == 0) return {};
    device_array<curve_range> const ranges(parts, stream);
    is_at_border<Dim> wanted{own.cells.data(),
                             ranges.data(),
                             static_cast<std::uint32_t>(parts.size()),
                             static_cast<std::uint32_t>(part),
                             layout_.level,
                             {}};
    for (int d = 0; d < Dim; ++d) wanted.wraps[d] = period_[d] > 0;
    border_ = device_array<index_type>(n, stream, what);
    device_array<std::uint32_t> count(1, stream, what);
    select_numbers(n, wanted, border_.data(), count.data(), stream, what);
    std::uint32_t found = 0;
    count.copy_to(std::span(&found, 1));
    n_border_ = found;
    if (found == 0) return {};
    device_array<border_leaf<Dim>> border(found, stream, what);
    take_border<Dim><<<blocks_for(found, block_threads), block_threads, 0, stream>>>(
        own.cells.data(), own.keys.data(), own.target_offsets.data(), border_.data(), found,
        border.data());
    check_cuda(cudaGetLastError(), "gpu_part: take_border");
    page_vector<border_leaf<Dim>> host(found);
    bus.download(on, std::array{column_to(host.data(), border, found)}, stream);
    return host;
  }

  template <int Dim>
  met_leaves gpu_part<Dim>::meet(part_leaves<Dim> const& known, tree_tables<Dim> const& own,
                                 staging& bus, executor& on)
  {
    cuda_stream const stream = stream_.get();
    chunks_.assign(known.chunks.begin(), known.chunks.end());
    own_ = known.own;
    leaf_set<Dim> const& others = known.others;
    std::uint32_t const n = chunks_.back(), first = known.first(), last = known.last(),
                        n_own = last - first;
    std::size_t const n_offsets = n + std::size_t(1);
    if (any_period(period_) && n >= 1u << (32 - bits_of_shift))
      throw error("gpu_part: too many leaves in a periodic box", error_kind::out_of_memory);

    device_array<std::uint64_t> keys(n, stream, what);
    device_array<leaf_cell<Dim>> cells(n, stream, what);
    sources_ = device_array<index_type>(n_offsets, stream, what);
    targets_ = device_array<index_type>(n_offsets, stream, what);
    device_copy_async(keys.data() + first, own.keys.data(), n_own * sizeof(std::uint64_t), stream);
    device_copy_async(cells.data() + first, own.cells.data(), n_own * sizeof(leaf_cell<Dim>),
                      stream);
    device_array<index_type> other_offsets(others.size() + std::size_t(1), stream, what);
    std::vector<staged_column> columns{
        column_from(others.source_offsets.data(), other_offsets.data(), other_offsets.size())};
    auto const add = [&](index_type begin, index_type end, index_type to)
    {
      if (begin == end) return;
      columns.push_back(column_from(others.keys.data() + begin, keys.data() + to, end - begin));
      columns.push_back(column_from(others.cells.data() + begin, cells.data() + to, end - begin));
    };
    add(0, first, 0);
    add(first, others.size(), last);
    bus.upload(on, columns, stream);
    unite_offsets<<<blocks_for(n_offsets, block_threads), block_threads, 0, stream>>>(
        n, view_of(chunks_, own_), own.target_offsets.data(), other_offsets.data(), targets_.data(),
        sources_.data());
    check_cuda(cudaGetLastError(), "gpu_part: unite_offsets");

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
    device_array<std::uint8_t> is_met(n - n_own, stream, what);
    device_array<unsigned long long> pairs(1, stream, what);
    chunks_met_ = device_array<std::uint64_t>(n_own, stream, what);
    if (is_met.size() > 0) device_clear(is_met.data(), is_met.size(), stream);
    device_clear(pairs.data(), sizeof(unsigned long long), stream);
    look_at_rows<Dim><<<blocks_of_warps(n_own), block_threads, 0, stream>>>(
        {view, view_of(chunks_, own_), offsets_.data(), rows_.data(), nullptr, false},
        chunks_met_.data(), is_met.data(), pairs.data());
    check_cuda(cudaGetLastError(), "gpu_part: look_at_rows");

    met_leaves met;
    std::vector<staged_column> columns;
    device_array<std::uint64_t> of_border(n_border_, stream, what);
    bool const has_others = chunks_.size() > 2;
    if (has_others)
    {
      met.is_met.resize(is_met.size());
      columns.push_back(column_to(met.is_met.data(), is_met, is_met.size()));
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
    row_view<Dim> const all{leaves,       view_of(chunks_, own_), offsets_.data(),
                            rows_.data(), chunks_met_.data(),     form == pair_form::mutual};
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
