#include <nearfield/tree/build_tree.hpp>

#include "cell_interactions.hpp"
#include "cell_places.hpp"
#include "gaps.hpp"
#include "images.hpp"
#include "instantiate.hpp"
#include "interaction_lists.hpp"
#include "keys.hpp"
#include "leaf_size.hpp"
#include "leaves.hpp"
#include "reduce.hpp"
#include "root.hpp"
#include "sort.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    /// Whether the points of a leaf that holds many of them are not all at one place.
    template <class T, int Dim>
    bool has_crowd(strided<T const, Dim> const& points, std::span<index_type const> order,
                   boxes const& leaves, std::uint64_t most)
    {
      for (index_type b = 0; b < leaves.size(); ++b)
        if (leaves.count(b) > most)
          for (index_type p = leaves.begin(b); p < leaves.end(b); ++p)
            for (int d = 0; d < Dim; ++d)
              if (points[d][order[p]] != points[d][order[leaves.begin(b)]]) return true;
      return false;
    }

    /// Whether leaves of the last level are crowded, and there are gaps to be cut.
    template <class T, int Dim>
    bool cut_gaps_of(executor& on, strided<T const, Dim> const& targets,
                     strided<T const, Dim> const* sources, leaf_set<Dim> const& leaves, int size,
                     int levels, typename tree<Dim>::parts& parts)
    {
      std::uint64_t const most = crowd_of_leaf(size);
      if (!has_crowd(targets, parts.target_order, {leaves.target_offsets}, most) &&
          !(sources && has_crowd(*sources, parts.source_order, {leaves.source_offsets}, most)))
        return false;
      std::array<std::optional<sorted_axis>, Dim> axes;
      std::array<axis_spacing, Dim> spacing;
      sort_scratch scratch;
      for (int d = 0; d < Dim; ++d)
      {
        if (parts.period[d] > 0) continue;
        axes[d].emplace(on, targets[d], targets.size(),
                        sources ? (*sources)[d] : strided_column<T const>{},
                        sources ? sources->size() : 0, scratch);
        spacing[d] =
            axes[d]->spacing(crowd_of_tree(parts.target_order.size() + parts.source_order.size()));
      }
      return cut_gaps<Dim>(
          spacing, parts.period, levels,
          [&](int d, double length) { return axes[d]->gaps(length); }, parts.root, parts.pieces);
    }

    /// Orders the points of each set by leaf, and finds the leaves. If the options leave their size open, it is chosen.
    template <class T, int Dim>
    leaf_set<Dim> make_leaves(executor& on, strided<T const, Dim> const& targets,
                              strided<T const, Dim> const* sources,
                              tree_options<Dim> const& options, key_layout const& layout,
                              typename tree<Dim>::parts& parts, leaf_costs::choice* choice)
    {
      auto axes = key_axes(parts.root, parts.period, parts.pieces);
      parts.target_order.resize(targets.size());
      if (sources) parts.source_order.resize(sources->size());
      auto const write = [&](strided<T const, Dim> const& points, auto* keys)
      {
        for_each_part(on, cut(on, points.size()), [&](int, std::size_t begin, std::size_t end)
                      { write_keys(points, begin, end, axes, layout, keys); });
      };
      sort_scratch scratch;
      if (options.level)
      {
        std::uint64_t const n_cells = std::uint64_t(1) << (Dim * layout.level);
        occupied_cells of_targets, of_sources;
        auto const sort = [&](strided<T const, Dim> const& points, std::span<index_type> order,
                              occupied_cells& cells)
        {
          order_by_cell(on, n_cells, order, cells, scratch,
                        [&](auto* keys) { write(points, keys); });
        };
        sort(targets, parts.target_order, of_targets);
        if (sources) sort(*sources, parts.source_order, of_sources);
        return uniform_leaves<Dim>(on, std::move(of_targets), sources ? &of_sources : nullptr,
                                   layout);
      }
      page_vector<std::uint64_t> target_keys, source_keys;
      auto const sort = [&](strided<T const, Dim> const& points, std::span<index_type> order,
                            page_vector<std::uint64_t>& keys)
      {
        keys.resize(points.size());
        write(points, keys.data());
        sort_keys(on, keys, order, scratch);
      };
      for (bool again = !options.root;; again = false)
      {
        sort(targets, parts.target_order, target_keys);
        if (sources) sort(*sources, parts.source_order, source_keys);
        int size = options.max_leaf_size;
        if (size == automatic)
        {
          auto chosen =
              choose_leaf_size<Dim>(on, options.costs ? *options.costs : leaf_costs(), target_keys,
                                    source_keys, sources == nullptr, layout.level, options.period);
          size = chosen.max_leaf_size;
          if (choice) *choice = std::move(chosen);
        }
        auto leaves = adaptive_leaves<Dim>(on, target_keys, source_keys, layout.level,
                                           static_cast<index_type>(size));
        if (!again || !cut_gaps_of(on, targets, sources, leaves, size, layout.level, parts))
          return leaves;
        axes = key_axes(parts.root, parts.period, parts.pieces);
      }
    }

    template <int Dim>
    void make_lists(executor& on, leaf_set<Dim> const& leaves, key_layout const& layout,
                    typename tree<Dim>::parts& parts)
    {
      boxes const targets{leaves.target_offsets};
      boxes const sources{parts.one_set ? leaves.target_offsets : leaves.source_offsets};
      bool const in_rows = layout.in_rows();
      // Then leaves are the cells of a grid.
      cell_grid<double, Dim> grid;
      grid.cells.fill(std::uint32_t(1) << layout.level);
      grid.reach.fill(1);
      for (int d = 0; d < Dim; ++d) grid.wraps[d] = parts.period[d] > 0;
      cell_rows rows;
      if (in_rows) find_rows(on, grid, std::span(leaves.keys), rows);

      list_pair lists;
      list_in_parts(
          on,
          // as many ranges as uniform and clustered clouds have
          {targets, sources, parts.one_set, "build_tree", "a larger max_leaf_size or a lower level",
           Dim == 3 ? 14u : 6u},
          [&](index_type first, index_type last, list_writer& to)
          {
            if (in_rows)
              list_cells(grid, image_numbers<Dim>::of_trees(), rows, first, last, to);
            else
              list_leaves(leaves, layout.level, parts.period, first, last, to);
          },
          lists);
      parts.full = std::move(lists.full);
      parts.half = std::move(lists.half);
      parts.interaction_count = lists.pairs;
    }
  }

  namespace
  {
    /// All of a tree but its lists. The choice of the leaf size, if there is one, goes to *choice.
    template <class T, int Dim>
    leaf_set<Dim> cut_points(executor& on, strided<T const, Dim> const& target_positions,
                             strided<T const, Dim> const* source_positions,
                             tree_options<Dim> const& options, key_layout const& layout,
                             typename tree<Dim>::parts& parts, leaf_costs::choice* choice = nullptr)
    {
      bool const one_set = source_positions == nullptr;
      named_positions<T, Dim> const targets{target_positions, one_set ? "points" : "targets"};
      named_positions<T, Dim> const sources{one_set ? strided<T const, Dim>() : *source_positions,
                                            "sources"};
      point_bounds<T, Dim> const target_bounds = valid_bounds(on, targets, options.period);
      point_bounds<T, Dim> const source_bounds = valid_bounds(on, sources, options.period);
      if (targets.positions.size() + sources.positions.size() >=
          std::numeric_limits<index_type>::max())
        throw error("build_tree: targets and sources have " +
                    std::to_string(targets.positions.size() + sources.positions.size()) +
                    " points in total; give fewer than 2^32 - 1");

      parts.period = options.period;
      parts.shifts = shifts_of(options.period);
      parts.root = choose_root(options, targets, target_bounds, sources, source_bounds);
      parts.order = layout.order;
      parts.one_set = one_set;
      return make_leaves<T>(on, target_positions, source_positions, options, layout, parts, choice);
    }
  }

  namespace
  {
    template <class T, int Dim>
    typename tree<Dim>::parts build_parts(executor& on, strided<T const, Dim> const& targets,
                                          strided<T const, Dim> const* sources,
                                          tree_options<Dim> const& options)
    {
      key_layout const layout = layout_of<T>(options);
      typename tree<Dim>::parts parts;
      leaf_set<Dim> leaves = cut_points<T>(on, targets, sources, options, layout, parts);
      make_lists(on, leaves, layout, parts);
      parts.depth = options.level.value_or(0);
      if (!options.level)
        for (std::uint8_t const level : leaves.levels)
          parts.depth = std::max(parts.depth, int(level));
      parts.cells = std::move(leaves.cells);
      parts.target_offsets = std::move(leaves.target_offsets);
      if (!parts.one_set) parts.source_offsets = std::move(leaves.source_offsets);
      return parts;
    }

    /// The sets of a tree in a box of any shape, and the options of a tree of their places.
    template <class T, int Dim>
    struct sets_in_cell
    {
      cell_frame<Dim> frame;
      points_in_cell<T, Dim> targets;
      std::optional<points_in_cell<T, Dim>> sources;
      tree_options<Dim> options;

      sets_in_cell(executor& on, strided<T const, Dim> const& target_positions,
                   strided<T const, Dim> const* source_positions, tree_options<Dim> const& given)
          : frame(given.cell), options(given)
      {
        targets.load(on, frame, {target_positions, source_positions ? "targets" : "points"});
        if (any_period(given.period))
          throw error("build_tree: both .cell and .period are given; give one of them");
        if (source_positions) sources.emplace().load(on, frame, {*source_positions, "sources"});
        options.cell = {};
        options.period = frame.thickness;
      }

      /// f(places of targets, those of sources or null)
      template <class F>
      decltype(auto) with_places(F const& f) const
      {
        auto const of_targets = targets.places();
        if (!sources) return f(of_targets, nullptr);
        auto const of_sources = sources->places();
        return f(of_targets, &of_sources);
      }
    };
  }

  template <class T, int Dim>
  tree<Dim> build_tree(executor* given, strided<T const, Dim> const& targets,
                       strided<T const, Dim> const* sources, tree_options<Dim> const& options)
  {
    executor& on = threads_or_here(given);
    if (!options.cell.is_periodic()) return tree<Dim>(build_parts(on, targets, sources, options));
    sets_in_cell<T, Dim> const sets(on, targets, sources, options);
    using places = strided<double const, Dim>;
    auto parts =
        sets.with_places([&](places const& targets_at, places const* sources_at)
                         { return build_parts(on, targets_at, sources_at, sets.options); });
    parts.shifts = shifts_of(sets.frame);
    auto const make_moves = [&](reduced_points<T, Dim> const& of, auto const& order, auto& moves)
    {
      if (of.images.empty()) return;
      moves.resize(order.size());
      write_moves<Dim>(on, sets.frame, of.images, order, moves.data());
    };
    make_moves(sets.targets.inside, parts.target_order, parts.target_moves);
    if (sets.sources) make_moves(sets.sources->inside, parts.source_order, parts.source_moves);
    return tree<Dim>(std::move(parts));
  }

  template <class T, int Dim>
  leaf_costs::choice choose_leaf_size(executor* given, strided<T const, Dim> const& targets,
                                      strided<T const, Dim> const* sources,
                                      tree_options<Dim> const& asked)
  {
    executor& on = threads_or_here(given);
    tree_options<Dim> options = asked;
    options.level.reset();
    options.order.reset();
    options.max_leaf_size = automatic;
    if (options.cell.is_periodic())
    {
      sets_in_cell<T, Dim> const sets(on, targets, sources, options);
      using places = strided<double const, Dim>;
      return sets.with_places(
          [&](places const& targets_at, places const* sources_at)
          { return choose_leaf_size<double, Dim>(given, targets_at, sources_at, sets.options); });
    }
    typename tree<Dim>::parts parts;
    leaf_costs::choice choice;
    cut_points<T>(on, targets, sources, options, layout_of<T>(options), parts, &choice);
    return choice;
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template tree<Dim> build_tree(executor*, strided<T const, Dim> const&,                           \
                                strided<T const, Dim> const*, tree_options<Dim> const&);           \
  template leaf_costs::choice choose_leaf_size(executor*, strided<T const, Dim> const&,            \
                                               strided<T const, Dim> const*,                       \
                                               tree_options<Dim> const&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
