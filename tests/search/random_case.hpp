#pragma once

#include "points.hpp"
#include "random_cells.hpp"

#include <nearfield/core/cell.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

/// \file
/// What searches in boxes of any shape are tested with.

namespace nearfield::test
{
  /// A box, points and a cutoff; the number of points is such that there are not many more pairs than `most_pairs`.
  template <class T, int Dim>
  struct random_case
  {
    double cutoff = 1;
    cell_list_options<T, Dim> options;
    points<T, Dim> x, y;
    bool one_set = true;

    explicit random_case(std::uint64_t seed, double most_pairs = 3000, std::size_t most_points = 60)
    {
      random_numbers random(seed);
      cutoff = double(T(std::pow(10, random.uniform(-2, 2))));
      options.cell = random_cell<Dim>(random, cutoff);
      options.closed = random.below(2) == 0;
      one_set = random.below(3) > 0;
      for (int& k : options.cells_per_cutoff) k = static_cast<int>(random.below(4));
      detail::cell_frame<Dim> const frame(options.cell);
      double images = 1;
      for (int a = 0; a < Dim; ++a)
        if (frame.periodic[a]) images *= 1 + 2 * cutoff / frame.thickness[a];
      double const most = std::sqrt(most_pairs / images);
      auto const n = [&]
      {
        return static_cast<std::size_t>(
            std::min(5. + double(random.below(most_points - 4)), 1 + most));
      };
      x = points_around<T, Dim>(random, frame, cutoff, n());
      if (!one_set) y = points_around<T, Dim>(random, frame, cutoff, n());
    }

    [[nodiscard]] cell_list<T, Dim> list() const { return list(cutoff); }
    [[nodiscard]] cell_list<T, Dim> list(double within) const
    {
      if (one_set) return {x.view(), within, options};
      return {x.view(), y.view(), within, options};
    }
  };
}
