#pragma once

#include <nearfield/core/soa.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace bench
{
  enum class search_shape
  {
    uniform, ///< in the unit cube
    sphere,  ///< on the surface of a sphere of radius 0.5
    plummer  ///< Plummer sphere of scale length 0.1, truncated at radius 0.5
  };

  /// A cloud and a cutoff for timing searches.
  struct search_case
  {
    char const* name;
    search_shape shape;
    std::size_t n;
    double cutoff;
    int seeds; ///< number of clouds, with seeds from 1
  };

  /// The first case is that of the Thrust page, with about 54.7e6 half pairs; the others have 5.2e6, 55.1e6 and
  /// 61.9e6.
  inline constexpr search_case search_cases[] = {
      {"uniform_1e6", search_shape::uniform, 1'000'000, 0.03, 5},
      {"uniform_1e5", search_shape::uniform, 100'000, 0.0646, 1},
      {"sphere_1e6", search_shape::sphere, 1'000'000, 0.0105, 1},
      {"plummer_1e6", search_shape::plummer, 1'000'000, 0.00843, 1}};

  /// Points in columns, the same in every run and, up to rounding, in both precisions.
  template <class T>
  struct search_cloud
  {
    std::array<std::vector<T>, 3> x;

    search_cloud(search_shape shape, std::size_t n, int seed)
    {
      std::mt19937_64 random(static_cast<std::uint64_t>(seed));
      // distributions of <random> differ between standard libraries
      auto const uniform = [&]
      {
        return static_cast<double>(random() >> 11) * 0x1p-53;
      };
      for (auto& column : x) column.reserve(n);
      for (std::size_t i = 0; i < n; ++i)
      {
        double const u = uniform(), v = uniform(), w = uniform();
        if (shape == search_shape::uniform)
        {
          push_back({u, v, w});
          continue;
        }
        double const radius = shape == search_shape::sphere ? 0.5 : plummer_radius(u, 0.1, 0.5);
        double const height = 2 * v - 1, angle = 2 * std::numbers::pi * w;
        double const across = radius * std::sqrt(1 - height * height);
        push_back({across * std::cos(angle), across * std::sin(angle), radius * height});
      }
    }

    /// The first Dim columns.
    template <int Dim = 3>
    [[nodiscard]] nearfield::soa<T const, Dim> view() const
    {
      std::array<T const*, Dim> columns;
      for (std::size_t d = 0; d < Dim; ++d) columns[d] = x[d].data();
      return {columns, x[0].size()};
    }

  private:
    /// The radius that encloses the fraction u of the mass within `largest`.
    static double plummer_radius(double u, double scale, double largest)
    {
      double const all =
          std::pow(1 + (scale / largest) * (scale / largest), -1.5); // mass within `largest`
      double const mass = all * (1e-12 + u);
      return scale / std::sqrt(std::pow(mass, -2. / 3) - 1);
    }

    void push_back(std::array<double, 3> const& point)
    {
      for (std::size_t d = 0; d < 3; ++d) x[d].push_back(static_cast<T>(point[d]));
    }
  };

  /// The cloud of a case with this seed, kept until another case is asked for.
  template <class T>
  search_cloud<T> const& search_cloud_of(search_case const& c, int seed)
  {
    static std::pair<std::string, std::size_t> last;
    static std::map<int, search_cloud<T>> kept;
    if (std::pair const now(std::string(c.name), std::size_t(c.n)); last != now)
    {
      kept.clear(); // free the memory of the previous case
      last = now;
    }
    return kept.try_emplace(seed, c.shape, c.n, seed).first->second;
  }
}
