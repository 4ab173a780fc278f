#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

/// \file
/// The search behind all outputs. It is compiled once per instruction set and produces rows; an output is a
/// function that takes them.

namespace nearfield::detail
{
  /// What a row holds for each of its points.
  enum class row_content
  {
    indices,
    distances,    ///< and r2
    displacements ///< and r2 and x_i - x_j
  };

  /// Consecutive points of a row in the same image: a shift of their system.
  struct image_run
  {
    index_type end; ///< of the last one, in the row
    std::uint16_t shift;
  };

  /// The points j within the cutoff of one point i, by position; valid only during the call that receives it.
  /// Each array has 16 readable values after `count`, so that a row can be copied in whole registers.
  template <class T, int Dim>
  struct search_row
  {
    index_type position;
    index_type i;
    index_type count;
    index_type const* j;
    T const* r2;
    T const* d[Dim];
    image_run const* images; ///< until one ends at the last point; null unless asked for
    image_counters<Dim> const* of_shift; ///< cell_system::images; null if there are none
  };

  template <class T, int Dim>
  using row_function = void (*)(void* sink, search_row<T, Dim> const& row);

  /// What to search: the rows of the points in boxes [first_box, last_box) that are at positions [first, last).
  template <class T, int Dim>
  struct search_job
  {
    cell_view<T, Dim> const* cells = nullptr;
    pairs which = pairs::half;
    index_type first_box = 0;
    index_type last_box = 0;
    index_type first = 0;
    index_type last = ~index_type(0);
  };

  /// All boxes.
  template <class T, int Dim>
  search_job<T, Dim> whole(cell_view<T, Dim> const& cells, pairs which)
  {
    return {&cells, which, 0, cells.targets.size()};
  }

  /// The number of pairs of points in boxes that meet: at least as many as a search can find.
  template <class T, int Dim>
  NEARFIELD_API std::uint64_t count_candidates(search_job<T, Dim> const& job);

  /// Returns the number of pairs; also writes that of each point, by index, if `per_point` is not null.
  template <class T, int Dim>
  NEARFIELD_API std::uint64_t count_rows(isa where, search_job<T, Dim> const& job,
                                         index_type* per_point);

  /// Calls row(sink, ...) for every target, also for those without neighbours, by position; with images, if they are
  /// asked for. Exceptions from `row` pass through.
  template <class T, int Dim>
  NEARFIELD_API void search_rows(isa where, search_job<T, Dim> const& job, row_content content,
                                 row_function<T, Dim> row, void* sink, bool images = false);

  template <class T, int Dim>
  cutoff_limit<T> limit_of_view(cell_view<T, Dim> const& cells)
  {
    return limit_of<T>(cells.systems.size(),
                       [&](std::size_t s) -> auto const& { return cells.systems[s].grid; });
  }

  /// Throws nearfield::error for a half list of two sets, or of pairs that count one way only, and for a filter of other
  /// points.
  template <class T, int Dim>
  void check_pairs(cell_view<T, Dim> const& cells, pairs which)
  {
    if (which == pairs::half && !cells.one_set)
      throw error("radius_search: two sets have no half list; ask for pairs::full");
    if (cells.filter)
      cells.filter->check(which, cells.target_order.size(), cells.source_order.size(),
                          limit_of_view(cells).most);
  }

  inline isa isa_of(scalar_backend)
  {
    return isa::scalar;
  }
  inline isa isa_of(simd_backend where)
  {
    return where.which;
  }
  template <class Backend>
  isa isa_of(on_threads<Backend> const& where)
  {
    return isa_of(where.where);
  }
  /// For tasks on CPU workers.
  inline isa isa_of(backend where)
  {
    return where == backend::scalar ? isa::scalar : isa::best;
  }

  /// Consecutive boxes whose rows are searched as one piece of work.
  struct slab
  {
    index_type first_box = 0;
    index_type last_box = 0;
    std::uint64_t candidates = 0; ///< as count_candidates() counts them
  };

  /// The number of candidates of all boxes before each box and, last, of all boxes.
  template <class T, int Dim>
  NEARFIELD_API std::vector<std::uint64_t>
  candidates_before_boxes(executor& on, cell_view<T, Dim> const& cells, pairs which);

  /// All boxes in slabs of about `candidates` candidates, in order; boxes without any at the end join the
  /// last slab. Boxes are not cut: one with more candidates is a slab of its own.
  NEARFIELD_API std::vector<slab> cut_slabs(std::vector<std::uint64_t> const& candidates_before,
                                            std::uint64_t candidates);

  /// The search of one slab.
  template <class T, int Dim>
  search_job<T, Dim> job_of(cell_view<T, Dim> const& cells, pairs which, slab const& s)
  {
    return {&cells, which, s.first_box, s.last_box};
  }

  /// The search of the targets at positions [first, last), of which there is at least one.
  template <class T, int Dim>
  search_job<T, Dim> job_of_positions(cell_view<T, Dim> const& cells, pairs which, index_type first,
                                      index_type last)
  {
    auto const& begins = cells.targets.offsets;
    auto const box_after = [&](auto const place)
    {
      return static_cast<index_type>(place - begins.begin());
    };
    return {&cells,
            which,
            box_after(std::upper_bound(begins.begin(), begins.end(), first)) - 1,
            box_after(std::lower_bound(begins.begin(), begins.end(), last)),
            first,
            last};
  }
}
