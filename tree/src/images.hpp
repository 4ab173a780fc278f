#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

/// \file
/// The images of a periodic box that its points meet. Lists know an image by the number of its shift: the sum over the axes
/// of its cells times a weight, and n - s for the image opposite to s.

namespace nearfield::detail
{
  /// How images have numbers, if they are at most so many cells away along each axis.
  template <int Dim>
  struct image_numbers
  {
    std::array<int, Dim> most{};
    std::array<int, Dim> weight{};
    std::int64_t n = 1; ///< the box itself included

    constexpr image_numbers() : image_numbers(std::array<int, Dim>()) {}
    NEARFIELD_FN constexpr explicit image_numbers(std::array<int, Dim> const& at_most)
        : most(at_most)
    {
      for (int a = 0; a < Dim; ++a)
      {
        weight[a] = static_cast<int>(n);
        n *= 2 * most[a] + 1;
      }
    }

    /// Those of trees.
    [[nodiscard]] static constexpr image_numbers of_trees();

    /// Of the sum of cells times weights.
    [[nodiscard]] constexpr std::uint16_t shift_of(int sum) const
    {
      return static_cast<std::uint16_t>(sum < 0 ? sum + n : sum);
    }
    /// How many cells away the image is.
    [[nodiscard]] NEARFIELD_FN constexpr std::array<int, Dim> cells_of(std::uint16_t shift) const
    {
      std::array<int, Dim> cells{};
      // digits that count from the lowest image
      std::int64_t digits = (shift + n / 2) % n;
      for (int a = 0; a < Dim; ++a, digits /= 2 * most[a - 1] + 1)
        cells[a] = static_cast<int>(digits % (2 * most[a] + 1)) - most[a];
      return cells;
    }
  };

  template <class T, int Dim>
  NEARFIELD_FN image_numbers<Dim> numbers_of(cell_grid<T, Dim> const& grid)
  {
    std::array<int, Dim> most{};
    for (int a = 0; a < Dim; ++a) most[a] = grid.most_images(a);
    return image_numbers<Dim>(most);
  }

  /// The counters of an image, by its number.
  template <int Dim>
  NEARFIELD_FN image_counters<Dim> image_of(cell_frame<Dim> const& frame,
                                            image_numbers<Dim> const& numbers, std::uint16_t shift)
  {
    auto cells = numbers.cells_of(shift);
    for (int a = 0; a < Dim; ++a)
      if (!frame.periodic[a]) cells[a] = 0; // trees number images of open axes too
    return frame.image_of(cells);
  }

  /// The largest counter of these images, without its sign.
  template <int Dim>
  NEARFIELD_FN double most_counter(cell_frame<Dim> const& frame, image_numbers<Dim> const& numbers)
  {
    double most = 0;
    for (int b = 0; b < Dim; ++b)
    {
      double sum = 0;
      for (int a = 0; a < Dim; ++a)
        if (frame.periodic[a]) sum += numbers.most[a] * std::fabs(frame.basis[a][b]);
      most = std::fmax(most, sum);
    }
    return most;
  }

  /// Throws nearfield::error for a box with more than max_image of a vector in an image; `function` starts the message.
  template <int Dim>
  void check_counters(double most, std::string const& function)
  {
    if (most > cell_frame<Dim>::max_image)
      throw error(function + ": the box is too sheared for its images within the cutoff, or to "
                             "touch; give vectors of the same lattice that are shorter");
  }

  /// The size of the tables of images: none without a periodic axis.
  template <int Dim>
  std::size_t number_of(image_numbers<Dim> const& numbers)
  {
    return static_cast<std::size_t>(numbers.n > 1 ? numbers.n : 0);
  }

  /// By number: what is added to points, and the counters of the vectors of the box.
  template <int Dim>
  void write_images(cell_frame<Dim> const& frame, image_numbers<Dim> const& numbers,
                    std::span<std::array<double, 3>> shifts,
                    std::type_identity_t<std::span<image_counters<Dim>>> images)
  {
    check_counters<Dim>(most_counter(frame, numbers), "cell");
    for (std::size_t s = 0; s < images.size(); ++s)
    {
      images[s] = image_of(frame, numbers, static_cast<std::uint16_t>(s));
      shifts[s] = {};
      std::ranges::copy(frame.shift(images[s]), shifts[s].begin());
    }
  }

  /// The same in tables of their size.
  template <int Dim>
  void make_images(cell_frame<Dim> const& frame, image_numbers<Dim> const& numbers,
                   std::vector<std::array<double, 3>>& shifts,
                   std::type_identity_t<std::vector<image_counters<Dim>>>& images)
  {
    shifts.resize(number_of(numbers));
    images.resize(number_of(numbers));
    write_images<Dim>(frame, numbers, shifts, images);
  }

  inline constexpr int n_images = 27; ///< of trees, the box itself included

  /// What one period along an axis adds to an image of a tree.
  constexpr int image_step(int axis)
  {
    return axis == 0 ? 1 : axis == 1 ? 3 : 9;
  }
  template <int Dim>
  constexpr image_numbers<Dim> image_numbers<Dim>::of_trees()
  {
    image_numbers numbers;
    for (int a = 0; a < Dim; ++a)
    {
      numbers.most[a] = 1;
      numbers.weight[a] = image_step(a);
    }
    numbers.n = n_images;
    return numbers;
  }
  constexpr std::uint16_t shift_of(int image)
  {
    return static_cast<std::uint16_t>(image < 0 ? image + n_images : image);
  }
  constexpr std::uint16_t opposite(std::uint16_t shift)
  {
    return static_cast<std::uint16_t>(shift == 0 ? 0 : n_images - shift);
  }
  /// Of a shift and its opposite, the one by which a half list of a tree moves a box that meets itself.
  constexpr bool is_in_half(std::uint16_t shift)
  {
    return 2 * shift > n_images;
  }

  /// Whether any axis is periodic.
  template <class T, std::size_t Dim>
  bool any_period(std::array<T, Dim> const& period)
  {
    for (T const length : period)
      if (length > 0) return true;
    return false;
  }

  /// The shifts that lists of trees index; none without a periodic axis.
  template <int Dim>
  std::vector<std::array<double, 3>> shifts_of(cell_frame<Dim> const& frame)
  {
    std::vector<std::array<double, 3>> shifts;
    std::vector<image_counters<Dim>> images;
    if (frame.periodic != std::array<bool, Dim>())
      make_images(frame, image_numbers<Dim>::of_trees(), shifts, images);
    return shifts;
  }
  template <class T, std::size_t Dim>
  std::vector<std::array<double, 3>> shifts_of(std::array<T, Dim> const& period)
  {
    cell_frame<static_cast<int>(Dim)> frame;
    for (std::size_t a = 0; a < Dim; ++a)
      if (frame.periodic[a] = period[a] > 0; frame.periodic[a])
        frame.vectors[a][a] = double(period[a]);
    return shifts_of(frame);
  }

  /// Throws nearfield::error for periods that a tree of points in T cannot have.
  template <class T, std::size_t Dim>
  void check_periods(std::array<double, Dim> const& period)
  {
    for (std::size_t a = 0; a < Dim; ++a)
    {
      check_period("build_tree", static_cast<int>(a), period[a]);
      if (period[a] > 0 && !std::isnormal(static_cast<T>(period[a])))
        throw error("build_tree: the period " + number_text(period[a]) + " of axis " +
                    std::to_string(a) +
                    " underflows or overflows in the precision of the points; use other units of "
                    "length");
    }
  }
}
