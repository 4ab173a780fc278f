// Trees of a GPU: what does not depend on the type of coordinates.
#include "primitives.hpp"
#include "scratch.cuh"
#include "trace.hpp"
#include "tree_leaves.cuh"
#include "tree_lists.cuh"
#include "tree_on_gpu.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace nearfield::detail
{
  namespace
  {
    /// Lengths that are taken of neighbours and ranges of a leaf before they are known.
    constexpr std::size_t likely_neighbours = 20, likely_ranges = 10, likely_half_ranges = 6;

    tree_capacity likely_capacity(std::size_t n_leaves)
    {
      return {n_leaves, likely_neighbours * n_leaves, likely_ranges * n_leaves,
              likely_half_ranges * n_leaves};
    }

    /// The first lengths: those of boxes that are a quarter full.
    template <int Dim>
    tree_capacity first_capacity(std::size_t n_points, tree_options<Dim> const& options)
    {
      double const leaves = options.level
                                ? std::ldexp(1., Dim * *options.level)
                                : 4. * static_cast<double>(n_points) / options.max_leaf_size + 1024;
      return likely_capacity(
          static_cast<std::size_t>(std::min(leaves, static_cast<double>(n_points))));
    }

    /// Offsets of n rows; those of none are {0}.
    void fit_offsets(device_array<index_type>& offsets, std::size_t n, cuda_stream stream,
                     char const* what)
    {
      fit(offsets, n + 1, stream, what);
      if (n == 0) device_clear(offsets.data(), sizeof(index_type), stream);
    }

    /// Throws nearfield::error for more leaves than the rows of a periodic tree can name.
    template <int Dim>
    void check_leaves(tree_options<Dim> const& options, list_report const& found)
    {
      constexpr std::uint32_t most = 1u << (32 - bits_of_shift);
      if (any_period(options.period) && found.leaves >= most)
        throw error("build_tree: found " + std::to_string(found.leaves) +
                    " leaves in a periodic box on a GPU, expected fewer than " +
                    std::to_string(most) + "; use a larger max_leaf_size or a lower level");
    }
  }

  template <int Dim>
  void tree_on_gpu<Dim>::find_heads(sets& sorted, tree_tables<Dim>& to, curve_range const& owned)
  {
    bool const is_adaptive = !options_.level;
    std::array<key_column, 2> columns;
    std::array<window_maxima, 2> maxima{};
    std::array<device_array<std::int8_t>, 2> memory;
    for (int s = 0; s < 2; ++s)
    {
      auto const n = static_cast<std::uint32_t>(sorted[s].keys.size());
      auto const most = static_cast<std::uint32_t>(options_.max_leaf_size);
      columns[s] = {sorted[s].keys.data(), n, most};
      if (!is_adaptive || n <= most) continue;
      unsigned const blocks = blocks_for(n, block_threads);
      std::uint32_t width = std::min(4u, most);
      std::size_t const arrays = 4 * std::size_t(width) < most + std::size_t(1) ? 2 : 1;
      memory[s] = device_array<std::int8_t>(arrays * n, stream_, "build_tree: levels");
      std::int8_t *now = memory[s].data(), *wider = now + n;
      first_maxima<Dim><<<blocks, block_threads, 0, stream_>>>(columns[s], width, now);
      for (; 4 * std::size_t(width) < most + std::size_t(1); width *= 4)
      {
        widen_maxima<<<blocks, block_threads, 0, stream_>>>({now, width}, n, wider);
        std::swap(now, wider);
      }
      check_cuda(cudaGetLastError(), "build_tree: widen_maxima");
      maxima[s] = {now, width};
    }
    for (int s = 0; s < 2; ++s)
    {
      std::uint32_t const n = columns[s].n;
      if (n == 0) continue;
      unsigned const blocks = blocks_for(n, block_threads);
      if (is_adaptive)
      {
        sorted[s].levels = device_array<std::uint8_t>(n, stream_, "build_tree: levels");
        levels_of_points<Dim><<<blocks, block_threads, 0, stream_>>>(
            columns[s], maxima[s], columns[1 - s], maxima[1 - s], foreign_keys::around<Dim>(owned),
            sorted[s].levels.data());
        check_cuda(cudaGetLastError(), "build_tree: levels_of_points");
      }
      sorted[s].heads = device_array<std::uint32_t>(n, stream_, "build_tree: heads");
      select_numbers(n, is_head<Dim>{heads_of(sorted[s], s, to)}, sorted[s].heads.data(),
                     to.report.data()->heads + s, stream_, "build_tree: heads");
    }
    end_stage("levels", stream_);
  }

  template <int Dim>
  leaf_heads<Dim> tree_on_gpu<Dim>::heads_of(sorted_keys const& set, int s,
                                             tree_tables<Dim>& to) const
  {
    key_layout const layout = layout_of_valid(options_);
    return {set.keys.data(),
            set.levels.data(),
            set.heads.data(),
            to.report.data()->heads + s,
            static_cast<std::uint32_t>(set.keys.size()),
            layout.level};
  }

  template <int Dim>
  void tree_on_gpu<Dim>::make_tables(sets const& sorted, bool one_set, tree_tables<Dim>& to)
  {
    std::size_t const n = to.n_targets + to.n_sources;
    if (n > 0) to.capacity = next_.leaves > 0 ? next_ : first_capacity(n, options_);
    for (;;)
    {
      check_cuda(cudaMemsetAsync(&to.report.data()->lists, 0, sizeof(list_report), stream_),
                 "cudaMemsetAsync");
      make_leaves(sorted, one_set, to);
      make_lists(one_set, to);
      built_->done = 0;
      report(to, built_);
      wait_for_word(built_->done, stream_, "build_tree: a kernel");
      list_report const& found = built_->lists;
      check_leaves(options_, found);
      if (found.neighbours > std::numeric_limits<index_type>::max())
        throw error("build_tree: the leaves have more than 2^32 - 1 neighbours; use a larger "
                    "max_leaf_size or a lower level");
      if (built_->invalid != 0 || to.capacity.holds(found)) return;
      to.capacity = capacity_for(found, to.capacity);
    }
  }

  template <int Dim>
  tree_capacity tree_on_gpu<Dim>::capacity_for(list_report const& found,
                                               tree_capacity const& had) const
  {
    auto const more = [this](std::size_t n)
    {
      return static_cast<std::size_t>(slack_ * static_cast<double>(n)) + 64;
    };
    // what could not be counted is guessed
    std::size_t const n_leaves = more(found.leaves);
    tree_capacity result = likely_capacity(n_leaves);
    if (found.leaves > had.leaves) return result;
    result.neighbours = more(found.neighbours);
    if (found.neighbours > had.neighbours)
    {
      result.ranges = std::max(result.ranges, result.neighbours / 2);
      result.half_ranges = std::max(result.half_ranges, result.neighbours / 4);
      return result;
    }
    result.ranges = more(found.ranges);
    result.half_ranges = more(found.half_ranges);
    return result;
  }

  template <int Dim>
  void tree_on_gpu<Dim>::make_leaves(sets const& sorted, bool one_set, tree_tables<Dim>& to)
  {
    char const* const what = "build_tree: leaves";
    std::size_t const n_leaves = to.capacity.leaves;
    fit(to.keys, n_leaves, stream_, what);
    fit(to.cells, n_leaves, stream_, what);
    fit(to.own, n_leaves, stream_, what);
    fit_offsets(to.target_offsets, n_leaves, stream_, what);
    if (!one_set) fit_offsets(to.source_offsets, n_leaves, stream_, what);
    if (n_leaves == 0) return;

    leaf_heads<Dim> const targets = heads_of(sorted[0], 0, to),
                          sources = heads_of(sorted[1], 1, to);
    leaf_columns<Dim> const columns{to.keys.data(),
                                    to.cells.data(),
                                    to.target_offsets.data(),
                                    to.source_offsets.data(),
                                    to.own.data(),
                                    static_cast<std::uint32_t>(n_leaves),
                                    layout_of_valid(options_),
                                    &to.report.data()->lists};
    device_array<std::uint64_t> before;
    if (!one_set)
    {
      before =
          device_array<std::uint64_t>(sources.n + std::size_t(1), stream_, "build_tree: leaves");
      exclusive_sum(is_without_targets<Dim>{targets, sources}, before.data(), sources.n + 1,
                    stream_, "build_tree: leaves");
    }
    unsigned const blocks = std::min(blocks_for(n_leaves, block_threads), 8 * multiprocessors());
    if (targets.n > 0)
      write_leaves<false>
          <<<blocks, block_threads, 0, stream_>>>(targets, sources, before.data(), columns);
    if (sources.n > 0)
      write_leaves<true>
          <<<blocks, block_threads, 0, stream_>>>(targets, sources, before.data(), columns);
    check_cuda(cudaGetLastError(), "build_tree: write_leaves");
    end_stage("leaves", stream_);
  }

  template <int Dim>
  void tree_on_gpu<Dim>::make_part(device_array<std::uint64_t>&& keys, curve_range const& owned,
                                   tree_tables<Dim>& tables)
  {
    tables = {};
    if (keys.size() == 0) return;
    tables.report = device_array<tree_report<Dim>>(1, stream_, "build_tree: report");
    device_clear(tables.report.data(), sizeof(tree_report<Dim>), stream_);
    sets sorted;
    sorted[0].keys = std::move(keys);
    find_heads(sorted, tables, owned);
    std::uint32_t n = 0;
    device_copy(&n, tables.report.data()->heads, sizeof n, stream_);
    tables.capacity.leaves = n;
    make_leaves(sorted, true, tables);
  }

  template <int Dim>
  void tree_on_gpu<Dim>::make_lists(bool one_set, tree_tables<Dim>& to)
  {
    char const* const what = "build_tree: lists";
    tree_capacity const& capacity = to.capacity;
    std::size_t const n = capacity.leaves;
    fit_offsets(to.range_offsets, n, stream_, what);
    fit(to.ranges, capacity.ranges, stream_, what);
    if (one_set)
    {
      fit_offsets(to.half_offsets, n, stream_, what);
      fit(to.half_ranges, capacity.half_ranges, stream_, what);
    }
    if (n == 0) return;

    leaf_view<Dim> const leaves{to.keys.data(),
                                to.cells.data(),
                                to.target_offsets.data(),
                                one_set ? to.target_offsets.data() : to.source_offsets.data(),
                                static_cast<std::uint32_t>(n),
                                layout_of_valid(options_),
                                &to.report.data()->lists,
                                options_.period};
    device_array<std::uint64_t> sums(3 * (n + 1), stream_, what);
    std::uint64_t *const offsets = sums.data(), *const counts = offsets + n + 1,
                         *const before = counts + n + 1;
    auto const rows =
        make_rows(leaves, offsets, stream_, what, [&] { return capacity.neighbours; });

    unsigned const warps = blocks_of_warps(n);
    device_clear(counts, (n + 1) * sizeof(std::uint64_t), stream_);
    count_ranges<Dim><<<warps, block_threads, 0, stream_>>>(leaves, offsets, capacity.neighbours,
                                                            rows.data(), counts);
    check_cuda(cudaGetLastError(), "build_tree: count_ranges");
    exclusive_sum(column_load<std::uint64_t>{counts}, before, static_cast<std::uint32_t>(n + 1),
                  stream_, what);
    write_ranges<Dim><<<blocks_of_warps(n + 1), block_threads, 0, stream_>>>(
        leaves, offsets, capacity.neighbours, rows.data(), before,
        {to.range_offsets.data(), to.half_offsets.data(), to.ranges.data(), to.half_ranges.data(),
         capacity.ranges, capacity.half_ranges});
    check_cuda(cudaGetLastError(), "build_tree: write_ranges");
    end_stage("lists", stream_);
  }

  template <int Dim>
  void tree_on_gpu<Dim>::report(tree_tables<Dim> const& tables, pinned<tree_report<Dim>> const& to)
  {
    tell_host<Dim><<<1, 1, 0, stream_>>>(tables.report.data(), &*to);
    check_cuda(cudaGetLastError(), "build_tree: tell_host");
  }

  template <int Dim>
  void tree_on_gpu<Dim>::finish()
  {
    synchronize(stream_);
    if (!complain_) return;
    if (!is_whole_) throw error("cuda_tree::finish: the last enqueue() failed; call rebuild()");
    is_known_ = false;
    if (enqueued_->invalid != 0) complain_();
    list_report const& found = enqueued_->lists;
    check_leaves(options_, found);
    if (tree_capacity const& room = tables_.capacity; !room.holds(found))
      throw error("cuda_tree::finish: the tree has " + std::to_string(found.leaves) +
                  " leaves, its arrays have room for " + std::to_string(room.leaves) + ", " +
                  std::to_string(room.neighbours) + " neighbours and " +
                  std::to_string(room.ranges) + " ranges; call rebuild(), after reserve()");
    learn(*enqueued_);
  }

  template <int Dim>
  void tree_on_gpu<Dim>::learn(tree_report<Dim> const& told)
  {
    found_ = told;
    is_known_ = true;
    root_ = options_.root.value_or(cube<Dim>{});
    if (tables_.n_targets + tables_.n_sources > 0)
    {
      std::copy_n(found_.centre, Dim, root_.centre.begin());
      root_.half_width = found_.half_width;
      next_ = capacity_for(found_.lists, tables_.capacity);
    }
    for (int d = 0; d < Dim; ++d)
      if (options_.period[d] > 0) root_.centre[d] = options_.period[d] / 2;
    if (options_.level) found_.lists.depth = static_cast<std::uint32_t>(*options_.level);
  }

  template <int Dim>
  void tree_on_gpu<Dim>::reserve(double factor)
  {
    slack_ = factor;
    if (next_.leaves > 0) next_ = capacity_for(found_.lists, tables_.capacity);
  }

  template <int Dim>
  void tree_on_gpu<Dim>::limit(device_leaves& leaves) const
  {
    // graphs may have changed what was known after enqueue()
    leaves.most_leaves =
        complain_ ? static_cast<index_type>(tables_.capacity.leaves) : found_.lists.leaves;
    if (!complain_)
      std::copy_n(found_.lists.leaves_of_size, 32, leaves.leaves_of_size.emplace().begin());
  }

  template <int Dim>
  std::unique_ptr<device_tree<Dim>> device_tree<Dim>::make(cuda_stream stream,
                                                           tree_options<Dim> const& options)
  {
    return std::make_unique<tree_on_gpu<Dim>>(stream, options);
  }

  template class tree_on_gpu<2>;
  template class tree_on_gpu<3>;
  template class device_tree<2>;
  template class device_tree<3>;
}
