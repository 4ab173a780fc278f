#pragma once

#include <nearfield/core/soa.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <ostream>
#include <random>
#include <vector>

namespace nearfield::test
{
  /// A generator whose numbers are the same with every standard library (the distributions of
  /// <random> are not).
  class random_numbers
  {
  public:
    explicit random_numbers(std::uint64_t seed) : engine_(seed) {}

    /// in [0, 1)
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    double uniform(double lower, double upper) { return lower + (upper - lower) * uniform(); }
    /// in [0, n)
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }

  private:
    std::mt19937_64 engine_;
  };

  /// Dim columns of coordinates that own their memory.
  template <class T, int Dim>
  struct points
  {
    using value_type = T;
    static constexpr int dim = Dim;

    std::array<std::vector<T>, Dim> columns;

    [[nodiscard]] std::size_t size() const { return columns[0].size(); }
    [[nodiscard]] soa<T const, Dim> view() const
    {
      std::array<T const*, Dim> data;
      for (int d = 0; d < Dim; ++d) data[d] = columns[d].data();
      return {data, size()};
    }
    [[nodiscard]] std::array<T, Dim> operator[](std::size_t i) const
    {
      std::array<T, Dim> x;
      for (int d = 0; d < Dim; ++d) x[d] = columns[d][i];
      return x;
    }
    void push_back(std::array<double, Dim> const& x)
    {
      for (int d = 0; d < Dim; ++d) columns[d].push_back(static_cast<T>(x[d]));
    }
  };

  enum class cloud
  {
    uniform,    ///< in the unit cube
    plummer,    ///< clustered: Plummer's radii around (1/2, ...), scale 0.1
    planar,     ///< the last coordinate is 1/4 everywhere
    coincident, ///< uniform, but every second point lies on (3/8, ...)
    all_equal,  ///< every point lies on (3/8, ...)
    grid        ///< the first n nodes of a lattice that fills the unit cube, its faces included
  };

  inline constexpr cloud all_clouds[] = {cloud::uniform,    cloud::plummer,   cloud::planar,
                                         cloud::coincident, cloud::all_equal, cloud::grid};

  inline char const* name_of(cloud shape)
  {
    constexpr char const* names[] = {"uniform",    "plummer",   "planar",
                                     "coincident", "all_equal", "grid"};
    return names[static_cast<int>(shape)];
  }

  inline std::ostream& operator<<(std::ostream& out, cloud shape)
  {
    return out << name_of(shape);
  }

  template <int Dim>
  std::array<double, Dim> uniform_point(random_numbers& random)
  {
    std::array<double, Dim> x;
    for (double& coordinate : x) coordinate = random.uniform();
    return x;
  }

  /// A point of the Plummer sphere (in 2D: the same radii on circles), within 22 scale lengths.
  template <int Dim>
  std::array<double, Dim> plummer_point(random_numbers& random)
  {
    double const mass = random.uniform(1e-9, 0.997);
    double const radius = 0.1 / std::sqrt(std::pow(mass, -2. / 3.) - 1);
    double const height = Dim == 3 ? random.uniform(-1, 1) : 0;
    double const angle = random.uniform(0, 2 * std::numbers::pi);
    double const across = std::sqrt(1 - height * height);
    std::array<double, Dim> x;
    x[0] = 0.5 + radius * across * std::cos(angle);
    x[1] = 0.5 + radius * across * std::sin(angle);
    if constexpr (Dim == 3) x[2] = 0.5 + radius * height;
    return x;
  }

  /// Node i of the smallest lattice over the closed unit cube with at least n nodes.
  template <int Dim>
  std::array<double, Dim> grid_point(std::size_t i, std::size_t n)
  {
    std::size_t side = 2;
    while (std::pow(static_cast<double>(side), Dim) < static_cast<double>(n)) ++side;
    std::array<double, Dim> x;
    for (double& coordinate : x)
    {
      coordinate = static_cast<double>(i % side) / static_cast<double>(side - 1);
      i /= side;
    }
    return x;
  }

  /// n points of a cloud; the same seed gives the same points, rounded to T.
  template <class T, int Dim>
  points<T, Dim> make_points(cloud shape, std::size_t n, std::uint64_t seed = 1)
  {
    random_numbers random(seed);
    points<T, Dim> result;
    for (std::size_t i = 0; i < n; ++i)
    {
      std::array<double, Dim> x = uniform_point<Dim>(random);
      if (shape == cloud::plummer) x = plummer_point<Dim>(random);
      if (shape == cloud::planar) x[Dim - 1] = 0.25;
      if (shape == cloud::all_equal || (shape == cloud::coincident && i % 2 == 1)) x.fill(0.375);
      if (shape == cloud::grid) x = grid_point<Dim>(i, n);
      result.push_back(x);
    }
    return result;
  }

  /// n values in [-1, 1), rounded to T: charges, masses, right-hand sides.
  template <class T>
  std::vector<T> make_values(std::size_t n, std::uint64_t seed = 2)
  {
    random_numbers random(seed);
    std::vector<T> result(n);
    for (T& value : result) value = static_cast<T>(random.uniform(-1, 1));
    return result;
  }
}
