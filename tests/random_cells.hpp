#pragma once

#include "points.hpp"

#include <nearfield/core/cell.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <utility>

/// \file
/// Cells of any shape and points anywhere, for tests of what is near in some image.

namespace nearfield::test
{
  /// How many boxes a test has: NEARFIELD_TEST_CELLS, or a sample.
  inline std::uint64_t number_of_cells(std::uint64_t sample)
  {
    char const* const wanted = std::getenv("NEARFIELD_TEST_CELLS");
    return wanted ? std::strtoull(wanted, nullptr, 10) : sample;
  }

  /// A cell with heights of 0.1 to 10 cutoffs and shears to 80 degrees, of either handedness, turned, and periodic
  /// along any of its vectors; those of open axes may be anything.
  template <int Dim>
  cell<Dim> random_cell(random_numbers& random, double cutoff)
  {
    cell<Dim> made;
    for (int a = 0; a < Dim; ++a)
    {
      double const height = cutoff * std::pow(10, random.uniform(-1, 1));
      made.vectors[a][a] = random.below(4) == 0 ? -height : height;
      for (int b = 0; b < a; ++b)
        if (random.below(3) > 0)
          made.vectors[a][b] = height * std::tan(random.uniform(-80, 80) * std::numbers::pi / 180);
      made.periodic[a] = random.below(4) > 0;
    }
    // about each pair of axes
    for (int a = 0; a < Dim && random.below(2) == 0; ++a)
    {
      double const angle = random.uniform(0, 2 * std::numbers::pi);
      for (auto& v : made.vectors)
      {
        double const x = v[a], y = v[(a + 1) % Dim];
        v[a] = std::cos(angle) * x - std::sin(angle) * y;
        v[(a + 1) % Dim] = std::sin(angle) * x + std::cos(angle) * y;
      }
    }
    if (random.below(4) == 0) std::swap(made.vectors[0], made.vectors[Dim - 1]);
    for (int a = 0; a < Dim; ++a)
      if (!made.periodic[a])
      {
        std::size_t const kind = random.below(4);
        if (kind == 0) made.vectors[a] = {};
        if (kind == 1) made.vectors[a] = made.vectors[(a + 1) % Dim];
      }
    if (random.below(2) == 0)
      for (double& x : made.origin) x = random.uniform(-20, 20) * cutoff;
    return made;
  }

  /// Points of a cell: inside, on its faces and a rounding beside them, up to a million cells away, and at the places
  /// of others or of their images.
  template <class T, int Dim>
  points<T, Dim> points_around(random_numbers& random, detail::cell_frame<Dim> const& frame,
                               double cutoff, std::size_t n)
  {
    points<T, Dim> made;
    for (std::size_t i = 0; i < n; ++i)
    {
      std::array<double, Dim> x = frame.origin, cells{};
      bool const is_far = random.below(4) == 0;
      if (i > 0 && random.below(4) == 0)
        for (int b = 0; b < Dim; ++b) x[b] = double(made.columns[b].back());
      else
        for (int a = 0; a < Dim; ++a)
        {
          double place = random.uniform();
          if (random.below(4) == 0) place = std::round(place); // on a face
          if (!frame.periodic[a]) place = cutoff * (4 * place - 2);
          for (int b = 0; b < Dim; ++b) x[b] += place * frame.vectors[a][b];
        }
      for (int a = 0; a < Dim; ++a)
        if (is_far && frame.periodic[a])
          cells[a] = std::round(random.uniform(-1, 1) * std::pow(10, random.uniform(0, 6)));
      auto const moved = frame.shift(cells);
      for (int b = 0; b < Dim; ++b) x[b] += moved[b];
      made.push_back(x);
      constexpr T infinity = std::numeric_limits<T>::infinity();
      for (int b = 0; b < Dim; ++b)
        if (random.below(8) == 0)
          made.columns[b].back() =
              std::nextafter(made.columns[b].back(), random.below(2) == 0 ? infinity : -infinity);
    }
    return made;
  }
}
