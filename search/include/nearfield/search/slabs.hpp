#pragma once

#include <nearfield/search/traversal.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nearfield::detail
{
  /// Consecutive boxes whose rows are searched as one piece of work.
  struct slab
  {
    index_type first_box = 0;
    index_type last_box = 0;
    std::uint64_t candidates = 0; ///< as count_candidates() counts them
  };

  /// The number of candidates of all boxes before each box and, last, of all boxes.
  template <class T, int Dim>
  std::vector<std::uint64_t> candidates_before_boxes(cell_view<T, Dim> const& cells, pairs which)
  {
    std::vector<std::uint64_t> before{0};
    before.reserve(cells.targets.size() + std::size_t(1));
    for (index_type box = 0; box < cells.targets.size(); ++box)
      before.push_back(before.back() +
                       count_candidates(search_job<T, Dim>{&cells, which, box, box + 1}));
    return before;
  }

  /// All boxes in slabs of about `candidates` candidates, in order; boxes without any at the end join the
  /// last slab. Boxes are not cut: one with more candidates is a slab of its own.
  inline std::vector<slab> cut_slabs(std::vector<std::uint64_t> const& candidates_before,
                                     std::uint64_t candidates)
  {
    std::vector<slab> slabs;
    auto const n_boxes = static_cast<index_type>(candidates_before.size() - 1);
    for (index_type first = 0; first < n_boxes;)
    {
      std::uint64_t const before = candidates_before[first];
      bool const is_last = candidates_before[n_boxes] - before <= candidates;
      auto const last = is_last
                            ? n_boxes
                            : static_cast<index_type>(
                                  std::lower_bound(candidates_before.begin() + first + 1,
                                                   candidates_before.end(), before + candidates) -
                                  candidates_before.begin());
      slabs.push_back({first, last, candidates_before[last] - before});
      first = last;
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
