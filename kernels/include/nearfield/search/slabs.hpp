#pragma once

#include <nearfield/search/traversal.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nearfield::detail
{
  /// Boxes one after the other, whose rows are searched as one piece of work.
  struct slab
  {
    index_type first_box = 0;
    index_type last_box = 0;
    std::uint64_t candidates = 0; ///< as count_candidates has them
  };

  /// All boxes in slabs of about so many candidates, in order. A box is not cut: one with more of
  /// them is a slab of its own.
  template <class T, int Dim>
  std::vector<slab> cut_slabs(cell_view<T, Dim> const& cells, pairs which, std::uint64_t candidates)
  {
    std::vector<slab> slabs;
    slab next;
    for (index_type box = 0; box < cells.targets.size(); ++box)
    {
      next.candidates += count_candidates(search_job<T, Dim>{&cells, which, box, box + 1});
      next.last_box = box + 1;
      if (next.candidates < candidates && next.last_box < cells.targets.size()) continue;
      slabs.push_back(next);
      next = {next.last_box, next.last_box, 0};
    }
    return slabs;
  }

  /// The search of one slab.
  template <class T, int Dim>
  search_job<T, Dim> job_of(cell_view<T, Dim> const& cells, pairs which, slab const& s)
  {
    return {&cells, which, s.first_box, s.last_box};
  }
}
