#pragma once

#include "bounds.cuh"
#include "build.cuh"
#include "geometry.hpp"
#include "pinned.hpp"
#include "primitives.hpp"
#include "search_input.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/search/cuda.hpp>

#include <bit>
#include <optional>
#include <string>
#include <utility>

namespace nearfield::detail
{
  /// A grid of so many cells keeps a table of them; a larger one finds cells among the keys of its points.
  inline bool has_table(double cells, std::size_t points)
  {
    return cells <= 4 * double(points) + (1 << 16) && cells < 0x1p31;
  }

  inline unsigned blocks_for(std::size_t threads, int block)
  {
    return static_cast<unsigned>((threads + block - 1) / block);
  }

  /// One set of points, sorted by cell.
  struct sorted_points
  {
    stream_array<uint4> records;
    /// position -> the caller's index
    stream_array<std::uint32_t> order;
    stream_array<std::uint32_t> table;
    stream_array<std::uint64_t> keys;
    stream_array<std::uint32_t> item_begin;
    /// of the group of the item, the first cell; narrow with a table
    stream_array<std::uint32_t> item_cell;
    stream_array<std::uint64_t> item_wide_cell;
    std::uint32_t n = 0, n_items = 0;

    /// Records before rank_points; empty after it.
    stream_array<uint4> unranked;
    stream_array<cell_rank> ranks;

    [[nodiscard]] cell_starts starts() const { return {table.data(), keys.data(), n}; }

    /// Sets the order inside cells right, once.
    void rank(cuda_stream stream)
    {
      if (unranked.size() == 0) return;
      records = stream_array<uint4>(n, stream, "cuda_cell_list: records");
      order = stream_array<std::uint32_t>(n, stream, "cuda_cell_list: order");
      rank_points<<<blocks_for(n, build_threads), build_threads, 0, stream>>>(
          unranked.data(), ranks.data(), table.data(), n, records.data(), order.data());
      check_cuda(cudaGetLastError(), "cuda_cell_list: rank_points");
      unranked = {};
      ranks = {};
      end_stage("rank", stream);
    }
    /// For what does not depend on the order inside cells.
    [[nodiscard]] uint4 const* any_records() const
    {
      return unranked.size() > 0 ? unranked.data() : records.data();
    }
  };

  /// What kernels tell the host. The words that it waits for are 0 before: a copy between two kernels would hold
  /// the second one up.
  template <int Dim>
  struct search_mail
  {
    device_bounds<Dim> bounds[2];
    std::uint32_t crowded;
    /// plus 1
    std::uint32_t items;
    search_counters counters;
  };

  template <class T, int Dim>
  class device_cells
  {
  public:
    using columns = soa<T const, Dim>;

    device_cells(cuda_stream stream, cell_list_options<T, Dim> const& options)
        : stream_(stream), options_(options)
    {
      if (auto const problem = cuda_problem(); !problem.empty())
        throw error("cuda_cell_list: " + problem);
    }

    /// One set is both targets and sources. Where the points are refused the list is as it was.
    void build(columns const& targets, columns const& sources, bool one_set, T cutoff)
    {
      auto const [grid, geometry] = grid_of(targets, sources, one_set, cutoff);
      build(grid, geometry, targets, sources, one_set);
    }

    /// The same with a grid that holds all points, which are taken as they are.
    void build(cell_grid<T, Dim> const& grid, columns const& targets, columns const& sources,
               bool one_set)
    {
      check_columns("points", sources);
      check_columns("queries", targets);
      std::array<double, Dim> extent{};
      for (int a = 0; a < Dim; ++a) extent[a] = grid.cells[a] / grid.inverse_width[a];
      build(grid, make_search_geometry<T, Dim>(grid, extent), targets, sources, one_set);
    }

    /// The same values are in other columns.
    void bind(columns const& targets, columns const& sources)
    {
      target_x_ = targets;
      source_x_ = sources;
    }

