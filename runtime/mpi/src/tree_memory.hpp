#pragma once

#include "travelling_points.hpp"

#include "cuts.hpp"
#include "layer.hpp"
#include "ranks.hpp"

#include "tree/src/cell_places.hpp"
#include "tree/src/images.hpp"
#include "tree/src/leaves.hpp"
#include "tree/src/sort.hpp"

#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

/// \file
/// What a tree keeps for when its points move.

namespace nearfield::starpu_mpi::detail
{
  /// The leaves of a rank, whose keys these are; of one set of points, with the offsets of sources too.
  template <int Dim>
  leaf_set<Dim> leaves_of(executor& on, key_sets const& sets, shape<Dim> const& of,
                          curve_range const& owned)
  {
    leaf_set<Dim> leaves;
    key_span const targets = sets.front(), sources = of.has_one_set ? key_span() : sets.back();
    if (of.max_leaf_size > 0)
      leaves = adaptive_leaves<Dim>(on, targets, sources, of.layout.level, of.max_leaf_size, owned);
    else
    {
      occupied_cells const of_sources = cells_of(on, sources);
      leaves = uniform_leaves<Dim>(on, cells_of(on, targets),
                                   of.has_one_set ? nullptr : &of_sources, of.layout);
    }
    if (of.has_one_set) leaves.source_offsets = leaves.target_offsets;
    return leaves;
  }

  inline curve_range range_of(ranks const& all, std::span<std::uint64_t const> cuts)
  {
    auto const r = static_cast<std::size_t>(all.rank());
    return {cuts[r], cuts[r + 1]};
  }

  /// What a tree keeps from one rebuild() to the next: its options, cuts as they were made, and memory.
  template <class T, int Dim>
  struct tree_memory
  {
    tree_memory(tree_options<Dim> const& of_tree, distribution_options const& of_ranks,
                executor* threads, std::size_t n_sets)
        : options(of_tree), distribution(of_ranks)
    {
      for (std::size_t s = 0; s < n_sets; ++s) sets.emplace_back(distribution, threads);
    }

    tree_options<Dim> options;
    distribution_options distribution;
    std::vector<std::uint64_t> cuts; ///< before they moved to the leaves that they are in
    price cost;                      ///< of an interaction on this rank
    std::deque<travelling_points<T, Dim>> sets; ///< one, or targets and sources
    std::optional<cell_frame<Dim>> frame;       ///< of options.cell
    std::deque<points_in_cell<T, Dim>> in_cell; ///< sets in that box, whose places make the keys
    std::optional<gpu_of_leaves<Dim>> leaves_on_gpu;
    /// where a GPU has the lists: what the host makes them of, when somebody asks
    page_vector<std::uint64_t> leaf_keys;
    page_vector<std::uint8_t> leaf_levels;

    [[nodiscard]] executor& threads() { return sets[0].threads(); }

    /// Brings the caller's points into the box of options.cell, and says where they are there.
    std::vector<strided<double const, Dim>>
    load_in_cell(std::vector<named_positions<T, Dim>> const& given)
    {
      frame.emplace(options.cell);
      in_cell.resize(given.size());
      std::vector<strided<double const, Dim>> places;
      for (std::size_t s = 0; s < given.size(); ++s)
      {
        in_cell[s].load(threads(), *frame, given[s]);
        places.push_back(in_cell[s].places());
      }
      return places;
    }
    [[nodiscard]] std::vector<strided<double const, Dim>> places_in_cell() const
    {
      std::vector<strided<double const, Dim>> places;
      for (auto const& points : in_cell) places.push_back(points.places());
      return places;
    }

    /// Those of the images of trees.
    [[nodiscard]] std::vector<std::array<double, 3>> shifts(shape<Dim> const& of) const
    {
      return frame ? shifts_of(*frame) : shifts_of(of.period);
    }

