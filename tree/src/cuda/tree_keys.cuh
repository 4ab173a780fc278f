#pragma once

#include "../images.hpp"
#include "../keys.hpp"
#include "bounds.cuh"
#include "device_axis.cuh"
#include "launch.cuh"
#include "points.cuh"
#include "primitives.hpp"
#include "trace.hpp"
#include "tree_on_gpu.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// \file
/// What a build does with coordinates: the root, the keys of the points, and the errors.

namespace nearfield::detail
{
  /// The root box: given, or made of the bounds of the sets, as choose_root() makes it.
  template <int Dim>
  struct device_root
  {
    device_bounds<Dim> const* bounds; ///< of two sets; null: the root is given
    bool has[2];                      ///< whether a set has points
    double centre[Dim], half_width;
    double period[Dim]; ///< 0: an open axis
    axis_pieces pieces[Dim];

    __device__ void find()
    {
      if (bounds == nullptr) return;
      half_width = 0;
      for (int d = 0; d < Dim; ++d)
      {
        if (period[d] > 0)
        {
          half_width = max(half_width, period[d] / 2);
          continue;
        }
        double lower = std::numeric_limits<double>::infinity(), upper = -lower;
        for (int s = 0; s < 2; ++s)
          if (has[s])
          {
            lower = min(lower, -from_ordered_bits(bounds[s].lower[d]));
            upper = max(upper, from_ordered_bits(bounds[s].upper[d]));
          }
        // the same operations as on the CPU: no contraction
        lower = __dmul_rn(lower, 0.5);
        upper = __dmul_rn(upper, 0.5);
        centre[d] = __dadd_rn(lower, upper);
        half_width = max(half_width, __dsub_rn(upper, lower));
      }
      if (half_width == 0) half_width = 1;
    }
  };

  /// Where boxes begin along the axes and how far they go, as key_axis.
  template <int Dim>
  struct device_axes
  {
    double lower[Dim], width[Dim];
    axis_pieces pieces[Dim];

    device_axes() = default;
    /// Pieces in device memory take the place of those of the axes.
    device_axes(std::array<key_axis, Dim> const& axes, device_pieces<Dim> const& on_device)
    {
      for (int d = 0; d < Dim; ++d)
      {
        lower[d] = axes[d].lower;
        width[d] = axes[d].width;
        pieces[d] = on_device.of(d);
      }
    }

    /// The key of a point: the same operations as write_keys() on the CPU, without contraction.
    template <class T>
    __device__ std::uint64_t key(device_points<T, Dim> const& points, std::uint32_t i,
                                 key_layout const& layout) const
    {
      double const boxes_per_axis = static_cast<double>(1ull << layout.level);
      double const last = boxes_per_axis - 1;
      std::array<std::uint32_t, Dim> index;
      for (int d = 0; d < Dim; ++d)
      {
        double const x = points.x[d][i];
        double const distance = pieces[d].n == 0 ? __dsub_rn(x, lower[d]) : pieces[d].place(x, 1);
        double const place = __dmul_rn(__ddiv_rn(distance, width[d]), boxes_per_axis);
        index[d] = static_cast<std::uint32_t>(place > 0 ? (place < last ? place : last) : 0);
      }
      return layout.order == leaf_order::morton
                 ? encode<leaf_order::morton, Dim>(index, layout.level)
                 : encode<leaf_order::row_major, Dim>(index, layout.level);
    }
  };

  template <class T, int Dim>
  __global__ void keys_in_root(device_points<T, Dim> points, device_root<Dim> root, double limit,
                               key_layout layout, std::uint64_t* keys, index_type* order,
                               tree_report<Dim>* report)
  {
    std::uint32_t const i = thread_index();
    if (i >= points.n) return;
    root.find();
    double const width = 2 * root.half_width;
    if (i == 0)
    {
      for (int d = 0; d < Dim; ++d) report->centre[d] = root.centre[d];
      report->half_width = root.half_width;
      bool invalid = !(width < std::numeric_limits<double>::infinity());
      if (root.bounds)
        for (int s = 0; s < 2; ++s) invalid |= root.has[s] && root.bounds[s].bad != 0;
      if (invalid) report->invalid = 1;
    }
    device_axes<Dim> axes;
    bool inside = true;
    for (int d = 0; d < Dim; ++d)
    {
      double const x = points.x[d][i];
      bool const is_periodic = root.period[d] > 0;
      axes.lower[d] = is_periodic ? 0 : __dsub_rn(root.centre[d], root.half_width);
      axes.width[d] = is_periodic ? root.period[d] : width;
      axes.pieces[d] = root.pieces[d];
      if (is_periodic)
        inside &= x >= 0 && x < static_cast<T>(root.period[d]);
      else
        inside &= root.bounds || fabs(__dsub_rn(x, root.centre[d])) <= limit;
    }
    if (!inside) report->invalid = 1;
    keys[i] = axes.key(points, i, layout);
    order[i] = i;
  }

