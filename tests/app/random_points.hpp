#pragma once

#include "points.hpp"

#include <nearfield/io/points.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfield::test
{
  inline point_set random_points(int dim, std::size_t n, std::uint64_t seed)
  {
    random_numbers random(seed);
    point_set points{.dim = dim};
    points.positions.assign(static_cast<std::size_t>(dim), std::vector<double>(n));
    points.inputs.assign(1, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i)
    {
      for (auto& column : points.positions) column[i] = random.uniform(-1, 1);
      points.inputs[0][i] = random.uniform(-1, 1);
    }
    points.box =
        point_set::bounding_box{std::vector<double>(static_cast<std::size_t>(dim), 0.0), 1};
    return points;
  }
}
