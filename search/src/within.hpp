#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// What within() needs on CPUs and on a GPU.

namespace nearfield::detail
{
  /// The pairs of a run of a COO list, which is treated as rows of a CSR are.
  inline constexpr std::uint64_t run_of_pairs = 1024;

  /// Calls f with each column of a list beside that of another, but for the offsets.
  template <class From, class To, class F>
  void for_columns_of_pairs(From const& from, To& to, F const& f)
  {
    if constexpr (requires { from.columns; })
      f(from.columns, to.columns);
    else
    {
      f(from.i, to.i);
      f(from.j, to.j);
    }
    f(from.r2, to.r2);
    for (std::size_t a = 0; a < from.images.size(); ++a)
    {
      f(from.displacements[a], to.displacements[a]);
      f(from.images[a], to.images[a]);
    }
    f(from.packed_images, to.packed_images);
  }

  /// The number of pairs.
  template <class List>
  std::uint64_t pairs_of(List const& list)
  {
    if constexpr (requires { list.columns; })
      return list.columns.size();
    else
      return list.size();
  }
  /// The number of rows, or runs.
  template <class List>
  std::size_t rows_of(List const& list)
  {
    if constexpr (requires { list.columns; })
      return list.size();
    else
      return static_cast<std::size_t>((list.size() + run_of_pairs - 1) / run_of_pairs);
  }

  /// What r2 is below: the square of the cutoff as a cell list has it. Throws nearfield::error for a cutoff that is
  /// not positive and finite, and a list without distances.
  template <class List>
  auto square_within(List const& list, double cutoff, bool closed)
  {
    using T = std::remove_cvref_t<decltype(*list.r2.data())>;
    T const rounded = static_cast<T>(cutoff), square = limit_of_squares(rounded, false);
    if (!(cutoff > 0 && square > 0 && std::isfinite(square)))
      throw error("within: the cutoff is " + number_text(cutoff) +
                  "; give a positive, finite length");
    if (list.r2.size() != pairs_of(list))
      throw error("within: the list has no r2; ask for it with .distances = true");
    return limit_of_squares(rounded, closed);
  }
}
