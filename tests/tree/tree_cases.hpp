#pragma once

#include "points.hpp"

#include <nearfield/tree/build_tree.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace nearfield::test
{
  /// The types of coordinates that trees are compiled for.
  template <class T, int Dim>
  struct coordinates
  {
    using real = T;
    static constexpr int dim = Dim;
  };

  using all_coordinates = ::testing::Types<coordinates<float, 2>, coordinates<float, 3>,
                                           coordinates<double, 2>, coordinates<double, 3>>;

  struct coordinate_names
  {
    template <class C>
    static std::string GetName(int)
    {
      return (sizeof(typename C::real) == 4 ? "float" : "double") + std::to_string(C::dim) + "d";
    }
  };

  /// Pairs of points that only small boxes tell apart: most boxes around them have a single child.
  template <class T, int Dim>
  points<T, Dim> close_pairs(std::size_t n, std::uint64_t seed = 1)
  {
    points<T, Dim> result = make_points<T, Dim>(cloud::uniform, n, seed);
    for (auto& column : result.columns)
      for (std::size_t i = 1; i < n; i += 2) column[i] = column[i - 1] + T(1e-6);
    return result;
  }

  /// Points on the planes between boxes of the unit cube, its faces included: a coordinate of each is a multiple of 1/16,
  /// of every third point all are.
  template <class T, int Dim>
  points<T, Dim> on_planes(std::size_t n, std::uint64_t seed = 1)
  {
    points<T, Dim> result = make_points<T, Dim>(cloud::uniform, n, seed);
    random_numbers random(seed + 1);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t d = 0; d < Dim; ++d)
        if (i % 3 == 0 || i % Dim == d)
          result.columns[d][i] = static_cast<T>(random.below(17)) / 16;
    return result;
  }

  template <int Dim>
  struct tree_case
  {
    cloud shape;
    std::size_t n;
    tree_options<Dim> options;

    [[nodiscard]] std::string name() const
    {
      std::ostringstream text;
      text << n << " points, " << shape << ", ";
      if (options.level)
        text << "level " << *options.level
             << (options.order == leaf_order::morton ? ", Morton" : ", row-major");
      else
        text << "at most " << options.max_leaf_size << " a leaf";
      return text.str();
    }
  };

  /// All clouds, with sizes around that of a leaf, cut in all ways.
  template <int Dim>
  std::vector<tree_case<Dim>> tree_cases()
  {
    std::vector<tree_case<Dim>> cases;
    for (cloud const shape : all_clouds)
    {
      for (std::size_t const n : {0, 1, 2, 15, 16, 17, 800})
      {
        cases.push_back({shape, n, {.max_leaf_size = 16}});
        cases.push_back({shape, n, {.level = 2}});
      }
      cases.push_back({shape, 300, {.max_leaf_size = 1}});
      for (int const level : {0, 1, 3, max_level<Dim>})
        for (leaf_order const order : {leaf_order::row_major, leaf_order::morton})
          cases.push_back({shape, 500, {.level = level, .order = order}});
    }
    return cases;
  }
}
