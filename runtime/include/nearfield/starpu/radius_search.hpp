#pragma once

#include <nearfield/search/radius_search.hpp>
#include <nearfield/starpu/search/pairs.hpp>
#include <nearfield/starpu/search/reduce.hpp>
#include <nearfield/starpu/search/rows.hpp>

/// \file
/// The radius search as StarPU tasks.
///
///     nearfield::starpu::runtime starpu;
///     nearfield::cell_list const cells{nearfield::soa{x, y, z}, cutoff};
///     nearfield::coo const list =
///         nearfield::starpu::radius_search(starpu, cells, nearfield::to_coo{});
///
/// The cells are cut into slabs of about equal work. Results equal those of nearfield::radius_search, bit for
/// bit and in the same order, whatever the slabs and the workers. A call returns when its tasks have
/// ended, so a task must not make it; several threads may search one cell list at once. The first
/// exception of a task is rethrown; the result is then unspecified.
///
/// Tasks run on CPU workers only: results are in host memory, and copying a list from a GPU takes longer
/// than finding it there (a list of 437 MB: 0.6 ms). nearfield::radius_search(cuda, ...) searches a whole
/// cell list in the memory of a GPU. <nearfield/starpu/search/pair_slabs.hpp> has pairs that tasks on
/// GPUs and CPUs find and other tasks read.

namespace nearfield::starpu
{
  /// The number of pairs and, if asked for, of each point's pairs. Throws nearfield::error for a half list of
  /// two sets, as do all overloads.
  template <has_cell_view Cells>
  [[nodiscard]] pair_counts radius_search(runtime const& starpu, Cells const& cells,
                                          count_pairs const& what, slab_options const& options = {})
  {
    pair_counts result;
    radius_search(starpu, cells, what, result, options);
    return result;
  }

  /// A table with room for `what.width` neighbours of each point.
  template <has_cell_view Cells>
  [[nodiscard]] neighbour_table radius_search(runtime const& starpu, Cells const& cells,
                                              to_table const& what,
                                              slab_options const& options = {})
  {
    neighbour_table result;
    radius_search(starpu, cells, what, result, options);
    return result;
  }

  /// A CSR list with one row per point.
  template <has_cell_view Cells>
  [[nodiscard]] auto radius_search(runtime const& starpu, Cells const& cells, to_csr const& what,
                                   slab_options const& options = {})
  {
    auto result = nearfield::detail::list_for<csr>(cells.view());
    radius_search(starpu, cells, what, result, options);
    return result;
  }

  /// A COO list of pairs.
  template <has_cell_view Cells>
  [[nodiscard]] auto radius_search(runtime const& starpu, Cells const& cells, to_coo const& what,
                                   slab_options const& options = {})
  {
    auto result = nearfield::detail::list_for<coo>(cells.view());
    radius_search(starpu, cells, what, result, options);
    return result;
  }
}
