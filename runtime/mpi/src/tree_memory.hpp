#pragma once

#include "collective.hpp"
#include "cuts.hpp"
#include "layer.hpp"

#include "keys.hpp"
#include "leaves.hpp"
#include "parallel.hpp"
#include "root.hpp"
#include "sort.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

/// \file
/// How points get to the ranks whose leaves they are in, and what a tree keeps for when they move.

namespace nearfield::detail
{
  template <class T, int Dim>
  class gpu_points; // cuda/gpu_points.hpp
}

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
    std::array<double, Dim> period;

    [[nodiscard]] std::array<key_axis, Dim> axes() const { return key_axes(root, period); }
    /// of the keys
    [[nodiscard]] std::uint64_t end() const { return std::uint64_t(1) << (Dim * layout.level); }
  };

  /// A point on its way.
  template <class T, int Dim>
  struct traveller
  {
    std::array<T, Dim> x;
    index_type index; ///< in the caller's columns
  };
  template <class T, int Dim>
  strided<T const, Dim> positions_of(std::span<traveller<T, Dim> const> points)
  {
    static_assert(sizeof(traveller<T, Dim>) % sizeof(T) == 0);
    std::array<T const*, Dim> first;
    for (int d = 0; d < Dim; ++d) first[d] = &points[0].x[d];
    return {soa<T const, Dim>(first, points.size()), sizeof(traveller<T, Dim>) / sizeof(T)};
  }

  /// The leaves of a rank, whose keys these are.
  template <int Dim>
  leaf_set<Dim> leaves_of(executor& on, std::span<std::uint64_t const> keys, shape<Dim> const& of,
                          curve_range const& owned)
  {
    if (of.max_leaf_size > 0)
      return adaptive_leaves<Dim>(on, keys, {}, of.layout.level, of.max_leaf_size, owned);
    return uniform_leaves<Dim>(on, cells_of(on, keys), nullptr, of.layout);
  }

  inline curve_range range_of(ranks const& all, std::span<std::uint64_t const> cuts)
  {
    auto const r = static_cast<std::size_t>(all.rank());
    return {cuts[r], cuts[r + 1]};
  }

  /// One set of points, and the memory in which it gets to its ranks.
  template <class T, int Dim>
  struct travelling_points
  {
    using journey = typename distributed_tree<T, Dim>::journey;

    explicit travelling_points(distribution_options const& of_tree) : distribution(of_tree) {}

    distribution_options const& distribution;
    // of the caller's points along the curve
    page_vector<std::uint64_t> keys;
    page_vector<index_type> order; ///< before it becomes way().sent
    std::array<page_vector<T>, Dim> sorted;
    std::unique_ptr<gpu_points<T, Dim>> sorter; ///< made when it is first needed
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

    [[nodiscard]] executor& threads()
    {
      return distribution.threads ? *distribution.threads : here;
    }
    this_thread here;

    /// Calls f(i) for i < n, on all threads.
    template <class F>
    void each(std::size_t n, F const& f)
    {
      for_each_part(threads(), cut(threads(), n),
                    [&](int, std::size_t begin, std::size_t end)
                    {
                      for (std::size_t i = begin; i < end; ++i) f(i);
                    });
    }

    /// Sorts the caller's points along the curve.
    void sort(strided<T const, Dim> const& points, shape<Dim> const& of)
    {
      std::size_t const n = points.size();
      check_number(n);
      renew(order, n);
      renew(keys, n);
      for (auto& column : sorted) renew(column, n);
      if (distribution.gpu && sort_on_gpu(points, of)) return;
      for_each_part(threads(), cut(threads(), n),
                    [&](int, std::size_t begin, std::size_t end)
                    { write_keys(points, begin, end, of.axes(), of.layout, keys.data()); });
      sort_keys(threads(), keys, order, scratch);
      // column by column: more places at once would be more than the page tables in the cache
      for (int d = 0; d < Dim; ++d)
        each(n, [&, x = points[d], to = sorted[d].data()](std::size_t i) { to[i] = x[order[i]]; });
    }

    /// Whether the GPU has the memory for it.
    bool sort_on_gpu(strided<T const, Dim> const& points, shape<Dim> const& of)
    {
      std::array<T*, Dim> to;
      for (int d = 0; d < Dim; ++d) to[d] = sorted[d].data();
      try
      {
        if (!sorter) sorter = std::make_unique<gpu_points<T, Dim>>(*distribution.gpu, threads());
        sorter->sort(points, of.axes(), of.layout, keys.data(), order.data(), to);
      }
      catch (error const& e)
      {
        if (e.kind() != error_kind::out_of_memory) throw;
        return false;
      }
      return true;
    }

    /// Sends the sorted points to the ranks between whose cuts they are. Points that stay on this rank are no message:
    /// they come between those of the ranks before and after.
    void exchange(ranks const& all, std::span<std::uint64_t const> cuts, journey& way)
    {
      way.sent_offsets = places_of(cuts, keys);
      auto const me = static_cast<std::size_t>(all.rank());
      own_sent = way.sent_offsets[me];
      n_own = way.sent_offsets[me + 1] - own_sent;
      std::vector<std::size_t> offsets = way.sent_offsets;
      for (std::size_t r = me + 1; r < offsets.size(); ++r) offsets[r] -= n_own;
      all.attempt(
          [&]
          {
            renew(leaving, offsets.back());
            each(leaving.size(),
                 [&](std::size_t i)
                 {
                   std::size_t const from = i < own_sent ? i : i + n_own;
                   leaving[i].index = way.sent[from];
                   for (int d = 0; d < Dim; ++d) leaving[i].x[d] = sorted[d][from];
                 });
          });
      all.exchange<traveller<T, Dim>>(leaving, offsets, arrived);

      way.received_offsets = arrived.offsets;
      for (std::size_t r = me + 1; r < offsets.size(); ++r) way.received_offsets[r] += n_own;
      std::uint64_t const n_points = keys.size();
      by_rank<std::uint64_t> const counts = all.gather_all(std::span(&n_points, 1));
      first_number = {distribution.first_number};
      for (std::uint64_t const count : counts.values)
        first_number.push_back(first_number.back() + count);
    }
    /// of all ranks
    [[nodiscard]] std::uint64_t total() const { return first_number.back() - first_number[0]; }

    /// The keys of own points, ascending.
    key_span own_keys(ranks const& all, shape<Dim> const& of)
    {
      check_number(n_own + arrived.values.size());
      key_span const stay = key_span(keys).subspan(own_sent, n_own);
      if (arrived.values.empty()) return stay;
      merge(all, of, stay);
      return merged_keys;
    }

    /// Brings own points into the order of their keys.
    template <class Points>
    void settle(ranks const& all, Points& own)
    {
      auto const me = static_cast<std::size_t>(all.rank());
      if (arrived.values.empty())
        keep(me, own);
      else
        unite(me, own);
    }

    /// Own points are those that stay.
    template <class Points>
    void keep(std::size_t me, Points& parts)
    {
      renew(parts.way.received, n_own);
      renew(parts.numbers, n_own);
      each(n_own,
           [&](std::size_t p)
           {
             parts.way.received[p] = static_cast<index_type>(p);
             parts.numbers[p] = first_number[me] + parts.way.sent[own_sent + p];
           });
      for (int d = 0; d < Dim; ++d) parts.positions[d] = sorted[d].data() + own_sent;
    }

    /// Sorts the keys of own points. They come by rank, and from a rank by key; those with equal keys by number, and the
    /// merge keeps that order.
    void merge(ranks const& all, shape<Dim> const& of, key_span stay)
    {
      renew(arrived_keys, arrived.values.size());
      for_each_part(
          threads(), cut(threads(), arrived_keys.size()),
          [&, x = positions_of<T, Dim>(arrived.values)](int, std::size_t begin, std::size_t end)
          { write_keys(x, begin, end, of.axes(), of.layout, arrived_keys.data()); });
      std::vector<key_span> runs;
      for (int r = 0; r < all.size(); ++r)
        runs.push_back(r == all.rank() ? stay
                                       : key_span(arrived_keys)
                                             .subspan(arrived.offsets[static_cast<std::size_t>(r)],
                                                      arrived.of(r).size()));
      renew(merged_order, stay.size() + arrived_keys.size());
      merge_keys(threads(), runs, merged_keys, merged_order, scratch);
    }

    /// Own points are those that stay and those that arrived.
    template <class Points>
    void unite(std::size_t me, Points& parts)
    {
      auto& way = parts.way;
      std::size_t const n = merged_order.size(), own_begin = way.received_offsets[me];
      renew(way.received, n);
      renew(parts.numbers, n);
      for (int d = 0; d < Dim; ++d)
      {
        renew(merged[d], n);
        parts.positions[d] = merged[d].data();
      }
      each(n,
           [&](std::size_t p)
           {
             std::size_t const i = merged_order[p];
             way.received[i] = static_cast<index_type>(p);
             if (i >= own_begin && i - own_begin < n_own)
             {
               std::size_t const from = own_sent + i - own_begin;
               parts.numbers[p] = first_number[me] + way.sent[from];
               for (int d = 0; d < Dim; ++d) merged[d][p] = sorted[d][from];
             }
             else
             {
               auto const r = std::ranges::upper_bound(way.received_offsets, i) -
                              way.received_offsets.begin() - 1;
               traveller<T, Dim> const& come = arrived.values[i < own_begin ? i : i - n_own];
               parts.numbers[p] = first_number[static_cast<std::size_t>(r)] + come.index;
               for (int d = 0; d < Dim; ++d) merged[d][p] = come.x[d];
             }
           });
    }
  };

  /// What a tree keeps from one rebuild() to the next: its options, cuts as they were made, and memory.
  template <class T, int Dim>
  struct tree_memory
  {
    tree_memory(tree_options<Dim> const& of_tree, distribution_options const& of_ranks)
        : options(of_tree), distribution(of_ranks)
    {}

    tree_options<Dim> options;
    distribution_options distribution;
    std::vector<std::uint64_t> cuts; ///< before they moved to the leaves that they are in
    price cost;                      ///< of an interaction on this rank
    travelling_points<T, Dim> points{distribution};

    [[nodiscard]] executor& threads() { return points.threads(); }

    /// Sends the sorted points to the ranks between whose cuts they are, and makes leaves of those that arrive.
    template <class Parts>
    known_leaves<Dim> send(ranks const& all, shape<Dim> const& of, Parts& parts)
    {
      points.exchange(all, parts.cuts, parts.points.way);
      parts.total_points = points.total();
      leaf_set<Dim> own;
      all.attempt(
          [&]
          {
            own =
                leaves_of<Dim>(threads(), points.own_keys(all, of), of, range_of(all, parts.cuts));
            points.settle(all, parts.points);
          });
      return learn_layer<Dim>(all, threads(), own, parts.cuts, of.layout.level, of.period);
    }

    template <class Parts>
    static void adopt(ranks const& all, known_leaves<Dim>&& known, Parts& parts)
    {
      parts.first_leaf = known.first;
      parts.last_leaf = known.last;
      parts.cells = std::move(known.leaves.cells);
      parts.offsets = std::move(known.leaves.target_offsets);
      parts.layers = std::move(known.layers);
      parts.lists = std::move(known.lists.full);
      parts.interaction_count = known.lists.pairs;
      parts.total_leaves = all.sum_of(known.last - known.first);
    }
  };
}
