#pragma once

#include "build_cells.cuh"
#include "cells.cuh"
#include "point_errors.cuh"
#include "system_grids.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// \file
/// Lists with fixed capacity: builds that a CUDA graph can capture. They are batches, of one system if need be, since the
/// device makes the grids of these. Sizes are bounds, and kernels read what the device has found.

namespace nearfield::detail
{
  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::fix_capacity(double factor)
  {
    if (!(factor >= 1) || !std::isfinite(factor))
      throw error("cuda_cell_list: fix_capacity(" + number_text(factor) +
                  "): give a finite factor of 1 or more");
    auto options = grid_of_.options();
    auto const boxes = cells_now_;
    bool const is_one = !is_batch();
    two_sets<T, Dim> const points = given_;
    std::vector<index_type> const ends{0, static_cast<index_type>(points[1].size())},
        ends_of_queries{0, static_cast<index_type>(points[0].size())};
    std::vector<double> const cutoff{double(grid_.cutoff)};
    std::vector<cell<Dim>> const box{boxes.empty() ? box_of(options) : boxes[0]};
    systems<Dim> of;
    if (is_one)
    {
      for (int a = 0; a < Dim; ++a)
        if (!pieces_[a].empty() || has_wide_cells(grid_, options, a))
          throw error("cuda_cell_list: fix_capacity: along axis " + std::to_string(a) +
                      " the points are so far apart that more than 2^21 cells are needed; give a "
                      "larger cutoff");
      of.offsets = ends;
      if (!one_set_) of.query_offsets = ends_of_queries;
      of.cutoffs = cutoff;
      of.cells = box;
      options.cell = {};
      options.period = {};
    }
    else
    {
      of = systems_.given();
      if (!boxes.empty()) of.cells = boxes;
    }
    build_systems(points[0], points[1], one_set_, of, options);
    is_one_ = is_one;
    if (is_one) cells_now_ = boxes;
    system_room const room = room_for(factor);
    try
    {
      make_room(room);
      build_fixed(points[0], points[1]);
    }
    catch (...)
    {
      forget();
      throw;
    }
  }

