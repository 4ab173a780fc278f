#pragma once

#include "cuts.hpp"
#include "ranks.hpp"

#include "tree/src/cuda/gpu_points.hpp"
#include "tree/src/keys.hpp"
#include "tree/src/leaves.hpp"
#include "tree/src/root.hpp"
#include "tree/src/sort.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/parallel.hpp>
#include <nearfield/cuda/permutation.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

/// \file
/// How points get to the ranks whose leaves they are in.

namespace nearfield::starpu_mpi::detail
{
  using namespace nearfield::detail;

  /// What is known of a tree before its points move.
  template <int Dim>
  struct shape
  {
    key_layout layout;
    index_type max_leaf_size; ///< 0: uniform
    cube<Dim> root;
    tree_pieces<Dim> pieces;
    std::array<double, Dim> period;
    bool has_one_set;

    /// of the keys
    [[nodiscard]] std::uint64_t end() const { return std::uint64_t(1) << (Dim * layout.level); }
  };

  /// A point on its way. Its number is its index in the caller's columns, or a global one.
  template <class T, int Dim, class Number = index_type>
  struct traveller
  {
    std::array<T, Dim> x;
    Number number;
  };
  template <class T, int Dim>
  strided<T, Dim> positions_of(std::span<traveller<T, Dim>> points)
  {
    static_assert(sizeof(traveller<T, Dim>) % sizeof(T) == 0);
    std::array<T*, Dim> first;
    for (int d = 0; d < Dim; ++d) first[d] = points.empty() ? nullptr : &points[0].x[d];
    return {soa<T, Dim>(first, points.size()), sizeof(traveller<T, Dim>) / sizeof(T)};
  }

  template <class T, int Dim>
  nearfield::detail::strided_column<index_type> numbers_of(std::span<traveller<T, Dim>> points)
  {
    static_assert(sizeof(traveller<T, Dim>) % sizeof(index_type) == 0);
    return {points.empty() ? nullptr : &points[0].number,
            sizeof(traveller<T, Dim>) / sizeof(index_type)};
  }

  /// One set of points, and the memory in which it gets to its ranks. With a GPU it is sorted there, and what the host
  /// need not see stays there; where that has too little memory, the host does all.
  template <class T, int Dim>
  struct travelling_points
  {
    /// Writes the keys of points [begin, end).
    using key_writer = std::function<void(strided<T const, Dim> const&, std::size_t begin,
                                          std::size_t end, std::uint64_t* to)>;

    travelling_points(distribution_options const& of_tree, executor* of_place)
        : distribution(of_tree), given_threads(of_place)
    {}

    distribution_options const& distribution;
    executor* given_threads;     ///< null: the calling one
    strided<T const, Dim> given; ///< the caller's
    tree_pieces<Dim> pieces;     ///< of the axes
    std::array<key_axis, Dim> axes;
    key_layout layout;
    key_writer write;
    std::unique_ptr<gpu_points<T, Dim>> gpu;           ///< made when it is first needed
    bool is_on_gpu = false, is_settled_on_gpu = false; ///< the caller's points, own ones
    // of the caller's points along the curve
    page_vector<std::uint64_t> keys; ///< on a GPU none, until all_keys()
    journey* way = nullptr;          ///< while it is made
    std::array<page_vector<T>, Dim> sorted;
    sort_scratch scratch;
    // of points that travel
    page_vector<traveller<T, Dim>> leaving;
    by_rank<traveller<T, Dim>> arrived;
    std::size_t own_sent = 0, n_own = 0;     ///< those that stay are [own_sent, own_sent + n_own)
    std::vector<std::uint64_t> first_number; ///< of each rank
    // of own points, where some have arrived
    page_vector<std::uint64_t> arrived_keys, merged_keys;
    page_vector<index_type> merged_order;
    std::array<page_vector<T>, Dim> merged;
    page_vector<index_type> places, rows; ///< of those that arrived, as gpu_points::unite()
    std::array<T const*, Dim> x{};        ///< of own points; null: only the GPU has them
    bool is_complete = false;
    std::size_t me = 0; ///< this rank

    [[nodiscard]] executor& threads() const { return threads_or_here(given_threads); }

    /// Calls f(i) for i < n, on all threads. That of a few thousand points would take longer with them.
    template <class F>
    void each(std::size_t n, F const& f)
    {
      for_each_part(threads(), cut(threads(), n, std::size_t(1) << 15),
                    [&](int, std::size_t begin, std::size_t end)
                    {
                      for (std::size_t i = begin; i < end; ++i) f(i);
                    });
    }

    /// Whether f() could do it on the GPU: then so can what follows.
    template <class F>
    bool try_on_gpu(F const& f)
    {
      try
      {
        f();
        return is_on_gpu;
      }
      catch (error const& e)
      {
        if (e.kind() != error_kind::out_of_memory) throw;
        return is_on_gpu = false;
      }
    }
    /// Whether f() did it on the GPU. Otherwise the host has the sorted points.
    template <class F>
    bool on_gpu(F const& f)
    {
      if (!is_on_gpu) return false;
      if (try_on_gpu(f)) return true;
      sort_on_host();
      return false;
    }

