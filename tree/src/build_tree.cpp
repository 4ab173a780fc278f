#include <nearfield/tree/build_tree.hpp>

#include "adjacency.hpp"
#include "instantiate.hpp"
#include "interaction_lists.hpp"
#include "keys.hpp"
#include "leaves.hpp"
#include "root.hpp"
#include "sort.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace nearfield::detail
{
  namespace
  {
    template <int Dim>
    key_layout layout_of(tree_options<Dim> const& options)
    {
      if (options.level && (*options.level < 0 || *options.level > max_level<Dim>))
        throw error("build_tree: level is " + std::to_string(*options.level) + "; give 0 to " +
                    std::to_string(max_level<Dim>) + " in " + std::to_string(Dim) + "D");
      if (!options.level && options.max_leaf_size < 1)
        throw error("build_tree: max_leaf_size is " + std::to_string(options.max_leaf_size) +
                    "; give at least 1");
      if (!options.level && options.order == leaf_order::row_major)
        throw error("build_tree: order is row_major, but leaves of different sizes have no rows; "
                    "give a level, or leaf_order::morton");
      if (options.level) return {options.order.value_or(leaf_order::row_major), *options.level};
      return {leaf_order::morton, max_level<Dim>};
    }

    template <class T, int Dim>
    std::vector<keyed_point> sorted_keys(named_positions<T, Dim> const& points,
                                         cube<Dim> const& root, key_layout const& layout)
    {
      std::vector<keyed_point> keys = keys_of(points, root, layout);
      sort_by_key(keys, Dim * layout.level);
      return keys;
    }

    std::vector<index_type> order_of(sorted_points points)
    {
      std::vector<index_type> order(points.size());
      std::ranges::transform(points, order.begin(), &keyed_point::index);
      return order;
    }
  }

  template <class T, int Dim>
  tree<Dim> build_tree(strided<T const, Dim> const& target_positions,
                       strided<T const, Dim> const* source_positions,
                       tree_options<Dim> const& options)
  {
    key_layout const layout = layout_of(options);
    bool const one_set = source_positions == nullptr;
    named_positions<T, Dim> const targets{target_positions, one_set ? "points" : "targets"};
    named_positions<T, Dim> const sources{one_set ? strided<T const, Dim>() : *source_positions,
                                          "sources"};
    require_valid(targets);
    require_valid(sources);
    if (targets.positions.size() + sources.positions.size() >=
        std::numeric_limits<index_type>::max())
      throw error("build_tree: targets and sources have " +
                  std::to_string(targets.positions.size() + sources.positions.size()) +
                  " points in total; give fewer than 2^32 - 1");

    typename tree<Dim>::parts parts;
    parts.root = choose_root(options.root, targets, sources);
    parts.order = layout.order;
    parts.one_set = one_set;

    std::vector<keyed_point> const target_keys = sorted_keys(targets, parts.root, layout);
    std::vector<keyed_point> const source_keys = sorted_keys(sources, parts.root, layout);
    leaf_set<Dim> leaves =
        options.level ? uniform_leaves<Dim>(target_keys, source_keys, layout)
                      : adaptive_leaves<Dim>(target_keys, source_keys, layout.level,
                                             static_cast<index_type>(options.max_leaf_size));
    boxes const target_boxes{leaves.target_offsets};
    boxes const source_boxes{one_set ? leaves.target_offsets : leaves.source_offsets};
    parts.target_order = order_of(target_keys);
    if (!one_set) parts.source_order = order_of(source_keys);

    adjacency const adjacent = layout.order == leaf_order::row_major
                                   ? row_major_adjacency(leaves, layout.level)
                                   : morton_adjacency(leaves, layout.level);
    parts.full = full_list(adjacent, target_boxes, source_boxes);
    if (one_set) parts.half = half_list(parts.full, target_boxes);

    parts.depth = options.level.value_or(0);
    for (leaf_cell<Dim> const& cell : leaves.cells) parts.depth = std::max(parts.depth, cell.level);
    parts.cells = std::move(leaves.cells);
    parts.target_offsets = std::move(leaves.target_offsets);
    if (!one_set) parts.source_offsets = std::move(leaves.source_offsets);
    return tree<Dim>(std::move(parts));
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template tree<Dim> build_tree(strided<T const, Dim> const&, strided<T const, Dim> const*,        \
                                tree_options<Dim> const&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
