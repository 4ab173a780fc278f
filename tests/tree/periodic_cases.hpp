#pragma once

#include "points.hpp"
#include "reference.hpp"
#include "tree/tree_cases.hpp"

#include <nearfield/tree/build_tree.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

/// \file
/// Trees in periodic boxes, and what they are held against: all pairs of leaves in all images, by their places in the
/// lattice.

namespace nearfield::test
{
  /// Points of a cloud in the box [0, L) of each periodic axis.
  template <class T, int Dim>
  points<T, Dim> wrapped(points<T, Dim> cloud,
                         std::type_identity_t<std::array<double, Dim>> const& period)
  {
    for (int d = 0; d < Dim; ++d)
      for (T& x : cloud.columns[d])
        if (period[d] > 0)
        {
          x = static_cast<T>(period[d] * (double(x) - std::floor(double(x))));
          if (!(x < static_cast<T>(period[d]))) x = 0;
        }
    return cloud;
  }

  /// A random cloud, or two, with random periods, cut in a random way.
  template <class T, int Dim>
  struct periodic_case
  {
    tree_options<Dim> options;
    points<T, Dim> x, y; ///< y: of two sets

    periodic_case(std::uint64_t seed, std::size_t most)
    {
      random_numbers random(seed);
      std::size_t const axes = 1 + random.below((std::size_t(1) << Dim) - 1);
      bool const is_cube = random.below(2) == 0;
      for (int d = 0; d < Dim; ++d)
        if (axes >> d & 1) options.period[d] = is_cube ? 1.7 : random.uniform(0.5, 2);
      options.max_leaf_size = 1 + static_cast<int>(random.below(40));
      if (random.below(2) == 0) options.level = static_cast<int>(random.below(5));
      if (options.level && random.below(2) == 0) options.order = leaf_order::morton;
      if (random.below(3) == 0) options.root = {{}, 40.};
      x = draw(random, most);
      y = draw(random, most);
    }

    [[nodiscard]] std::string name() const
    {
      std::string text = std::to_string(x.size()) + " and " + std::to_string(y.size()) + " points";
      text += options.level ? ", level " + std::to_string(*options.level)
                            : ", at most " + std::to_string(options.max_leaf_size);
      for (double const length : options.period) text += ", " + std::to_string(length);
      return text;
    }

  private:
    points<T, Dim> draw(random_numbers& random, std::size_t most) const
    {
      std::size_t const shape = random.below(std::size(all_clouds) + 1), n = random.below(most);
      std::uint64_t const seed = random.below(1 << 20);
      return wrapped(shape == std::size(all_clouds)
                         ? on_planes<T, Dim>(n, seed)
                         : make_points<T, Dim>(all_clouds[shape], n, seed),
                     options.period);
    }
  };

  /// By how many periods an image is moved along each axis.
  template <int Dim>
  using image_of = std::array<int, Dim>;

  /// The box itself and all images of it that touch it.
  template <int Dim>
  std::vector<image_of<Dim>> all_images(std::array<double, Dim> const& period)
  {
    std::vector<image_of<Dim>> images{{}};
    for (int d = 0; d < Dim; ++d)
      if (period[d] > 0)
        for (std::size_t n = images.size(), i = 0; i < n; ++i)
          for (int const step : {-1, 1})
          {
            images.push_back(images[i]);
            images.back()[d] = step;
          }
    return images;
  }

  /// Whether the closed box of leaf b touches an image of that of leaf c.
  template <int Dim>
  bool touch(leaf_cell<Dim> const& b, leaf_cell<Dim> const& c,
             std::type_identity_t<image_of<Dim>> const& image)
  {
    for (int d = 0; d < Dim; ++d)
    {
      auto const at = [&](leaf_cell<Dim> const& cell, int end)
      {
        return (std::int64_t(cell.index[d]) + end) << (max_level<Dim> - cell.level);
      };
      std::int64_t const moved = image[d] * (std::int64_t(1) << max_level<Dim>);
      if (at(b, 0) > at(c, 1) + moved || at(c, 0) + moved > at(b, 1)) return false;
    }
    return true;
  }

  /// The leaf of each point, by its index in the arrays that were given.
  inline std::vector<index_type> leaf_of_point(boxes const& leaves,
                                               std::span<index_type const> order)
  {
    std::vector<index_type> leaf(order.size());
    for (index_type b = 0; b < leaves.size(); ++b)
      for (index_type p = leaves.begin(b); p < leaves.end(b); ++p) leaf[order[p]] = b;
    return leaf;
  }

  /// The near field by the definition: each target with the sources of all images of leaves that touch its leaf.
  template <class T, class K>
  auto periodic_reference(K const& k, tree<K::dim> const& tree, points<T, K::dim> const& x,
                          points<T, K::dim> const& y, auto const& q)
  {
    constexpr int dim = K::dim;
    auto const of_x = leaf_of_point(tree.targets(), tree.target_order()),
               of_y = leaf_of_point(tree.sources(), tree.source_order());
    reference_sums<K::n_out> sums;
    for (auto* columns : {&sums.value, &sums.scale})
      for (auto& column : *columns) column.assign(x.size(), 0);
    for (auto const& image : all_images<dim>(tree.period()))
    {
      points<T, dim> moved = y;
      for (int d = 0; d < dim; ++d)
        for (T& value : moved.columns[d]) value += static_cast<T>(image[d] * tree.period()[d]);
      auto const more =
          reference(k, x.view(), moved.view(), q,
                    [&](std::size_t i, std::size_t j)
                    {
                      bool const is_self = tree.has_one_set() && i == j && image == image_of<dim>{};
                      return !is_self && touch(tree.cell(of_x[i]), tree.cell(of_y[j]), image);
                    });
      for (int o = 0; o < K::n_out; ++o)
        for (std::size_t i = 0; i < x.size(); ++i)
        {
          sums.value[o][i] += more.value[o][i];
          sums.scale[o][i] += more.scale[o][i];
        }
    }
    return sums;
  }
}