    /// Sorts the caller's points along the curve. Collective.
    template <class Parts>
    void sort(ranks const& all, shape<Dim> const& of, Parts& parts)
    {
      auto const keys_in_cell = [this, of](strided<T const, Dim> const& points, std::size_t begin,
                                           std::size_t end, std::uint64_t* to)
      {
        write_keys_in_cell<T, Dim>(*frame, points, begin, end,
                                   key_axes(of.root, of.period, of.pieces), of.layout, to);
      };
      all.attempt(
          [&]
          {
            for (std::size_t s = 0; s < sets.size(); ++s)
              if (frame)
                sets[s].sort(in_cell[s].inside.x, keys_in_cell, parts.sets[s].way);
              else
                sets[s].sort(of, parts.sets[s].way);
          });
    }
    /// of the caller's points; collective
    [[nodiscard]] key_sets keys(ranks const& all)
    {
      key_sets keys;
      all.attempt(
          [&]
          {
            for (auto& points : sets) keys.push_back(points.all_keys());
          });
      return keys;
    }
    [[nodiscard]] std::vector<key_places> places()
    {
      std::vector<key_places> places;
      for (auto& points : sets)
        places.push_back([&points](key_span keys) { return points.places_of(keys); });
      return places;
    }

    /// Sends the sorted points to the ranks between whose cuts they are, and makes leaves of those that arrive.
    template <class Parts>
    known_leaves<Dim> send(ranks const& all, shape<Dim> const& of, Parts& parts)
    {
      for (std::size_t s = 0; s < sets.size(); ++s) sets[s].exchange(all, parts.cuts);
      leaf_set<Dim> own;
      all.attempt(
          [&]
          {
            for (std::size_t s = 0; s < sets.size(); ++s)
            {
              sets[s].settle(parts.sets[s].numbers);
              parts.sets[s].total = sets[s].total();
            }
            own = leaves(of, range_of(all, parts.cuts), parts.sets.front().numbers.size());
          });
      return learn_layer<Dim>(all, threads(), std::move(own), of.has_one_set, of.layout.level,
                              of.period, leaves_on_gpu ? &*leaves_on_gpu : nullptr);
    }

    /// of own points; none if leaves_on_gpu has them
    leaf_set<Dim> leaves(shape<Dim> const& of, curve_range const& owned, std::size_t n_points)
    {
      auto& points = sets.front();
      leaves_on_gpu.reset();
      auto const on_gpu = [&]
      {
        auto& gpu = *points.gpu;
        index_type const n = gpu.make_leaves(of.max_leaf_size, owned);
        leaves_on_gpu = {n,
                         static_cast<index_type>(n_points),
                         gpu.extent(),
                         [&gpu](leaf_set<Dim>& to) { gpu.read_leaves(to); },
                         [&gpu](std::span<curve_range const> ranges, std::size_t rank)
                         { return gpu.find_border(ranges, rank); },
                         [&gpu](part_leaves<Dim> const& known)
                         {
                           return gpu.meet(known);
                         }};
      };
      if (of.has_one_set && points.on_gpu(on_gpu)) return {};
      key_sets keys;
      for (auto& each : sets) keys.push_back(each.own_keys());
      return leaves_of<Dim>(threads(), keys, of, owned);
    }

    /// Leaves the GPUs to others when it ends: what the tree needs stays.
    struct gpu_user
    {
      tree_memory& of;
      ~gpu_user()
      {
        for (auto& points : of.sets) points.leave_gpu();
      }
    };

    template <class Parts>
    void adopt(ranks const& all, known_leaves<Dim>&& known, Parts& parts)
    {
      parts.has_lists_on_gpu = known.met.has_value();
      if (known.met)
      {
        leaf_keys = std::move(known.leaves.keys);
        leaf_levels = std::move(known.leaves.levels);
      }
      parts.first_leaf = known.first;
      parts.last_leaf = known.last;
      parts.cells = std::move(known.leaves.cells);
      parts.sets.back().offsets = std::move(known.leaves.source_offsets);
      parts.sets.front().offsets = std::move(known.leaves.target_offsets); // of one set the same
      parts.layers = std::move(known.layers);
      parts.lists = std::move(known.lists.full);
      parts.interaction_count = known.pairs();
      parts.total_leaves = all.sum(std::uint64_t(known.last - known.first));
    }

    /// The lists, of a tree that has none on the host.
    template <class Parts>
    nearfield::detail::interaction_table lists(Parts const& parts)
    {
      known_leaves<Dim> known;
      known.leaves = {parts.cells, leaf_levels, leaf_keys, parts.sets.front().offsets,
                      parts.sets.back().offsets};
      known.first = parts.first_leaf;
      known.last = parts.last_leaf;
      return std::move(lists_of(threads(), known, sets.front().layout.level, parts.period).full);
    }
  };
}
