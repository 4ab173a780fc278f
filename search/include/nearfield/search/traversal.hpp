#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/isa.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_view.hpp>

#include <cstdint>

/// \file
/// The search under all outputs: it is compiled once for each instruction set, and hands over rows. An
/// output is a function that takes them.

namespace nearfield::detail
{
  /// What a row tells of each of its points.
  enum class row_content
  {
    indices,
    distances,    ///< r2 too
    displacements ///< x_i - x_j too
  };

  /// The points j within the cutoff of one point i, by position; valid during the call that gets it. From
  /// every pointer 16 values may be read beyond `count`, so that a row can be copied in whole registers.
  template <class T, int Dim>
  struct search_row
  {
    index_type position;
    index_type i;
    index_type count;
    index_type const* j;
    T const* r2;
    T const* d[Dim];
  };

  template <class T, int Dim>
  using row_function = void (*)(void* sink, search_row<T, Dim> const& row);

  /// What to search: the rows of the points of the boxes [first_box, last_box).
  template <class T, int Dim>
  struct search_job
  {
    cell_view<T, Dim> const* cells = nullptr;
    pairs which = pairs::half;
    index_type first_box = 0;
    index_type last_box = 0;
  };

  /// All boxes.
  template <class T, int Dim>
  search_job<T, Dim> whole(cell_view<T, Dim> const& cells, pairs which)
  {
    return {&cells, which, 0, cells.targets.size()};
  }

  /// How many pairs of points the boxes hold: at least as many as a search can find.
  template <class T, int Dim>
  NEARFIELD_API std::uint64_t count_candidates(search_job<T, Dim> const& job);

  /// The number of pairs; and of each point, at the caller's index, where `per_point` is not null.
  template <class T, int Dim>
  NEARFIELD_API std::uint64_t count_rows(isa which, search_job<T, Dim> const& job,
                                         index_type* per_point);

  /// Calls row(sink, ...) for every target, those without neighbours too, by position. What `row` throws
  /// passes through.
  template <class T, int Dim>
  NEARFIELD_API void search_rows(isa which, search_job<T, Dim> const& job, row_content content,
                                 row_function<T, Dim> row, void* sink);

#define NEARFIELD_DECLARE_SEARCH(T, Dim)                                                           \
  extern template std::uint64_t count_candidates(search_job<T, Dim> const&);                       \
  extern template std::uint64_t count_rows(isa, search_job<T, Dim> const&, index_type*);           \
  extern template void search_rows(isa, search_job<T, Dim> const&, row_content,                    \
                                   row_function<T, Dim>, void*);
  NEARFIELD_DECLARE_SEARCH(float, 2)
  NEARFIELD_DECLARE_SEARCH(float, 3)
  NEARFIELD_DECLARE_SEARCH(double, 2)
  NEARFIELD_DECLARE_SEARCH(double, 3)
#undef NEARFIELD_DECLARE_SEARCH
}