  /// Throws the error of the CPU's build_tree for points that this one refused.
  template <class T, int Dim>
  void throw_error_of_host(device_positions<T, Dim> const& points, tree_options<Dim> const& options,
                           cuda_stream stream)
  {
    std::array<std::vector<T>, 2 * Dim> columns;
    auto const copy = [&](strided<T const, Dim> const& from, int first)
    {
      std::size_t const n = from.size(), stride = static_cast<std::size_t>(from.stride());
      std::array<T const*, Dim> to;
      for (int d = 0; d < Dim; ++d)
      {
        std::vector<T>& column = columns[first + d];
        column.resize(n == 0 ? 0 : (n - 1) * stride + 1);
        device_copy(column.data(), from[d].first, column.size() * sizeof(T), stream);
        for (std::size_t i = 1; i < n; ++i) column[i] = column[i * stride];
        to[d] = column.data();
      }
      return soa<T const, Dim>(to, n);
    };
    soa<T const, Dim> const targets = copy(points.targets, 0), sources = copy(points.sources, Dim);
    static_cast<void>(points.one_set ? nearfield::build_tree(targets, options)
                                     : nearfield::build_tree(targets, sources, options));
    throw error("build_tree: the points changed during the call");
  }

  template <class T, int Dim>
  void check_positions(device_positions<T, Dim> const& points, tree_options<Dim> const& options)
  {
    check_periods<T>(options.period);
    std::size_t const total = points.targets.size() + points.sources.size();
    if (total >= std::size_t(1) << 31)
      throw error("build_tree: found " + std::to_string(total) +
                  " points in device memory; give fewer than 2^31");
    auto const check = [](strided<T const, Dim> const& x, char const* name)
    {
      for (int d = 0; d < Dim; ++d)
        if (x.size() > 0 && x[d].first == nullptr)
          throw error("build_tree: column " + std::to_string(d) + " of " + name +
                      " is null; give " + std::to_string(x.size()) + " values");
    };
    check(points.targets, points.one_set ? "points" : "targets");
    check(points.sources, "sources");
  }

