#pragma once

#include "cell_interactions.hpp"
#include "cell_sort.hpp"
#include "interaction_lists.hpp"
#include "reduce.hpp"
#include "sort.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/parallel.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// \file
/// How a cell list is built: what may refuse the input, then one system after another, on threads in parts.

namespace nearfield::detail
{
  /// Of targets and sources.
  template <class V>
  using two_sets = std::array<V, 2>;

  /// The systems of a cell list, kept for the next rebuild.
  template <int Dim>
  struct kept_systems
  {
    bool is_batch = false; ///< or one system, of all points
    two_sets<std::vector<index_type>> offsets, order;
    std::vector<double> cutoffs;  ///< one, or one a system
    std::vector<cell<Dim>> cells; ///< the same

    [[nodiscard]] std::size_t size() const { return offsets[0].size() - 1; }
    [[nodiscard]] double cutoff(std::size_t s) const { return cutoffs[cutoffs.size() > 1 ? s : 0]; }
  };

  /// One system of all points.
  template <int Dim>
  kept_systems<Dim> one_system(double cutoff, cell<Dim> const& box);
  /// Throws nearfield::error for sizes that do not match, with one set or two.
  template <int Dim>
  kept_systems<Dim> kept(executor& on, systems<Dim> const& given, bool one_set);

  /// What decides about pairs.
  template <class T, int Dim>
  struct system_tables
  {
    std::vector<cell_system<T, Dim>> systems;
    std::vector<std::array<std::vector<axis_piece>, Dim>> pieces; ///< of the grids
    std::vector<std::array<double, 3>> shifts;                    ///< of all systems
    std::vector<image_counters<Dim>> images;                      ///< the same
    two_sets<page_vector<image_counters<Dim>>> counters; ///< by index; empty if all were inside
  };

  /// The boxes and lists of consecutive systems, and the memory to make them.
  struct cell_part
  {
    two_sets<page_vector<index_type>> offsets;
    list_pair lists;

    sort_scratch sorting;
    two_sets<occupied_cells> cells;
    page_vector<std::uint64_t> keys; ///< two sets: of the cells that hold points of either
    two_sets<page_vector<index_type>> united;
    cell_rows rows;
    std::vector<list_pair> list_pieces; ///< on threads
  };

  template <class T, int Dim>
  struct cell_list_data
  {
    kept_systems<Dim> given;
    bool one_set = true;
    system_tables<T, Dim> tables;
    two_sets<points_by_cell<T, Dim>> sorted;
    /// by position, what brought points into the box; empty if all were inside
    two_sets<std::vector<std::array<double, 3>>> moves;
    two_sets<page_vector<index_type>> offsets; ///< of boxes
    list_pair lists;
    /// one set where boxes meet images of themselves: of opposite ones, only one
    interaction_table half_of_boxes;
    std::vector<leaf_system> leaf_systems; ///< of a batch
    /// With a skin: columns of the sorted points as they were built, and whether they have moved since.
    two_sets<page_vector<T>> built_x;
    bool is_updated = false;

    // memory for the next build
    system_tables<T, Dim> spare;
    two_sets<page_vector<T>> moved, gathered;
    two_sets<std::vector<points_along<Dim>>> bounds;
    std::vector<cell_part> parts;
  };

  /// Builds the list of these points, and takes the systems over; a batch may be data.given. What is thrown for bad input
  /// leaves the list unchanged; where memory runs out later, it is empty.
  template <class T, int Dim>
  void build_cells(executor& on, kept_systems<Dim>& given, strided<T const, Dim> const& targets,
                   strided<T const, Dim> const* sources, cell_list_options<T, Dim> const& options,
                   cell_list_data<T, Dim>& data);
}
