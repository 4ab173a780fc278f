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
/// The cells are cut into slabs of about equal work. Results are those of nearfield::radius_search,
/// in the same order to the bit, whatever the slabs and the workers. A call returns when its tasks
/// have ended, so it must not come from a task; several threads may search one cell list at once.
/// The first exception of a task is thrown; the result is unspecified then.
///
/// Tasks run on CPU workers, those of GPUs have no part in it: results are in host memory, and a list
/// takes longer over the bus of a GPU than to be found on it (437 MB, 0.6 ms). A GPU searches
/// a list of cells in its own memory as a whole, by nearfield::radius_search(cuda, ...); pairs that
/// tasks on GPUs and CPUs find, and others read, are in <nearfield/starpu/search/pair_slabs.hpp>.

namespace nearfield::starpu
{
  /// How many pairs there are, and how many each point has. Throws error for a half list of two sets,
  /// as all of these do.
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

  /// A list with one row for every point.
  template <has_cell_view Cells>
  [[nodiscard]] auto radius_search(runtime const& starpu, Cells const& cells, to_csr const& what,
                                   slab_options const& options = {})
  {
    auto result = nearfield::detail::list_for<csr>(cells.view());
    radius_search(starpu, cells, what, result, options);
    return result;
  }

  /// A list of pairs.
  template <has_cell_view Cells>
  [[nodiscard]] auto radius_search(runtime const& starpu, Cells const& cells, to_coo const& what,
                                   slab_options const& options = {})
  {
    auto result = nearfield::detail::list_for<coo>(cells.view());
    radius_search(starpu, cells, what, result, options);
    return result;
  }
}
