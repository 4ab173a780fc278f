#pragma once

#include <nearfield/starpu/search/pieces.hpp>
#include <nearfield/starpu/search/sorted_pairs.hpp>

#include <numeric>

namespace nearfield::starpu
{
  /// A COO list of pairs, found in one pass of tasks into address space reserved for all candidate pairs.
  /// If that would exceed max_bytes, or the system refuses the address space, slabs are counted first and
  /// filled into a list of the right size. Throws nearfield::error if the list itself exceeds max_bytes.
  ///
  /// Besides the list, each worker needs some hundred kilobytes for the slab it searches.
  template <has_cell_view Cells, class T, int Dim>
  void radius_search(runtime const& starpu, Cells const& cells, to_coo const& what,
                     coo<T, Dim>& result, slab_options const& options = {})
  {
    namespace serial = nearfield::detail;
    cell_view<T, Dim> const view = cells.view();
    serial::check_pairs(view, what.which);
    detail::slab_search const search(starpu, view, what.which, options, detail::cached_candidates);
    std::uint64_t const per_pair = 2 * sizeof(index_type) + serial::geometry_bytes<T, Dim>(what);
    bool one_pass = search.candidates() <= what.max_bytes / per_pair;
    std::vector<std::uint64_t> counts;
    std::uint64_t size = 0;
    auto const count = [&]
    {
      counts = search.count(nullptr);
      size = std::accumulate(counts.begin(), counts.end(), std::uint64_t(0));
      serial::check_bytes(size, size * per_pair, what.max_bytes);
    };
    if (!one_pass) count();
    if (what.sorted) return detail::search_sorted(starpu, cells, what, result, options);
    if (one_pass && !serial::reserve(result, what, search.candidates()))
    {
      one_pass = false;
      count();
      result = {}; // some columns may hold much of what the system has
    }
    // full size in one pass, so that the writers see which columns are present
    serial::resize(result, what, one_pass ? search.candidates() : size);
    if (one_pass)
      serial::resize(result, what, detail::fill_by_pieces(search, what, result));
    else
      detail::fill_counted(search, what, counts, result);
  }
}