    [[nodiscard]] cuda_stream stream() const { return stream_; }
    [[nodiscard]] bool one_set() const { return one_set_; }
    [[nodiscard]] cell_grid<T, Dim> const& grid() const { return grid_; }
    [[nodiscard]] search_geometry const& geometry() const { return geometry_; }
    [[nodiscard]] columns const& target_x() const { return target_x_; }
    [[nodiscard]] columns const& source_x() const { return source_x_; }
    [[nodiscard]] sorted_points& targets() { return targets_; }
    [[nodiscard]] sorted_points& sources() { return one_set_ ? targets_ : sources_; }
    [[nodiscard]] search_mail<Dim>& mail() { return *mail_; }

    void rank()
    {
      targets_.rank(stream_);
      if (!one_set_) sources_.rank(stream_);
    }

    /// Records are most of what a list takes, and follow from the order: a search frees them where it needs
    /// the memory for its result, and the next one makes them again.
    void free_records()
    {
      targets_.records = {};
      sources_.records = {};
    }
    void make_records()
    {
      make_records(targets_, target_x_);
      if (!one_set_) make_records(sources_, source_x_);
    }

  private:
    void build(cell_grid<T, Dim> const& grid, search_geometry const& geometry,
               columns const& targets, columns const& sources, bool one_set)
    {
      // freed when the device has work again
      sorted_points old_targets = std::exchange(targets_, {});
      sorted_points old_sources = std::exchange(sources_, {});
      grid_ = grid;
      geometry_ = geometry;
      target_x_ = targets;
      source_x_ = sources;
      one_set_ = one_set;
      try
      {
        sort(targets_, targets, old_targets);
        if (!one_set) sort(sources_, sources, old_sources);
      }
      catch (...)
      {
        // out of memory halfway: nothing is better than parts that do not fit
        targets_ = {};
        sources_ = {};
        target_x_ = {};
        source_x_ = {};
        throw;
      }
    }

    static void check_columns(char const* name, columns const& x)
    {
      if (x.size() >= std::size_t(1) << 31)
        throw error(std::string("cuda_cell_list: ") + name + " has " + std::to_string(x.size()) +
                    " points; give fewer than 2^31");
    }

    /// The grid over the box of all points.
    std::pair<cell_grid<T, Dim>, search_geometry>
    grid_of(columns const& targets, columns const& sources, bool one_set, T cutoff)
    {
      check_cell_options(cutoff, options_);
      check_columns("points", sources);
      check_columns("queries", targets);
      std::array<T, Dim> lower{}, upper{};
      if (bounds_.size() == 0)
      {
        bounds_ = stream_array<device_bounds<Dim>>(2, stream_, "cuda_cell_list: bounds");
        check_cuda(cudaMemsetAsync(bounds_.data(), 0, 2 * sizeof(device_bounds<Dim>), stream_),
                   "cudaMemsetAsync");
      }
      auto* const found = mail_->bounds;
      columns const* const sets[] = {&targets, &sources};
      int const n_sets = one_set ? 1 : 2;
      for (int s = 0; s < n_sets; ++s)
      {
        device_points<T, Dim> const points(*sets[s]);
        if (points.n == 0) continue;
        found[s].blocks_done = 0;
        unsigned const blocks =
            std::min(blocks_for(points.n, bounds_threads), bounds_blocks * multiprocessors());
        find_bounds<T, Dim><<<blocks, bounds_threads, 0, stream_>>>(points, options_.period,
                                                                    bounds_.data() + s, found + s);
        check_cuda(cudaGetLastError(), "cuda_cell_list: find_bounds");
      }
      end_stage("bounds", stream_);
      for (int s = 0; s < n_sets; ++s)
        if (sets[s]->size() != 0) wait_for_word(found[s].blocks_done, stream_);
      bool first = true;
      for (int s = 0; s < n_sets; ++s)
      {
        if (sets[s]->size() == 0) continue;
        if (found[s].bad != 0) complain(s == 0 && !one_set, *sets[s], ~found[s].bad);
        for (int a = 0; a < Dim; ++a)
        {
          T const l = static_cast<T>(-from_ordered(found[s].lower[a]));
          T const u = static_cast<T>(from_ordered(found[s].upper[a]));
          lower[a] = first || l < lower[a] ? l : lower[a];
          upper[a] = first || u > upper[a] ? u : upper[a];
        }
        first = false;
      }
      auto const grid = make_cell_grid<T, Dim>(lower, upper, cutoff, options_);
      std::array<double, Dim> extent{};
      for (int a = 0; a < Dim; ++a) extent[a] = double(upper[a]) - double(lower[a]);
      return {grid, make_search_geometry<T, Dim>(grid, extent)};
    }

