#pragma once

#include "build.cuh"
#include "cells.cuh"
#include "primitives.hpp"
#include "trace.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <bit>
#include <utility>

/// \file
/// How cells are built: the steps around the kernels.

namespace nearfield::detail
{
  /// Whether a grid has a table of its cells; a larger grid finds cells by searching the keys of its points.
  inline bool has_table(double cells, std::size_t points)
  {
    return cells <= 4 * double(points) + (1 << 16) && cells < 0x1p31;
  }

  template <class T, int Dim>
  cells_on_gpu<T, Dim>::cells_on_gpu(cuda_stream stream, cell_list_options<T, Dim> const& options)
      : stream_(stream), grid_of_(stream, options)
  {
    if (auto const problem = cuda_problem(); !problem.empty())
      throw error("cuda_cell_list: " + problem, error_kind::not_available);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::build(columns const& targets, columns const& sources, bool one_set,
                                   T cutoff)
  {
    auto const& options = grid_of_.options();
    check_cell_options(cutoff, options);
    auto found =
        grid_of_(mail_->bounds,
                 is_batch() || cells_now_.empty() ? frame_of(options) : frame_of(cells_now_[0]),
                 targets, sources, one_set ? 1 : 2, cutoff);
    sort_anew(targets, sources, one_set,
              [&]
              {
                grid_ = found.grid;
                pieces_ = std::move(found.pieces); // where the grid's are
                geometry_ = found.geometry;
                n_cells_ = geometry_.total_cells();
                take_points(found.in_box);
                if (is_batch()) cells_now_.clear(); // theirs
                systems_ = {};
                is_one_ = false;
                pieces_on_device_ = device_pieces<Dim>(pieces_, stream_);
                images_.make(grid_.frame, numbers_of(grid_), geometry_.units_per_length, stream_);
              });
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::build(columns const& targets, columns const& sources, bool one_set,
                                   systems<Dim> const& of)
  {
    build_systems(targets, sources, one_set, of, grid_of_.options());
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::build_systems(columns const& targets, columns const& sources,
                                           bool one_set, systems<Dim> const& of,
                                           cell_list_options<T, Dim> const& options)
  {
    auto found = make_systems<T, Dim>(systems_, of, options, targets, sources, one_set,
                                      mail_->systems, stream_);
    end_stage("systems", stream_);
    sort_anew(targets, sources, one_set,
              [&]
              {
                geometry_ = {};
                geometry_.group = found.group;
                n_cells_ = found.cells;
                take_points(found.in_box);
                images_ = std::move(found.images);
                systems_ = std::move(found);
                is_one_ = false;
                cells_now_.clear(); // which they have
              });
  }

  template <class T, int Dim>
  template <class Take>
  void cells_on_gpu<T, Dim>::sort_anew(columns const& targets, columns const& sources, bool one_set,
                                       Take const& take)
  {
    fixed_.reset();
    // to be freed when the device has work again
    sorted_points old_targets = std::exchange(targets_, {});
    sorted_points old_sources = std::exchange(sources_, {});
    grids_.clear();
    leaves_.reset();
    leaf_moves_.reset();
    one_set_ = one_set;
    try
    {
      take();
      bind(targets, sources);
      sort(targets_, target_x_, old_targets);
      if (!one_set) sort(sources_, source_x_, old_sources);
    }
    catch (...)
    {
      forget();
      throw;
    }
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::forget()
  {
    targets_ = {};
    sources_ = {};
    target_x_ = {};
    source_x_ = {};
    in_box_ = {};
    then_ = {};
    given_ = {};
    fixed_.reset();
    leaves_.reset();
    leaf_moves_.reset();
  }

  template <class T, int Dim>
  cell_grid<T, Dim> const& cells_on_gpu<T, Dim>::grid_of_system(std::size_t s)
  {
    if (!systems_.any()) return grid_;
    if (grids_.empty() || is_fixed()) // a graph may have made others
    {
      grids_.resize(systems_.size());
      device_copy(grids_.data(), systems_.grids.data(), grids_.size() * sizeof grids_[0], stream_);
    }
    return grids_.at(s);
  }

  template <class T, int Dim>
  template <class F>
  void cells_on_gpu<T, Dim>::with_cells(sorted_points const& of, F const& f) const
  {
    if (systems_.any())
    {
      f(cell_in_system<T, Dim>{systems_.grids.data(), systems_.systems.data(),
                               systems_of(of).by_point()});
      return;
    }
    cell_grid<T, Dim> grid = grid_;
    for (int a = 0; a < Dim; ++a) grid.pieces[a] = pieces_on_device_.of(a);
    f(cell_of_point<T, Dim>(grid, geometry_));
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::sort(sorted_points& to, columns const& x, sorted_points& old)
  {
    to.n = static_cast<std::uint32_t>(x.size());
    if (to.n == 0) return;
    if (has_table(double(n_cells_), to.n))
      sort_with_table(to, x, old);
    else
    {
      old = {};
      sort_by_keys(to, x, true);
    }
    if (!systems_.any() || to.item_wide_cell.size() == 0) return;
    systems_of_items<<<blocks_for(to.n_items, block_threads), block_threads, 0, stream_>>>(
        to.item_begin.data(), systems_of(to).of_position.data(), to.n_items, to.item_system.data());
    check_cuda(cudaGetLastError(), "cuda_cell_list: systems_of_items");
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::count(sorted_points const& of, columns const& x, std::uint32_t* counts,
                                   cell_rank* ranks, uint4* unranked, std::uint32_t const* fits,
                                   std::uint32_t volatile* crowded) const
  {
    std::size_t const n_cells = is_fixed() ? fixed_->counts.size() : n_cells_;
    check_cuda(cudaMemsetAsync(counts, 0, n_cells * sizeof(std::uint32_t), stream_),
               "cudaMemsetAsync");
    with_cells(of,
               [&](auto const& cells)
               {
                 count_cells<T, Dim>
                     <<<blocks_for(x.size(), block_threads), block_threads, 0, stream_>>>(
                         device_points<T, Dim>(x), cells, fits, counts, ranks, unranked, crowded);
               });
    check_cuda(cudaGetLastError(), "cuda_cell_list: count_cells");
    end_stage("histogram", stream_);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::scatter(sorted_points const& of, columns const& x,
                                     cell_rank const* ranks, uint4* unranked,
                                     std::uint32_t const* fits) const
  {
    with_cells(of,
               [&](auto const& cells)
               {
                 scatter_points<T, Dim>
                     <<<blocks_for(x.size(), block_threads), block_threads, 0, stream_>>>(
                         device_points<T, Dim>(x), cells, fits, ranks, of.table.data(), unranked);
               });
    check_cuda(cudaGetLastError(), "cuda_cell_list: scatter_points");
    end_stage("scatter", stream_);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::sort_with_table(sorted_points& to, columns const& x,
                                             sorted_points& old)
  {
    std::size_t const n = x.size(), n_cells = n_cells_;
    std::uint32_t const group = geometry_.group;
    cell_mail<Dim> volatile& mail = *mail_;
    mail.crowded = 0;
    mail.items = 0;
    old.ranks = {}; // frees as much as is allocated next
    device_array<std::uint32_t> counts(n_cells, stream_, "cuda_cell_list: cells");
    to.ranks = device_array<cell_rank>(n, stream_, "cuda_cell_list: ranks");
    to.unranked = device_array<uint4>(n, stream_, "cuda_cell_list: records");
    count(to, x, counts.data(), to.ranks.data(), to.unranked.data(), nullptr, &mail.crowded);
    old = {};

    std::size_t const most_items = std::min(n, n_cells / group + n / item_points + 1);
    to.table = device_array<std::uint32_t>(n_cells + 1, stream_, "cuda_cell_list: table");
    to.make_items(static_cast<std::uint32_t>(most_items), true, systems_.any(), stream_);
    scan_memory memory;
    scan_cells({counts.data(), static_cast<std::uint32_t>(n_cells), group},
               table_of(to, &mail.items), memory, stream_);
    counts = {};
    memory = {};
    end_stage("cells", stream_);

    scatter(to, x, to.ranks.data(), to.unranked.data(), nullptr);
    // while the device scatters
    wait_for_word(mail.items, stream_, "cuda_cell_list: a kernel");
    to.n_items = mail.items - 1;
    if (mail.crowded == 0) return;
    to.unranked = {};
    to.ranks = {};
    sort_by_keys(to, x, false);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::sort_by_keys(sorted_points& to, columns const& x, bool alone)
  {
    device_points<T, Dim> const points(x);
    std::size_t const n = points.n;
    unsigned const blocks = blocks_for(n, block_threads);
    to.keys = device_array<std::uint64_t>(n, stream_, "cuda_cell_list: keys");
    to.order = device_array<std::uint32_t>(n, stream_, "cuda_cell_list: order");
    with_cells(to,
               [&](auto const& cells)
               {
                 keys_of_points<T, Dim><<<blocks, block_threads, 0, stream_>>>(
                     points, cells, to.keys.data(), to.order.data());
               });
    check_cuda(cudaGetLastError(), "cuda_cell_list: keys_of_points");
    sort_by_key(to.keys, to.order, key_bits(), "cuda_cell_list: sort");
    make_records(to, x);
    end_stage("sort", stream_);
    if (!alone)
    {
      to.keys = {};
      return;
    }
    to.make_items(points.n, false, systems_.any(), stream_);
    device_array<std::uint32_t> count(1, stream_, "cuda_cell_list: items");
    select_items(to.keys.data(), to.item_begin.data(), count.data(), n, geometry_.group, stream_);
    device_copy(&to.n_items, count.data(), sizeof to.n_items, stream_);
    to.item_wide_cell =
        device_array<std::uint64_t>(to.n_items + std::size_t(1), stream_, "cuda_cell_list: items");
    cells_of_items<<<blocks_for(to.n_items + 1, block_threads), block_threads, 0, stream_>>>(
        to.keys.data(), to.n_items, points.n, to.item_begin.data(), to.item_wide_cell.data());
    check_cuda(cudaGetLastError(), "cuda_cell_list: cells_of_items");
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::rank()
  {
    rank(targets_);
    if (!one_set_) rank(sources_);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::rank(sorted_points& points)
  {
    if (points.unranked.size() == 0) return;
    std::uint32_t const n = points.n;
    points.records = device_array<uint4>(n, stream_, "cuda_cell_list: records");
    points.order = device_array<std::uint32_t>(n, stream_, "cuda_cell_list: order");
    rank(points, points.ranks.data(), points.unranked.data(), nullptr);
    points.unranked = {};
    points.ranks = {};
    end_stage("rank", stream_);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::rank(sorted_points& points, cell_rank const* ranks,
                                  uint4 const* unranked, std::uint32_t const* fits) const
  {
    rank_points<<<blocks_for(points.n, block_threads), block_threads, 0, stream_>>>(
        unranked, ranks, points.table.data(), points.n, fits, points.records.data(),
        points.order.data());
    check_cuda(cudaGetLastError(), "cuda_cell_list: rank_points");
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::make_records()
  {
    make_records(targets_, target_x_);
    if (!one_set_) make_records(sources_, source_x_);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::make_records(sorted_points& to, columns const& x)
  {
    if (to.n == 0 || to.any_records()) return;
    to.records = device_array<uint4>(to.n, stream_, "cuda_cell_list: records");
    write_records(to, x);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::write_records(sorted_points& to, columns const& x) const
  {
    if (to.n == 0) return;
    with_cells(to,
               [&](auto const& cells)
               {
                 gather_records<T, Dim>
                     <<<blocks_for(to.n, block_threads), block_threads, 0, stream_>>>(
                         device_points<T, Dim>(x), cells, to.order.data(), to.records.data());
               });
    check_cuda(cudaGetLastError(), "cuda_cell_list: gather_records");
  }

  template <class T, int Dim>
  int cells_on_gpu<T, Dim>::key_bits() const
  {
    return std::max(1, static_cast<int>(std::bit_width(n_cells_ - 1)));
  }

  template <class T, int Dim>
  std::unique_ptr<device_cells<T, Dim>>
  device_cells<T, Dim>::make(cuda_stream stream, cell_list_options<T, Dim> const& options)
  {
    return std::make_unique<cells_on_gpu<T, Dim>>(stream, options);
  }
}
