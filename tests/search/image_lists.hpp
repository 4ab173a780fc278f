#pragma once

#include "image_pairs.hpp"
#include "points.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

/// \file
/// Lists of pairs in images of given points: crystals and a few points at given places.

namespace nearfield::test
{
  template <int Dim>
  std::ostream& operator<<(std::ostream& out, image_pair<Dim> const& p)
  {
    out << "(" << p.i << ", " << p.j << ") in image";
    for (auto const s : p.image) out << " " << s;
    return out;
  }

  template <int Dim, class T = double>
  points<T, Dim> points_at(std::vector<std::array<double, Dim>> const& places)
  {
    points<T, Dim> x;
    for (auto const& place : places) x.push_back(place);
    return x;
  }

  /// A box that repeats along all its vectors.
  inline cell<3> repeating(std::array<std::array<double, 3>, 3> const& vectors)
  {
    return {.vectors = vectors, .periodic = {true, true, true}};
  }
  inline cell<3> cube(double length)
  {
    return cell<3>::of_lengths(std::array{length, length, length});
  }

  /// The point at a place in shares of the vectors.
  inline std::array<double, 3> point_of(cell<3> const& box, std::array<double, 3> const& shares)
  {
    std::array<double, 3> x{};
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) x[b] += shares[a] * box.vectors[a][b];
    return x;
  }

  /// A box filled with n unit cells along each vector, with points at the given shares of a unit cell.
  template <class T = double>
  points<T, 3> crystal(cell<3> const& box, std::array<int, 3> const& n,
                       std::vector<std::array<double, 3>> const& unit = {{}})
  {
    points<T, 3> x;
    for (int i = 0; i < n[0]; ++i)
      for (int j = 0; j < n[1]; ++j)
        for (int k = 0; k < n[2]; ++k)
          for (auto const& at : unit)
            x.push_back(
                point_of(box, {(i + at[0]) / n[0], (j + at[1]) / n[1], (k + at[2]) / n[2]}));
    return x;
  }

  /// S of a place of a list, in counters or packed.
  template <class T, int Dim>
  detail::image_counters<Dim> image_at(detail::pair_geometry<T, Dim> const& of, std::size_t at)
  {
    detail::image_counters<Dim> image;
    for (int a = 0; a < Dim; ++a)
      image[a] = of.packed_images.empty()
                     ? of.images[a][at]
                     : static_cast<std::int32_t>(of.packed_images[at] >> 10 * a & 1023) - 512;
    return image;
  }

  /// A list with r2, the displacements and S.
  template <class What>
  What with_all_columns(What what)
  {
    what.distances = what.displacements = true;
    what.images = image_columns::counters;
    return what;
  }

  template <int Dim>
  using image_pair_list = std::vector<image_pair<Dim>>;

  /// The pairs that a search lists, ordered by i, j and image.
  template <class On, class T, int Dim>
  image_pair_list<Dim> listed_pairs(On const& where, cell_list<T, Dim> const& cells, pairs which)
  {
    auto const list =
        radius_search(where, cells, to_coo{.which = which, .images = image_columns::counters});
    image_pair_list<Dim> found;
    for (std::size_t p = 0; p < list.size(); ++p)
      found.push_back({list.i[p], list.j[p], image_at(list, p)});
    std::ranges::sort(found);
    return found;
  }

  /// All pairs of one set. Lists by one thread and by two are the same, and half lists hold each pair once.
  template <class T, int Dim>
  image_pair_list<Dim> found_pairs(points<T, Dim> const& x, double cutoff,
                                   cell<Dim> const& box = {}, bool closed = false)
  {
    cell_list<T, Dim> const cells(x.view(), cutoff, {.cell = box, .closed = closed});
    auto const full = listed_pairs(simd, cells, pairs::full);
    threads on(2);
    EXPECT_EQ(listed_pairs(simd.with(on), cells, pairs::full), full);
    auto both = listed_pairs(simd, cells, pairs::half);
    EXPECT_EQ(listed_pairs(simd.with(on), cells, pairs::half), both);
    for (std::size_t p = 0, n = both.size(); p < n; ++p)
    {
      image_pair<Dim> turned{both[p].j, both[p].i, {}};
      for (int a = 0; a < Dim; ++a) turned.image[a] = -both[p].image[a];
      both.push_back(turned);
    }
    std::ranges::sort(both);
    EXPECT_EQ(both, full);
    return full;
  }

  /// The same, compared with the definition.
  template <class T, int Dim>
  image_pair_list<Dim> defined_pairs(points<T, Dim> const& x, double cutoff,
                                     cell<Dim> const& box = {}, bool closed = false)
  {
    auto const found = found_pairs(x, cutoff, box, closed);
    image_definition<T, Dim> const definition(box, x, x, T(cutoff), closed);
    EXPECT_EQ(found, definition.full());
    return found;
  }

  /// Whether each point has as many neighbours.
  template <int Dim>
  testing::AssertionResult each_has(std::size_t neighbours, image_pair_list<Dim> const& full,
                                    std::size_t n_points)
  {
    std::vector<std::size_t> counts(n_points);
    for (auto const& p : full) ++counts[p.i];
    for (std::size_t i = 0; i < n_points; ++i)
      if (counts[i] != neighbours)
        return testing::AssertionFailure() << "point " << i << " has " << counts[i];
    return testing::AssertionSuccess();
  }
}