    [[noreturn]] void complain(bool is_query, columns const& x, std::uint32_t i) const
    {
      for (int a = 0; a < Dim; ++a)
      {
        T value = 0;
        stream_copy_to_host(&value, x[a] + i, sizeof value, stream_);
        T const period = options_.period[a];
        bool const finite = std::isfinite(value);
        if (finite && (period == 0 || (value >= 0 && value < period))) continue;
        std::string const where = std::string("cuda_cell_list: coordinate ") + std::to_string(a) +
                                  " of " + (is_query ? "query " : "point ") + std::to_string(i) +
                                  " is " + std::to_string(value);
        if (!finite) throw error(where + "; give finite coordinates");
        throw error(where + ", outside the periodic box [0, " + std::to_string(period) +
                    "); wrap the points into it");
      }
      throw error("cuda_cell_list: point " + std::to_string(i) + " changed during the call");
    }

    void sort(sorted_points& to, columns const& x, sorted_points& old)
    {
      to.n = static_cast<std::uint32_t>(x.size());
      if (to.n == 0) return;
      if (has_table(geometry_.total_cells(), to.n))
        sort_with_table(to, x, old);
      else
      {
        old = {};
        sort_by_keys(to, x, true);
      }
    }

    void sort_with_table(sorted_points& to, columns const& x, sorted_points& old)
    {
      device_points<T, Dim> const points(x);
      cell_of_point<T, Dim> const cells(grid_, geometry_);
      std::size_t const n = points.n;
      std::size_t const n_cells = static_cast<std::size_t>(geometry_.total_cells());
      std::uint32_t const group = geometry_.group;
      unsigned const blocks = blocks_for(n, build_threads);
      search_mail<Dim> volatile& mail = *mail_;
      mail.crowded = 0;
      mail.items = 0;
      old.ranks = {}; // as much is taken at once
      stream_array<std::uint32_t> counts(n_cells, stream_, "cuda_cell_list: cells");
      check_cuda(cudaMemsetAsync(counts.data(), 0, n_cells * sizeof(std::uint32_t), stream_),
                 "cudaMemsetAsync");
      to.ranks = stream_array<cell_rank>(n, stream_, "cuda_cell_list: ranks");
      count_cells<T, Dim><<<blocks, build_threads, 0, stream_>>>(points, cells, counts.data(),
                                                                 to.ranks.data(), &mail.crowded);
      check_cuda(cudaGetLastError(), "cuda_cell_list: count_cells");
      end_stage("histogram", stream_);
      old = {};

      std::size_t const most_items = std::min(n, n_cells / group + n / item_points + 1);
      to.table = stream_array<std::uint32_t>(n_cells + 1, stream_, "cuda_cell_list: table");
      to.item_begin = stream_array<std::uint32_t>(most_items + 1, stream_, "cuda_cell_list: items");
      to.item_cell = stream_array<std::uint32_t>(most_items, stream_, "cuda_cell_list: items");
      scan_cells(counts.data(),
                 {to.table.data(), to.item_begin.data(), to.item_cell.data(), &mail.items}, n_cells,
                 group, stream_);
      counts = {};
      end_stage("cells", stream_);

      to.unranked = stream_array<uint4>(n, stream_, "cuda_cell_list: records");
      // Half sectors written here and there cost a read of memory each, unless the cache has the sector.
      check_cuda(cudaMemsetAsync(to.unranked.data(), 0, n * sizeof(uint4), stream_),
                 "cudaMemsetAsync");
      scatter_points<T, Dim><<<blocks, build_threads, 0, stream_>>>(
          points, cells, to.ranks.data(), to.table.data(), to.unranked.data());
      check_cuda(cudaGetLastError(), "cuda_cell_list: scatter_points");
      end_stage("scatter", stream_);
      // while the device scatters
      wait_for_word(mail.items, stream_);
      to.n_items = mail.items - 1;
      if (mail.crowded == 0) return;
      to.unranked = {};
      to.ranks = {};
      sort_by_keys(to, x, false);
    }

