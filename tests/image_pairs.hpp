#pragma once

#include "points.hpp"

#include <nearfield/core/cell.hpp>

#include <nearfield/core/boxes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

/// \file
/// All pairs of points in all images by definition: the reference of searches in any cell. The rounding of each
/// operation is part of the definition: compile with -ffp-contract=off.

namespace nearfield::test
{
  /// Points i and j, and the image of j: x_j + image vectors is closer to x_i than the cutoff.
  template <int Dim>
  struct image_pair
  {
    index_type i, j;
    detail::image_counters<Dim> image;

    friend auto operator<=>(image_pair const&, image_pair const&) = default;
  };

  /// The images of a cell, from its vectors as they are given, in long double. It knows nothing of cell_frame.
  template <int Dim>
  class lattice_images
  {
  public:
    using real = long double;
    using vector = std::array<real, Dim>;

    explicit lattice_images(cell<Dim> const& given) : cell_(given)
    {
      for (int a = 0; a < Dim; ++a)
      {
        if (!given.periodic[a]) continue;
        vector rest = at({}, a);
        for (int turn = 0; turn < 2; ++turn) // the second one removes what rounding left
          for (vector const& unit : units_)
          {
            real const along = dot(rest, unit);
            for (int b = 0; b < Dim; ++b) rest[b] -= along * unit[b];
          }
        real const length = std::sqrt(dot(rest, rest));
        for (real& x : rest) x /= length;
        axes_.push_back(a);
        units_.push_back(rest);
      }
    }

    /// d plus the image.
    [[nodiscard]] vector moved(vector d, std::array<std::int64_t, Dim> const& image) const
    {
      for (int const a : axes_)
        for (int b = 0; b < Dim; ++b) d[b] += real(image[a]) * real(cell_.vectors[a][b]);
      return d;
    }

    /// Calls f(image) for all images in which d is shorter than `reach`, up to rounding.
    template <class F>
    void for_each(vector const& d, real reach, F const& f) const
    {
      std::array<std::int64_t, Dim> image{};
      walk(axes_.size(), d, image, reach * reach, f);
    }

    static real dot(vector const& a, vector const& b)
    {
      real sum = 0;
      for (int c = 0; c < Dim; ++c) sum += a[c] * b[c];
      return sum;
    }

  private:
    vector at(vector d, int axis) const
    {
      for (int b = 0; b < Dim; ++b) d[b] += real(cell_.vectors[axis][b]);
      return d;
    }

    /// The last of the first n vectors is the only one of them that changes d along the last unit vector.
    template <class F>
    void walk(std::size_t n, vector const& d, std::array<std::int64_t, Dim>& image, real left,
              F const& f) const
    {
      if (n == 0) return f(image);
      int const axis = axes_[n - 1];
      vector const& unit = units_[n - 1];
      real const height = dot(at({}, axis), unit), along = dot(d, unit), most = std::sqrt(left);
      auto const first = static_cast<std::int64_t>(std::ceil((-most - along) / height));
      auto const last = static_cast<std::int64_t>(std::floor((most - along) / height));
      for (image[axis] = first; image[axis] <= last; ++image[axis])
      {
        real const now = along + real(image[axis]) * height;
        std::array<std::int64_t, Dim> own{};
        own[axis] = image[axis];
        walk(n - 1, moved(d, own), image, std::max(left - now * now, real(0)), f);
      }
      image[axis] = 0;
    }

    cell<Dim> cell_;
    std::vector<int> axes_;     // the periodic ones
    std::vector<vector> units_; // orthonormal; vector n lies in the first n + 1 of them
  };

  /// The definition: x = at + image vectors with `at` in the cell. In image m of the reduced points, i and j are at
  /// d = (at_i - at_j) - m vectors. For one set, sources are the targets.
  template <class T, int Dim>
  class image_definition
  {
  public:
    using image = detail::image_counters<Dim>;

    image_definition(cell<Dim> const& given, points<T, Dim> const& targets,
                     points<T, Dim> const& sources, T cutoff, bool closed = false)
        : frame_(given), images_(given), x_(targets), y_(sources), cutoff_(cutoff),
          cutoff_squared_(cutoff * cutoff), is_one_set_(&targets == &sources)
    {
      if (closed)
        cutoff_squared_ = std::nextafter(cutoff_squared_, std::numeric_limits<T>::infinity());
      for (std::size_t i = 0; i < x_.size(); ++i) targets_.push_back(frame_.reduce(x_[i]));
      for (std::size_t j = 0; j < y_.size(); ++j) sources_.push_back(frame_.reduce(y_[j]));
    }

    [[nodiscard]] detail::cell_frame<Dim> const& frame() const { return frame_; }
    [[nodiscard]] detail::reduced_point<T, Dim> const& target(std::size_t i) const
    {
      return targets_[i];
    }