    /// The caller's points. As valid_bounds().
    point_bounds<T, Dim> load(named_positions<T, Dim> const& points,
                              std::array<double, Dim> const& period)
    {
      given = points.positions;
      std::optional<point_bounds<T, Dim>> bounds;
      is_on_gpu = distribution.gpu && given.size() > 0 && given.size() < std::size_t(1) << 31;
      for (int d = 0; d < Dim; ++d) is_on_gpu = is_on_gpu && given[d].first;
      if (distribution.gpu)
        try_on_gpu(
            [&]
            {
              if (!gpu) gpu = gpu_points<T, Dim>::make(*distribution.gpu, threads());
              if (is_on_gpu) bounds = gpu->load(given, period);
            });
      return bounds ? *bounds : valid_bounds(threads(), points, period);
    }

    /// Sorts them along the curve.
    void sort(shape<Dim> const& of, journey& of_tree)
    {
      pieces = of.pieces;
      axes = key_axes(of.root, of.period, pieces);
      layout = of.layout;
      write = [this](auto const& points, std::size_t begin, std::size_t end, std::uint64_t* to)
      {
        write_keys(points, begin, end, axes, layout, to);
      };
      way = &of_tree;
      if (!is_on_gpu) return sort_on_host();
      renew(way->sent, given.size());
      on_gpu([&] { gpu->sort(axes, layout); });
    }
    /// These points on the host, along a curve of other cells.
    void sort(strided<T const, Dim> const& points, key_writer const& of_cells, journey& of)
    {
      given = points;
      write = of_cells;
      way = &of;
      sort_on_host();
    }

    void sort_on_host()
    {
      std::size_t const n = given.size();
      check_number(n);
      auto& order = way->sent;
      renew(order, n);
      renew(keys, n);
      for (auto& column : sorted) renew(column, n);
      make_keys(given, keys);
      sort_keys(threads(), keys, order, scratch);
      // column by column: more places at once would be more than the page tables in the cache
      for (int d = 0; d < Dim; ++d)
        each(n, [&, x = given[d], to = sorted[d].data()](std::size_t i) { to[i] = x[order[i]]; });
    }

    void make_keys(strided<T const, Dim> const& of, std::span<std::uint64_t> to)
    {
      for_each_part(threads(), cut(threads(), to.size()),
                    [&](int, std::size_t begin, std::size_t end)
                    { write(of, begin, end, to.data()); });
    }

    /// The keys of the sorted points.
    key_span all_keys()
    {
      renew(keys, given.size());
      on_gpu([&] { gpu->read_keys(keys.data()); });
      return keys;
    }

    /// The number of sorted points with a smaller key, for each of these.
    std::vector<std::size_t> places_of(key_span wanted)
    {
      std::vector<std::size_t> found;
      if (on_gpu([&] { found = gpu->places_of(wanted); })) return found;
      return detail::places_of(wanted, keys);
    }

    /// Sends the sorted points to the ranks between whose cuts they are. Points that stay on this rank are no message:
    /// they come between those of the ranks before and after.
    void exchange(ranks const& all, std::span<std::uint64_t const> cuts)
    {
      me = static_cast<std::size_t>(all.rank());
      std::vector<std::size_t> offsets;
      all.attempt(
          [&]
          {
            way->sent_offsets = offsets = places_of(cuts);
            own_sent = offsets[me];
            n_own = offsets[me + 1] - own_sent;
            for (std::size_t r = me + 1; r < offsets.size(); ++r) offsets[r] -= n_own;
            renew(leaving, offsets.back());
            auto const take = [&](std::size_t first, std::span<traveller<T, Dim>> to)
            {
              bool const is_read =
                  on_gpu([&] { gpu->read(first, positions_of(to), numbers_of(to)); });
              each(to.size(),
                   [&](std::size_t i)
                   {
                     if (is_read)
                       way->sent[first + i] = to[i].number;
                     else
                     {
                       to[i].number = way->sent[first + i];
                       for (int d = 0; d < Dim; ++d) to[i].x[d] = sorted[d][first + i];
                     }
                   });
            };
            take(0, std::span(leaving).first(own_sent));
            take(own_sent + n_own, std::span(leaving).subspan(own_sent));
          });
      all.exchange<traveller<T, Dim>>(leaving, offsets, arrived);

      way->received_offsets = arrived.offsets;
      for (std::size_t r = me + 1; r < offsets.size(); ++r) way->received_offsets[r] += n_own;
      first_number = {distribution.first_number};
      for (std::size_t const count : all.gather(given.size()))
        first_number.push_back(first_number.back() + count);
    }

