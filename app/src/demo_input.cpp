#include "demo.hpp"

#include <nearfield/io/points.hpp>

#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <random>
#include <sstream>

namespace nearfield::app
{
  namespace
  {
    std::optional<std::filesystem::path> find_protein()
    {
      char const* const set = std::getenv("XDG_DATA_DIRS");
      std::istringstream folders(set && *set ? set : "/usr/local/share:/usr/share");
      for (std::string folder; std::getline(folders, folder, ':');)
      {
        auto const path = std::filesystem::path(folder) / "apbs/examples/misc/achbp.pqr";
        std::error_code none;
        if (std::filesystem::is_regular_file(path, none)) return path;
      }
      return std::nullopt;
    }

    // A Plummer sphere of scale length 1 and total mass 1: the mass inside radius r is
    // (1 + r^-2)^(-3/2), here inverted for a uniform random number. (S. Aarseth, M. Henon, R. Wielen,
    // Astron. Astrophys. 37, 183, 1974)
    point_set plummer_cloud(std::size_t n)
    {
      std::mt19937_64 engine(20260101);
      // the distributions of <random> differ between standard libraries, its engines do not
      auto const uniform = [&]
      {
        return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53;
      };
      point_set points;
      points.positions.assign(3, std::vector<double>(n));
      points.inputs.assign(1, std::vector<double>(n, 1 / static_cast<double>(n)));
      for (std::size_t i = 0; i < n; ++i)
      {
        double r = 0;
        // leaves out the 4 % of points further out, which would make the picture small
        do r = 1 / std::sqrt(std::pow(uniform(), -2.0 / 3) - 1);
        while (r > 6);
        double const z = 2 * uniform() - 1, angle = 2 * std::numbers::pi * uniform();
        double const across = std::sqrt(1 - z * z);
        points.positions[0][i] = r * across * std::cos(angle);
        points.positions[1][i] = r * across * std::sin(angle);
        points.positions[2][i] = r * z;
      }
      return points;
    }
  }

  demo_input choose_demo_input()
  {
    if (auto const path = find_protein())
    {
      auto points = read_points(*path);
      auto const n = std::to_string(points.size());
      return {{path->string(), std::move(points)},
              path->string() + ": acetylcholine-binding protein, " + n + " atoms",
              "acetylcholine-binding protein, " + n + " atoms",
              1.4,
              "A",
              5,
              "\u00c5",
              "e/\u00c5"};
    }
    std::size_t const n = 16000;
    return {{"Plummer cloud", plummer_cloud(n)},
            "a seeded Plummer cloud of " + std::to_string(n) +
                " points (achbp.pqr is missing; Debian's apbs-data has it)",
            "Plummer cloud, " + std::to_string(n) + " points",
            0.05,
            "",
            0.2,
            "a",
            "M/a"};
  }
}