    void make_records(sorted_points& to, columns const& x)
    {
      if (to.n == 0 || to.any_records()) return;
      to.records = stream_array<uint4>(to.n, stream_, "cuda_cell_list: records");
      gather_records<T, Dim><<<blocks_for(to.n, build_threads), build_threads, 0, stream_>>>(
          device_points<T, Dim>(x), {grid_, geometry_}, to.order.data(), to.records.data());
      check_cuda(cudaGetLastError(), "cuda_cell_list: gather_records");
    }

    /// `alone`: without a table; items and starts come from the keys, which stay.
    void sort_by_keys(sorted_points& to, columns const& x, bool alone)
    {
      device_points<T, Dim> const points(x);
      cell_of_point<T, Dim> const cells(grid_, geometry_);
      std::size_t const n = points.n;
      unsigned const blocks = blocks_for(n, build_threads);
      to.keys = stream_array<std::uint64_t>(n, stream_, "cuda_cell_list: keys");
      to.order = stream_array<std::uint32_t>(n, stream_, "cuda_cell_list: order");
      keys_of_points<T, Dim>
          <<<blocks, build_threads, 0, stream_>>>(points, cells, to.keys.data(), to.order.data());
      check_cuda(cudaGetLastError(), "cuda_cell_list: keys_of_points");
      sort_by_key(to.keys, to.order, key_bits());
      make_records(to, x);
      end_stage("sort", stream_);
      if (!alone)
      {
        to.keys = {};
        return;
      }
      to.item_begin = stream_array<std::uint32_t>(n + 1, stream_, "cuda_cell_list: items");
      stream_array<std::uint32_t> const count(1, stream_, "cuda_cell_list: items");
      select_items(to.keys.data(), to.item_begin.data(), count.data(), n, geometry_.group, stream_);
      stream_copy_to_host(&to.n_items, count.data(), sizeof to.n_items, stream_);
      to.item_wide_cell = stream_array<std::uint64_t>(to.n_items, stream_, "cuda_cell_list: items");
      cells_of_items<<<blocks_for(to.n_items + 1, build_threads), build_threads, 0, stream_>>>(
          to.keys.data(), to.n_items, points.n, geometry_.group, to.item_begin.data(),
          to.item_wide_cell.data());
      check_cuda(cudaGetLastError(), "cuda_cell_list: cells_of_items");
    }

    [[nodiscard]] int key_bits() const
    {
      // the product may need all 64
      auto const last = geometry_.rows() * geometry_.row_cells - 1;
      return std::max(1, static_cast<int>(std::bit_width(last)));
    }

    cuda_stream stream_;
    cell_list_options<T, Dim> options_;
    bool one_set_ = true;
    columns target_x_, source_x_;
    cell_grid<T, Dim> grid_;
    search_geometry geometry_;
    sorted_points targets_, sources_;
    /// zero between searches for bounds
    stream_array<device_bounds<Dim>> bounds_;
    pinned<search_mail<Dim>> mail_;
  };
}