    /// Brings own points into the order of their keys: those that stay and those that arrived. The latter come by rank,
    /// and from a rank by key. Points with equal keys come by number. On a GPU, most is for complete() to tell.
    void settle(page_vector<std::uint64_t>& numbers)
    {
      std::size_t const n = n_own + arrived.values.size(), own_begin = way->received_offsets[me];
      check_number(n);
      renew(way->received, n);
      renew(numbers, n);
      x.fill(nullptr);
      auto const unite = [&]
      {
        renew(places, arrived.values.size());
        renew(rows, places.size());
        gpu->unite(own_sent, n_own, positions_of(std::span(arrived.values)), own_begin,
                   places.data(), rows.data());
      };
      is_settled_on_gpu = on_gpu(unite);
      is_complete = !is_settled_on_gpu;
      if (is_settled_on_gpu)
        return each(places.size(), [&](std::size_t k) { way->received[rows[k]] = places[k]; });
      bool const all_stay = arrived.values.empty();
      if (!all_stay) merge(own_begin, way->received);
      each(n_own,
           [&](std::size_t i)
           {
             if (all_stay) way->received[i] = static_cast<index_type>(i);
             numbers[way->received[own_begin + i]] = first_number[me] + way->sent[own_sent + i];
           });
      number_arrived(numbers, *way);
      if (all_stay)
        for (int d = 0; d < Dim; ++d) x[d] = sorted[d].data() + own_sent;
    }

    /// The points of all ranks.
    [[nodiscard]] std::uint64_t total() const { return first_number.back() - first_number[0]; }

    void number_arrived(std::span<std::uint64_t> numbers, journey const& of)
    {
      for (std::size_t r = 0; r + 1 < arrived.offsets.size(); ++r)
        each(arrived.of(static_cast<int>(r)).size(),
             [&, came = arrived.of(static_cast<int>(r)), first = of.received_offsets[r],
              number = first_number[r]](std::size_t i)
             { numbers[of.received[first + i]] = number + came[i].number; });
    }

    /// The numbers of own points and the way of those that stay.
    void complete(std::span<std::uint64_t> numbers, journey& of)
    {
      if (is_complete) return;
      std::size_t const own_begin = of.received_offsets[me];
      page_vector<index_type> index(numbers.size());
      gpu->read_indices(index.data());
      for_each_part(threads(), cut(threads(), index.size()),
                    [&](int, std::size_t begin, std::size_t end)
                    {
                      auto const first = std::ranges::lower_bound(places, begin) - places.begin();
                      std::size_t i = begin - static_cast<std::size_t>(first);
                      for (std::size_t p = begin; p < end; ++p)
                      {
                        if (index[p] == no_row) continue;
                        of.sent[own_sent + i] = index[p];
                        of.received[own_begin + i++] = static_cast<index_type>(p);
                        numbers[p] = first_number[me] + index[p];
                      }
                    });
      number_arrived(numbers, of);
      is_complete = true;
    }

    /// On the host. received[i] becomes the place of the point that came as number i.
    void merge(std::size_t own_begin, std::span<index_type> received)
    {
      renew(arrived_keys, arrived.values.size());
      make_keys(positions_of(std::span(arrived.values)), arrived_keys);
      key_span const stay = key_span(keys).subspan(own_sent, n_own);
      std::vector<key_span> runs;
      for (std::size_t r = 0; r + 1 < arrived.offsets.size(); ++r)
      {
        std::size_t const first = arrived.offsets[r], last = arrived.offsets[r + 1];
        runs.push_back(r == me ? stay : key_span(arrived_keys).subspan(first, last - first));
      }
      renew(merged_order, received.size());
      auto const to = make_room(received.size());
      merge_keys(threads(), runs, merged_keys, merged_order, scratch);
      each(received.size(),
           [&](std::size_t p)
           {
             std::size_t const i = merged_order[p];
             received[i] = static_cast<index_type>(p);
             bool const is_own = i >= own_begin && i - own_begin < n_own;
             auto const& come = arrived.values[is_own ? 0 : i < own_begin ? i : i - n_own];
             for (int d = 0; d < Dim; ++d)
               to[d][p] = is_own ? sorted[d][own_sent + i - own_begin] : come.x[d];
           });
    }

    /// Memory for the coordinates of own points.
    std::array<T*, Dim> make_room(std::size_t n)
    {
      std::array<T*, Dim> to;
      for (int d = 0; d < Dim; ++d)
      {
        renew(merged[d], n);
        x[d] = to[d] = merged[d].data();
      }
      return to;
    }

    /// The coordinates of n own points: the GPU gives them when they are first asked for.
    soa<T const, Dim> positions(std::size_t n)
    {
      if (is_settled_on_gpu && !x[0]) gpu->read_united(make_room(n));
      return {x, n};
    }

    /// The keys of own points.
    key_span own_keys()
    {
      if (is_settled_on_gpu)
      {
        renew(merged_keys, n_own + arrived.values.size());
        make_keys(positions(merged_keys.size()), merged_keys);
      }
      else if (arrived.values.empty())
        return key_span(keys).subspan(own_sent, n_own);
      return merged_keys;
    }

    /// Leaves the GPU to others.
    void leave_gpu()
    {
      is_on_gpu = false;
      if (gpu) gpu->release(is_settled_on_gpu);
    }
  };
}