  template <int Dim>
  template <class T>
  void tree_on_gpu<Dim>::sort(device_positions<T, Dim> const& points, sets& sorted,
                              tree_tables<Dim>& to, cut_root const* cut)
  {
    std::array<device_points<T, Dim>, 2> const all{device_points<T, Dim>(points.targets),
                                                   device_points<T, Dim>(points.sources)};
    device_root<Dim> root{};
    double limit = 0;
    for (int s = 0; s < 2; ++s) root.has[s] = all[s].n > 0;
    std::ranges::copy(options_.period, root.period);
    device_pieces<Dim> pieces;
    if (cut)
    {
      std::ranges::copy(cut->root.centre, root.centre);
      root.half_width = cut->root.half_width;
      limit = std::numeric_limits<double>::infinity();
      pieces = device_pieces<Dim>(cut->pieces, stream_);
      for (int d = 0; d < Dim; ++d) root.pieces[d] = pieces.of(d);
    }
    else if (options_.root)
    {
      std::ranges::copy(options_.root->centre, root.centre);
      root.half_width = options_.root->half_width;
      limit = root.half_width * (1 + 4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
    }
    else
    {
      if (bounds_.size() == 0) bounds_ = cleared_bounds<Dim>(4, stream_, "build_tree: bounds");
      root.bounds = bounds_.data() + 2;
      for (int s = 0; s < 2; ++s)
        if (all[s].n > 0)
          start_bounds(coordinates_of<T, Dim>{all[s]}, bounds_.data() + s, bounds_.data() + 2 + s,
                       stream_, "build_tree: find_bounds");
    }
    end_stage("bounds", stream_);
    key_layout const layout = layout_of_valid(options_);
    std::array<device_array<index_type>*, 2> const orders{&to.target_order, &to.source_order};
    for (int s = 0; s < 2; ++s)
    {
      std::size_t const n = all[s].n;
      if (n == 0) continue;
      char const* const what = "build_tree: sort";
      sorted[s].keys = device_array<std::uint64_t>(n, stream_, what);
      fit(*orders[s], n, stream_, what);
      keys_in_root<T, Dim><<<blocks_for(n, block_threads), block_threads, 0, stream_>>>(
          all[s], root, limit, layout, sorted[s].keys.data(), orders[s]->data(), to.report.data());
      check_cuda(cudaGetLastError(), "build_tree: keys_in_root");
      end_stage("keys", stream_);
      if (layout.level > 0) sort_by_key(sorted[s].keys, *orders[s], Dim * layout.level, what);
      end_stage("sort", stream_);
    }
  }

  /// *found: whether the points of a leaf that holds more than `most` are not all at one place. A block for each leaf.
  template <class T, int Dim>
  __global__ void find_crowds(device_points<T, Dim> points, index_type const* order,
                              index_type const* offsets, std::uint32_t n_leaves, std::uint32_t most,
                              std::uint32_t* found)
  {
    for (std::uint32_t b = blockIdx.x; b < n_leaves; b += gridDim.x)
    {
      index_type const begin = offsets[b], end = offsets[b + 1];
      if (end - begin <= most) continue;
      for (index_type p = begin + threadIdx.x; p < end; p += block_threads)
        for (int d = 0; d < Dim; ++d)
          if (points.x[d][order[p]] != points.x[d][order[begin]]) *found = 1;
    }
  }

  template <int Dim>
  template <class T>
  bool tree_on_gpu<Dim>::cut_gaps_of(device_positions<T, Dim> const& points,
                                     tree_tables<Dim> const& tables, cut_root& cut) const
  {
    list_report const& built = built_->lists;
    auto const most = static_cast<std::uint32_t>(crowd_of_leaf(options_.max_leaf_size));
    if (options_.level || options_.root || built.largest <= most) return false;
    device_array<std::uint32_t> any(1, stream_, "build_tree: gaps");
    device_clear(any.data(), sizeof most, stream_);
    auto const look = [&](strided<T const, Dim> const& x, device_array<index_type> const& order,
                          device_array<index_type> const& offsets)
    {
      find_crowds<T, Dim><<<std::min(built.leaves, 1u << 16), block_threads, 0, stream_>>>(
          device_points<T, Dim>(x), order.data(), offsets.data(), built.leaves, most, any.data());
      check_cuda(cudaGetLastError(), "build_tree: find_crowds");
    };
    look(points.targets, tables.target_order, tables.target_offsets);
    if (!points.one_set) look(points.sources, tables.source_order, tables.source_offsets);
    std::uint32_t is_crowded = 0;
    device_copy(&is_crowded, any.data(), sizeof is_crowded, stream_);
    if (is_crowded == 0) return false;
    std::array<device_axis, Dim> axes;
    std::array<axis_spacing, Dim> spacing;
    for (int d = 0; d < Dim; ++d)
    {
      if (options_.period[d] > 0) continue;
      axes[d] = device_axis(points.targets[d], points.targets.size(), points.sources[d],
                            points.sources.size(), stream_);
      spacing[d] = axes[d].spacing(crowd_of_tree(tables.n_targets + tables.n_sources));
    }
    return cut_gaps<Dim>(
        spacing, options_.period, max_level<Dim>,
        [&](int d, double length) { return axes[d].gaps(length); }, cut.root, cut.pieces);
  }

  /// Columns of places along the normals of a box, and what brings points into it. A point that is too far away has no
  /// place.
  template <class T, int Dim>
  __global__ void
  place_points(__grid_constant__ cell_frame<Dim> const frame, device_points<T, Dim> const points,
               std::array<double, Dim> const last, double* places, std::array<double, 3>* moves)
  {
    std::uint32_t const i = thread_index();
    if (i >= points.n) return;
    std::array<T, Dim> x;
    for (int a = 0; a < Dim; ++a) x[a] = points.x[a][i];
    auto const point = frame.reduce(x);
    std::array<double, Dim> at;
    for (int a = 0; a < Dim; ++a) at[a] = static_cast<double>(point.at[a]);
    for (int a = 0; a < Dim; ++a)
    {
      double place = frame.is_aligned && !frame.periodic[a] ? at[a] : frame.along(a, at);
      if (frame.periodic[a]) place = !(place > 0) ? 0 : place < last[a] ? place : last[a];
      places[a * std::size_t(points.n) + i] =
          point.fits ? place : std::numeric_limits<double>::quiet_NaN();
    }
    auto const shift = frame.shift(point.image);
    for (int a = 0; a < 3; ++a) moves[i][a] = a < Dim ? 0 - shift[a] : 0;
  }

  template <int Dim>
  template <class T>
  device_positions<double, Dim> tree_on_gpu<Dim>::place(device_positions<T, Dim> const& points)
  {
    std::array<double, Dim> last;
    for (int a = 0; a < Dim; ++a) last[a] = std::nextafter(frame_.thickness[a], 0.);
    std::array<strided<T const, Dim> const*, 2> const given{&points.targets, &points.sources};
    std::array<strided<double const, Dim>, 2> placed;
    for (int s = 0; s < 2; ++s)
    {
      std::size_t const n = given[s]->size();
      fit(places_[s], Dim * n, stream_, "build_tree: places");
      fit(moves_[s], n, stream_, "build_tree: places");
      if (n > 0)
        place_points<T, Dim><<<blocks_for(n, block_threads), block_threads, 0, stream_>>>(
            frame_, device_points<T, Dim>(*given[s]), last, places_[s].data(), moves_[s].data());
      check_cuda(cudaGetLastError(), "build_tree: place_points");
      std::array<double const*, Dim> columns;
      for (int a = 0; a < Dim; ++a) columns[a] = places_[s].data() + a * n;
      placed[s] = soa<double const, Dim>(columns, n);
    }
    return {placed[0], placed[1], points.one_set};
  }

  template <int Dim>
  template <class T>
  void tree_on_gpu<Dim>::build_points(device_positions<T, Dim> const& points)
  {
    check_positions(points, given_);
    auto const complain = [&]
    {
      throw_error_of_host(points, given_, stream_);
    };
    if (has_cell())
      build_placed(place(points), complain);
    else
      build_placed(points, complain);
  }

  template <int Dim>
  template <class T>
  void tree_on_gpu<Dim>::build_placed(device_positions<T, Dim> const& points,
                                      std::function<void()> const& complain)
  {
    tree_tables<Dim> tables;
    tables.report = device_array<tree_report<Dim>>(1, stream_, "build_tree: report");
    tables.n_targets = points.targets.size();
    tables.n_sources = points.sources.size();
    cut_root cut;
    for (bool is_cut = false;; is_cut = true)
    {
      device_clear(tables.report.data(), sizeof(tree_report<Dim>), stream_);
      sets sorted;
      sort(points, sorted, tables, is_cut ? &cut : nullptr);
      find_heads(sorted, tables);
      make_tables(sorted, points.one_set, tables);
      if (is_cut) break;
      if (built_->invalid != 0) complain();
      if (!cut_gaps_of(points, tables, cut)) break;
    }
    pieces_ = std::move(cut.pieces);
    tables_ = std::move(tables);
    one_set_ = points.one_set;
    complain_ = nullptr;
    is_whole_ = true;
    learn(*built_);
  }

  template <int Dim>
  template <class T>
  void tree_on_gpu<Dim>::enqueue_points(device_positions<T, Dim> const& points)
  {
    check_positions(points, given_);
    if (points.one_set != one_set_ || points.targets.size() != tables_.n_targets ||
        points.sources.size() != tables_.n_sources)
      throw error("cuda_tree::enqueue: found other numbers of points than the tree was built for; "
                  "call rebuild()");
    if (points.targets.size() + points.sources.size() == 0) return;
    complain_ = [points, options = given_, stream = stream_]
    {
      throw_error_of_host(points, options, stream);
    };
    is_whole_ = is_known_ = false;
    if (has_cell())
      enqueue_placed(place(points));
    else
      enqueue_placed(points);
    is_whole_ = true;
  }

  template <int Dim>
  template <class T>
  void tree_on_gpu<Dim>::enqueue_placed(device_positions<T, Dim> const& points)
  {
    pieces_ = {};
    device_clear(tables_.report.data(), sizeof(tree_report<Dim>), stream_);
    sets sorted;
    sort(points, sorted, tables_);
    find_heads(sorted, tables_);
    make_leaves(sorted, one_set_, tables_);
    make_lists(one_set_, tables_);
    report(tables_, enqueued_);
  }
}