  template <class T, int Dim>
  system_room cells_on_gpu<T, Dim>::room_for(double factor) const
  {
    double const cells = std::ceil(factor * static_cast<double>(n_cells_)),
                 images = std::ceil(factor * static_cast<double>(images_.size()));
    if (!(cells < 0x1p31 && images < 0x1p31))
      throw error("cuda_cell_list: fix_capacity: room for " + number_text(cells) + " cells and " +
                  number_text(images) + " images; fewer than 2^31 have numbers");
    constexpr std::int32_t most_of_images = counters_of_points<Dim>::most_of_images;
    bool const are_near =
        images_.most() <= most_of_images && in_box(0).are_near && in_box(1).are_near;
    return {static_cast<std::uint64_t>(cells), static_cast<std::uint64_t>(images),
            are_near ? most_of_images : -1};
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::make_room(system_room const& room)
  {
    fixed_memory<Dim> made;
    made.room = room;
    char const* const what = "cuda_cell_list: fix_capacity";
    std::uint32_t const n = systems_.n();
    made.mail = device_array<system_mail>(1, stream_, what);
    system_mail of_no_systems{};
    of_no_systems.found.fits = 1;
    device_copy(made.mail.data(), &of_no_systems, sizeof of_no_systems, stream_);
    made.found = {device_array<system_bounds<Dim>>(n, stream_, what),
                  device_array<system_verdict>(n, stream_, what)};
    made.counts = device_array<std::uint32_t>(room.cells, stream_, what);
    std::size_t const most = std::max(target_x_.size(), source_x_.size());
    made.ranks = device_array<cell_rank>(most, stream_, what);
    made.unranked = device_array<uint4>(most, stream_, what);
    images_ = device_images<T, Dim>(room.images, images_.most(), stream_);
    bool any_box = has_skin();
    for (auto const& box : systems_.frames->cells) any_box |= box.is_periodic();
    two_sets<T, Dim> const sets = sets_of(target_x_, source_x_);
    for (int set = 0; set < 2; ++set)
    {
      std::size_t const points = sets[set].size();
      sorted_points& to = set == 0 ? targets_ : sources_;
      to = {};
      if (points == 0) continue;
      to.n = static_cast<std::uint32_t>(points);
      to.n_items = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(points, room.cells + points / item_points + 1));
      to.records = device_array<uint4>(points, stream_, what);
      to.order = device_array<std::uint32_t>(points, stream_, what);
      to.table = device_array<std::uint32_t>(room.cells + 1, stream_, what);
      to.make_items(to.n_items, true, true, stream_);
      to.items_found = device_array<std::uint32_t>(1, stream_, what);
      if (any_box) built_points()[set].fit(points, stream_);
      if (has_skin()) in_box_[set].fit(points, stream_);
      then_[set].are_near = in_box_[set].are_near = room.most_of_images >= 0;
    }
    fixed_.emplace(std::move(made));
    // what searches and needs_rebuild() need
    static_cast<void>(search_memory());
    if (has_skin())
      make_moved_frames<T, Dim>(systems_, {}, reach_beyond(grid_of_.options()), frames_now_,
                                stream_);
    set_moves(0);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::check_fixed(columns const& targets, columns const& sources,
                                         bool one_set, std::span<cell<Dim> const> cells) const
  {
    if (!is_fixed()) return;
    if (one_set != one_set_ || targets.size() != target_x_.size() ||
        sources.size() != source_x_.size())
      throw error("cuda_cell_list: the capacity is fixed for " + std::to_string(target_x_.size()) +
                  " targets and " + std::to_string(source_x_.size()) + " sources; found " +
                  std::to_string(targets.size()) + " and " + std::to_string(sources.size()) +
                  "; rebuild with a cutoff or systems ends that");
    if (!cells.empty())
      throw error("cuda_cell_list: the boxes are fixed with the capacity; rebuild with a cutoff or "
                  "systems ends that");
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::build_fixed(columns const& targets, columns const& sources)
  {
    check_columns<T, Dim>("points", sources);
    check_columns<T, Dim>("queries", targets);
    has_followed_ = has_skin(); // graphs of builds and of updates write where searches read
    grids_.clear();
    two_sets<T, Dim> const sets = sets_of(targets, sources);
    if (systems_.n() > 0)
    {
      enqueue_grids<T, Dim>(systems_, sets, grid_of_.options(), fixed_->found, fixed_->room,
                            fixed_->mail.data(), stream_);
      fill_tables<T, Dim>(systems_, systems_.frames->view(), images_, found(), stream_);
    }
    for (int set = 0; set < 2; ++set)
      for (auto* const points : {&then_[set], &in_box_[set]})
        if (points->images.size() > 0)
          bring_into_boxes<T, Dim>(systems_, set, sets[set], *points, stream_);
    end_stage("systems", stream_);
    bind(targets, sources);
    sort_fixed(targets_, target_x_);
    if (!one_set_) sort_fixed(sources_, source_x_);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::sort_fixed(sorted_points& to, columns const& x)
  {
    if (to.n == 0) return;
    fixed_memory<Dim>& memory = *fixed_;
    std::uint32_t const* const fits = &found()->fits;
    count(to, x, memory.counts.data(), memory.ranks.data(), memory.unranked.data(), fits, nullptr);
    scan_cells({memory.counts.data(), static_cast<std::uint32_t>(memory.counts.size()), 1,
                &memory.mail.data()->group},
               table_of(to, to.items_found.data()), memory.scan, stream_);
    end_stage("cells", stream_);
    scatter(to, x, memory.ranks.data(), memory.unranked.data(), fits);
    rank(to, memory.ranks.data(), memory.unranked.data(), fits);
    end_stage("rank", stream_);
  }

  template <class T, int Dim>
  void cells_on_gpu<T, Dim>::check_capacity()
  {
    if (!is_fixed()) return;
    system_mail mail;
    device_copy(&mail, fixed_->mail.data(), sizeof mail, stream_);
    if (mail.found.fits != 0) return;
    check_grids<T, Dim>(systems_, sets_of(given_[0], given_[1]), one_set_, fixed_->found, mail,
                        stream_);
    if (mail.found.is_far != 0)
      throw error("cuda_cell_list: a point or an image is more boxes away than any was when "
                  "fix_capacity() was called; subtract whole multiples of their vectors first");
    throw error("cuda_cell_list: the points need " + std::to_string(mail.found.cells) +
                " cells and " + std::to_string(mail.found.images) +
                " images, and fix_capacity() has made room for " +
                std::to_string(fixed_->room.cells) + " and " + std::to_string(fixed_->room.images) +
                "; give it a larger factor");
  }
}
