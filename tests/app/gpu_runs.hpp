#pragma once

#include "program.hpp"

#include "points.hpp"

#include <nearfield/io/points.hpp>

#include <string>
#include <vector>

namespace nearfield::test
{
  inline void write_random_points(std::filesystem::path const& path, int dim, std::size_t n,
                                  std::uint64_t seed)
  {
    random_numbers random(seed);
    point_set points{.dim = dim};
    points.positions.assign(static_cast<std::size_t>(dim), std::vector<double>(n));
    points.inputs.assign(1, std::vector<double>(n));
    for (auto& column : points.positions)
      for (double& value : column) value = random.uniform(-1, 1);
    for (double& value : points.inputs[0]) value = random.uniform(-1, 1);
    write_points(path, points);
  }

  inline std::vector<std::string> operator+(std::vector<std::string> a,
                                            std::vector<std::string> const& b)
  {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  inline std::vector<std::vector<std::string>> ways_to_a_gpu()
  {
    std::vector<std::vector<std::string>> ways{{"--workers", "0"}};
#if NEARFIELD_APP_HAS_GPU_TASKS
    ways.push_back({"--gpus", "1"});
#endif
    return ways;
  }
}