    /// The image of the reduced points that is image s of those given.
    [[nodiscard]] image of_reduced(std::size_t i, std::size_t j, image const& s) const
    {
      image m;
      for (int a = 0; a < Dim; ++a) m[a] = s[a] - targets_[i].image[a] + sources_[j].image[a];
      return m;
    }

    /// (x_i - x_j) - s vectors
    [[nodiscard]] std::array<T, Dim> difference(std::size_t i, std::size_t j, image const& s) const
    {
      std::array<double, Dim> m;
      for (int a = 0; a < Dim; ++a) m[a] = of_reduced(i, j, s)[a];
      auto const shift = frame_.shift(m);
      std::array<T, Dim> d;
      for (int b = 0; b < Dim; ++b)
        // -0 is 0
        d[b] = ((targets_[i].at[b] + T(0)) - (sources_[j].at[b] + T(0))) - static_cast<T>(shift[b]);
      return d;
    }
    [[nodiscard]] T r2(std::size_t i, std::size_t j, image const& s) const
    {
      auto const d = difference(i, j, s);
      T sum = d[0] * d[0];
      for (int b = 1; b < Dim; ++b) sum = sum + d[b] * d[b];
      return sum;
    }
    [[nodiscard]] bool is_in(std::size_t i, std::size_t j, image const& s) const
    {
      return r2(i, j, s) < cutoff_squared_;
    }

    /// The distance without rounding, from the points as given.
    [[nodiscard]] long double exact(std::size_t i, std::size_t j, image const& s) const
    {
      std::array<std::int64_t, Dim> wide;
      std::ranges::copy(s, wide.begin());
      auto const d = images_.moved(apart(i, j), wide);
      return std::sqrt(lattice_images<Dim>::dot(d, d));
    }

    /// The most that rounding changes a distance of about a cutoff.
    [[nodiscard]] double rounding() const
    {
      double largest = 0, farthest = 0; // coordinates, and what reduce() subtracts
      for (auto const* set : {&targets_, &sources_})
        for (auto const& point : *set)
        {
          double moved = 0;
          for (int a = 0; a < Dim; ++a)
            moved += std::abs(double(point.image[a])) * sum_of_sizes(frame_.vectors[a]);
          largest = std::max(largest, sum_of_sizes(point.at));
          farthest = std::max(farthest, moved);
        }
      return 8 * double(std::numeric_limits<T>::epsilon()) * (double(cutoff_) + largest) +
             32 * std::numeric_limits<double>::epsilon() *
                 (farthest + largest + sum_of_sizes(frame_.origin));
    }

    /// Calls f(i, j, s) for all pairs within the cutoff, and some beyond it, i = j in image 0 left out.
    template <class F>
    void for_each_candidate(F const& f) const
    {
      double const reach = double(cutoff_) * (1 + 0x1p-20) + 2 * rounding();
      for (index_type i = 0; i < x_.size(); ++i)
        for (index_type j = 0; j < y_.size(); ++j)
          images_.for_each(apart(i, j), reach,
                           [&](std::array<std::int64_t, Dim> const& wide)
                           {
                             image s;
                             for (int a = 0; a < Dim; ++a)
                               s[a] = static_cast<std::int32_t>(wide[a]);
                             if (!is_one_set_ || i != j || s != image{}) f(i, j, s);
                           });
    }

    /// All pairs, ordered by i, j and image.
    [[nodiscard]] std::vector<image_pair<Dim>> full() const
    {
      std::vector<image_pair<Dim>> found;
      for_each_candidate(
          [&](index_type i, index_type j, image const& s)
          {
            if (is_in(i, j, s)) found.push_back({i, j, s});
          });
      std::ranges::sort(found);
      return found;
    }

    /// Each pair of one set once: at the point whose position comes first, and of a point's own images those that are
    /// positive.
    [[nodiscard]] std::vector<image_pair<Dim>> half(std::span<index_type const> position) const
    {
      auto found = full();
      std::erase_if(
          found, [&](image_pair<Dim> const& p)
          { return p.i == p.j ? !detail::is_positive(p.image) : position[p.j] < position[p.i]; });
      return found;
    }

  private:
    [[nodiscard]] typename lattice_images<Dim>::vector apart(std::size_t i, std::size_t j) const
    {
      typename lattice_images<Dim>::vector d;
      for (int b = 0; b < Dim; ++b)
        d[b] = static_cast<long double>(y_.columns[b][j]) - x_.columns[b][i];
      return d;
    }
    template <class R>
    static double sum_of_sizes(std::array<R, Dim> const& x)
    {
      double sum = 0;
      for (R const value : x) sum += std::abs(double(value));
      return sum;
    }

    detail::cell_frame<Dim> frame_;
    lattice_images<Dim> images_;
    points<T, Dim> x_, y_;
    T cutoff_, cutoff_squared_;
    bool is_one_set_;
    std::vector<detail::reduced_point<T, Dim>> targets_, sources_;
  };
}
