#pragma once

#include "bounds.cuh"
#include "gpu_part.cuh"
#include "gpu_points.hpp"
#include "launch.cuh"
#include "on_device.hpp"
#include "points.cuh"
#include "primitives.hpp"
#include "staging.hpp"
#include "starts.cuh"
#include "tree_keys.cuh"
#include "tree_on_gpu.cuh"
#include "united_rows.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace nearfield::detail
{
  template <class T, int Dim>
  __global__ void keys_on_axes(device_points<T, Dim> points, device_axes<Dim> axes,
                               key_layout layout, std::uint64_t* keys)
  {
    std::uint32_t const i = thread_index();
    if (i < points.n) keys[i] = axes.key(points, i, layout);
  }

  static __global__ void number_rows(std::uint32_t n, index_type* rows)
  {
    std::uint32_t const i = thread_index();
    if (i < n) rows[i] = i;
  }

  static __global__ void find_places(std::uint64_t const* keys, std::uint32_t n,
                                     std::uint64_t const* wanted, std::uint32_t n_wanted,
                                     std::uint32_t* places)
  {
    std::uint32_t const i = thread_index();
    if (i < n_wanted) places[i] = lower_bound(keys, n, wanted[i]);
  }

  template <class T, int Dim>
  class points_on_gpu final : public gpu_points<T, Dim>
  {
  public:
    points_on_gpu(int number, executor& on) : on_(on), number_(checked(number))
    {
      on_device const here(number_);
      bus_ = staging::make(on.workers());
      check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                 "gpu_points: cudaStreamCreate");
      auto const destroy = [](cudaStream_t stream)
      {
        cudaStreamDestroy(stream);
        static_cast<void>(cudaGetLastError());
      };
      stream_of_lists_.reset(stream_, destroy);
    }
    points_on_gpu(points_on_gpu const&) = delete;
    points_on_gpu& operator=(points_on_gpu const&) = delete;
    ~points_on_gpu() override
    {
      on_device const here(number_);
      drop();
      united_ = {};
      part_.reset();
    }

    std::optional<point_bounds<T, Dim>> load(strided<T const, Dim> const& points,
                                             std::array<double, Dim> const& period) override
    {
      on_device const here(number_);
      drop();
      period_ = period;
      // before anything crosses the bus
      if (points.size() * (2 * Dim * sizeof(T) + 40) > free_gpu_memory())
        throw error("gpu_points: too little device memory for " + std::to_string(points.size()) +
                        " points",
                    error_kind::out_of_memory);
      x_ = upload(points);
      return bounds_within(period);
    }

    void sort(std::array<key_axis, Dim> const& axes, key_layout const& layout) override
    {
      on_device const here(number_);
      part_.reset(); // of the points before, which may not be refused any more
      tree_pieces<Dim> pieces;
      for (int d = 0; d < Dim; ++d)
        pieces[d].assign(axes[d].pieces.pieces, axes[d].pieces.pieces + axes[d].pieces.n);
      pieces_ = device_pieces<Dim>(pieces, stream_);
      axes_ = device_axes<Dim>(axes, pieces_);
      layout_ = layout;
      std::size_t const n = x_[0].size();
      keys_ = device_array<std::uint64_t>(n, stream_, what);
      order_ = device_array<index_type>(n, stream_, what);
      write_keys(view(x_), keys_.data());
      rows_ = device_array<T>(Dim * n, stream_, what);
      interleave<T, Dim><<<blocks(n), block_threads, 0, stream_>>>(view(x_), rows_.data());
      check_cuda(cudaGetLastError(), "gpu_points: interleave");
      x_ = {};
      sort_rows(keys_, order_);
    }

    void read_keys(std::uint64_t* to) override
    {
      on_device const here(number_);
      download({column_to(to, keys_, keys_.size())});
    }

    std::vector<std::size_t> places_of(std::span<std::uint64_t const> keys) override
    {
      if (keys.empty()) return {};
      on_device const here(number_);
      device_array<std::uint64_t> const wanted(keys, stream_);
      device_array<std::uint32_t> found(keys.size(), stream_, what);
      find_places<<<blocks(keys.size()), block_threads, 0, stream_>>>(
          keys_.data(), static_cast<std::uint32_t>(keys_.size()), wanted.data(),
          static_cast<std::uint32_t>(keys.size()), found.data());
      check_cuda(cudaGetLastError(), "gpu_points: find_places");
      std::vector<std::uint32_t> places(keys.size());
      found.copy_to(places);
      return {places.begin(), places.end()};
    }

    void read(std::size_t first, strided<T, Dim> const& x,
              strided_column<index_type> const& index) override
    {
      on_device const here(number_);
      if (x.size() == 0) return;
      rows_taken const taken = take({.own = rows_.data(),
                                     .order = order_.data(),
                                     .first = static_cast<std::uint32_t>(first),
                                     .n = static_cast<std::uint32_t>(x.size())},
                                    x.size());
      std::vector<staged_column> staged{column_to(index, taken.indices)};
      for (int d = 0; d < Dim; ++d) staged.push_back(column_to(x[d], taken.x[d]));
      download(staged);
    }

    void unite(std::size_t first, std::size_t n, strided<T const, Dim> const& others,
               std::size_t n_before, index_type* places, index_type* rows) override
    {
      on_device const here(number_);
      std::size_t const n_others = others.size(), n_all = n + n_others;
      united_ = {};
      united_keys_ = device_array<std::uint64_t>(n_all, stream_, what);
      if (n_all == 0) return;
      columns const other = upload(others);
      united_rows<T, Dim> const from{.own = rows_.data(),
                                     .others = view(other),
                                     .order = order_.data(),
                                     .first = static_cast<std::uint32_t>(first),
                                     .n = static_cast<std::uint32_t>(n),
                                     .n_before = static_cast<std::uint32_t>(n_before)};
      if (n_others == 0)
      {
        device_copy_async(united_keys_.data(), keys_.data() + first, n * sizeof(std::uint64_t),
                          stream_);
        united_ = take(from, n);
        return;
      }
      device_array<std::uint64_t> other_keys(n_others, stream_, what);
      device_array<index_type> order(n_others, stream_, what), place_of(n_others, stream_, what),
          row_of(n_others, stream_, what);
      write_keys(from.others, other_keys.data());
      sort_rows(other_keys, order);
      std::uint64_t const* const own_keys = keys_.data() + first;
      find_places_of_others<<<blocks(n_others), block_threads, 0, stream_>>>(
          own_keys, from.n, other_keys.data(), order.data(), from.others.n, from.n_before,
          place_of.data(), row_of.data());
      check_cuda(cudaGetLastError(), "gpu_points: find_places_of_others");
      unsigned const n_blocks = blocks(n_all);
      device_array<std::uint32_t> before(n_blocks + std::size_t(1), stream_, what);
      count_before_blocks<<<blocks(before.size()), block_threads, 0, stream_>>>(
          place_of.data(), from.others.n, n_blocks, before.data());
      check_cuda(cudaGetLastError(), "gpu_points: count_before_blocks");
      united_ = room_for(n_all);
      merge_rows<T, Dim><<<n_blocks, block_threads, 0, stream_>>>(
          from, own_keys, other_keys.data(), place_of.data(), row_of.data(), from.others.n,
          before.data(), pointers(united_.x), united_.indices.data(), united_keys_.data());
      check_cuda(cudaGetLastError(), "gpu_points: merge_rows");
      download({column_to(places, place_of, n_others), column_to(rows, row_of, n_others)});
    }

    void read_united(std::array<T*, Dim> const& x) override
    {
      on_device const here(number_);
      std::vector<staged_column> staged;
      for (int d = 0; d < Dim; ++d)
        staged.push_back(column_to(x[d], united_.x[d], united_.x[d].size()));
      download(staged);
    }
    void read_indices(index_type* index) override
    {
      on_device const here(number_);
      download({column_to(index, united_.indices, united_.indices.size())});
    }
    [[nodiscard]] std::array<T const*, Dim> united() const override
    {
      std::array<T const*, Dim> x;
      for (int d = 0; d < Dim; ++d) x[d] = united_.x[d].data();
      return x;
    }
    [[nodiscard]] index_type const* indices() const override { return united_.indices.data(); }

    index_type make_leaves(index_type max_leaf_size, curve_range const& owned) override
    {
      on_device const here(number_);
      tree_options<Dim> options{.order = leaf_order::morton};
      if (max_leaf_size > 0)
        options.max_leaf_size = static_cast<int>(max_leaf_size);
      else
        options.level = layout_.level;
      tree_on_gpu<Dim>(stream_, options).make_part(std::move(united_keys_), owned, own_leaves_);
      part_.emplace(stream_of_lists_, layout_, period_);
      return n_leaves();
    }

    curve_range extent() override
    {
      if (n_leaves() == 0) return {0, 0};
      on_device const here(number_);
      leaf_cell<Dim> first, last;
      device_copy(&first, own_leaves_.cells.data(), sizeof first, stream_);
      device_copy(&last, own_leaves_.cells.data() + n_leaves() - 1, sizeof last, stream_);
      return {keys_of<Dim>(first.index, first.level, layout_.level).begin,
              keys_of<Dim>(last.index, last.level, layout_.level).end};
    }

    std::optional<page_vector<border_leaf<Dim>>> find_border(std::span<curve_range const> parts,
                                                             std::size_t part) override
    {
      on_device const here(number_);
      return if_it_fits([&] { return part_->find_border(own_leaves_, parts, part, *bus_, on_); });
    }

    void read_leaves(leaf_set<Dim>& to) override
    {
      on_device const here(number_);
      std::size_t const n = n_leaves();
      if (n == 0) return;
      index_type const targets = to.target_offsets.back(), sources = to.source_offsets.back();
      std::size_t const first = to.grow(n);
      auto const cells = [&](void* piece, std::size_t begin, std::size_t some)
      {
        auto const* const from = static_cast<leaf_cell<Dim> const*>(piece);
        for (std::size_t b = 0; b < some; ++b)
        {
          to.cells[first + begin + b] = from[b];
          to.levels[first + begin + b] = static_cast<std::uint8_t>(from[b].level);
        }
      };
      auto const ends = [&](void* piece, std::size_t begin, std::size_t some)
      {
        auto const* const from = static_cast<index_type const*>(piece);
        for (std::size_t b = 0; b < some; ++b)
        {
          to.target_offsets[first + begin + b + 1] = targets + from[b];
          to.source_offsets[first + begin + b + 1] = sources + from[b];
        }
      };
      download({{own_leaves_.cells.data(), n, sizeof(leaf_cell<Dim>), cells},
                column_to(to.keys.data() + first, own_leaves_.keys, n),
                {own_leaves_.target_offsets.data() + 1, n, sizeof(index_type), ends}});
    }

    std::optional<met_leaves> meet(part_leaves<Dim> const& known) override
    {
      on_device const here(number_);
      return if_it_fits([&] { return part_->meet(known, own_leaves_, *bus_, on_); });
    }

    [[nodiscard]] part_lists<Dim> lists(pair_form form) const override
    {
      on_device const here(number_);
      return part_->lists(form, {united_.indices.data(), united_.indices.size()});
    }

    void release(bool keeps_united) noexcept override
    {
      on_device const here(number_);
      drop();
      if (!keeps_united)
      {
        united_ = {};
        part_.reset();
      }
      try
      {
        // others may want it, such as StarPU, which leaves a tenth of the GPU to us
        device_memory::usage const now = memory_of_pool();
        if (now.held - now.used > most_kept_) trim_pool();
      }
      catch (error const&)
      {
        // the next call on this device will tell
      }
    }

  private:
    static constexpr char const* what = "gpu_points: device memory";
    using columns = std::array<device_array<T>, Dim>;
    struct rows_taken
    {
      columns x;
      device_array<index_type> indices;
    };

    [[nodiscard]] int checked(int number)
    {
      auto const found = gpus();
      if (number < 0 || static_cast<std::size_t>(number) >= found.size())
        throw error("gpu: found device " + std::to_string(number) + "; this process has " +
                        std::to_string(found.size()) + ", counted from 0",
                    error_kind::not_available);
      most_kept_ = found[static_cast<std::size_t>(number)].memory_bytes / 20;
      return number;
    }

    /// f(), or nothing where there is too little memory; then there will be no lists.
    template <class F>
    auto if_it_fits(F const& f) -> std::optional<decltype(f())>
    {
      try
      {
        return f();
      }
      catch (error const& e)
      {
        part_.reset();
        if (e.kind() != error_kind::out_of_memory) throw;
        return {};
      }
    }

    static unsigned blocks(std::size_t n) { return blocks_for(n, block_threads); }

    [[nodiscard]] index_type n_leaves() const
    {
      return static_cast<index_type>(own_leaves_.capacity.leaves);
    }

    void drop() noexcept
    {
      x_ = {};
      rows_ = {};
      keys_ = {};
      order_ = {};
      united_keys_ = {};
      own_leaves_ = {};
    }

    static device_points<T, Dim> view(columns const& x)
    {
      std::array<T const*, Dim> first;
      for (int d = 0; d < Dim; ++d) first[d] = x[d].data();
      return device_points<T, Dim>(soa<T const, Dim>(first, x[0].size()));
    }

    [[nodiscard]] columns upload(strided<T const, Dim> const& points)
    {
      columns x;
      std::vector<staged_column> staged;
      for (int d = 0; d < Dim; ++d)
      {
        x[d] = device_array<T>(points.size(), stream_, what);
        staged.push_back({x[d].data(), points.size(), sizeof(T),
                          [column = points[d]](void* piece, std::size_t first, std::size_t n)
                          {
                            T* const values = static_cast<T*>(piece);
                            if (column.stride == 1)
                              std::copy_n(&column[first], n, values);
                            else
                              for (std::size_t i = 0; i < n; ++i) values[i] = column[first + i];
                          },
                          points[d].stride == 1 ? const_cast<T*>(points[d].first) : nullptr});
      }
      bus_->upload(on_, staged, stream_);
      return x;
    }

    void download(std::vector<staged_column> const& staged)
    {
      bus_->download(on_, staged, stream_);
    }
    /// None if a point is outside.
    std::optional<point_bounds<T, Dim>> bounds_within(std::array<double, Dim> const& period)
    {
      auto found = cleared_bounds<Dim>(2, stream_, what);
      start_bounds(coordinates_of<T, Dim>{view(x_)}, found.data(), found.data() + 1, stream_,
                   "gpu_points: find_bounds");
      std::array<device_bounds<Dim>, 2> host;
      found.copy_to(host);
      if (host[1].bad != 0) return std::nullopt;
      point_bounds<T, Dim> bounds;
      for (int d = 0; d < Dim; ++d)
      {
        bounds.lower[d] = static_cast<T>(-from_ordered_bits(host[1].lower[d]));
        bounds.upper[d] = static_cast<T>(from_ordered_bits(host[1].upper[d]));
        auto const length = static_cast<T>(period[d]);
        if (length > 0 && !(bounds.lower[d] >= 0 && bounds.upper[d] < length)) return std::nullopt;
      }
      return bounds;
    }

    void write_keys(device_points<T, Dim> const& points, std::uint64_t* keys)
    {
      if (points.n == 0) return;
      keys_on_axes<T, Dim>
          <<<blocks(points.n), block_threads, 0, stream_>>>(points, axes_, layout_, keys);
      check_cuda(cudaGetLastError(), "gpu_points: keys_on_axes");
    }

    /// Stably; rows[p] becomes the row that came to position p.
    void sort_rows(device_array<std::uint64_t>& keys, device_array<index_type>& rows)
    {
      number_rows<<<blocks(rows.size()), block_threads, 0, stream_>>>(
          static_cast<std::uint32_t>(rows.size()), rows.data());
      check_cuda(cudaGetLastError(), "gpu_points: number_rows");
      if (layout_.level > 0) sort_by_key(keys, rows, Dim * layout_.level, what);
    }

    [[nodiscard]] rows_taken room_for(std::size_t n)
    {
      rows_taken room{{}, device_array<index_type>(n, stream_, what)};
      for (auto& column : room.x) column = device_array<T>(n, stream_, what);
      return room;
    }
    static std::array<T*, Dim> pointers(columns& x)
    {
      std::array<T*, Dim> to;
      for (int d = 0; d < Dim; ++d) to[d] = x[d].data();
      return to;
    }

    /// The first n rows.
    [[nodiscard]] rows_taken take(united_rows<T, Dim> const& from, std::size_t n)
    {
      rows_taken taken = room_for(n);
      take_rows<T, Dim><<<blocks(n), block_threads, 0, stream_>>>(
          from, static_cast<std::uint32_t>(n), pointers(taken.x), taken.indices.data());
      check_cuda(cudaGetLastError(), "gpu_points: take_rows");
      return taken;
    }

    executor& on_;
    std::uint64_t most_kept_ = 0; ///< bytes
    int number_;
    std::unique_ptr<staging> bus_;
    cudaStream_t stream_ = nullptr;
    std::shared_ptr<CUstream_st> stream_of_lists_; ///< the same, which lists may outlive
    std::array<double, Dim> period_{};
    device_pieces<Dim> pieces_; ///< of the axes
    device_axes<Dim> axes_;
    key_layout layout_;
    columns x_;            ///< as the caller has them, until they are sorted
    device_array<T> rows_; ///< the same afterwards, interleaved
    device_array<std::uint64_t> keys_;
    device_array<index_type> order_;
    rows_taken united_;
    device_array<std::uint64_t> united_keys_;
    tree_tables<Dim> own_leaves_;
    std::optional<gpu_part<Dim>> part_; ///< of own leaves
  };

  template <class T, int Dim>
  std::unique_ptr<gpu_points<T, Dim>> gpu_points<T, Dim>::make(int device, executor& on)
  {
    return std::make_unique<points_on_gpu<T, Dim>>(device, on);
  }
}
