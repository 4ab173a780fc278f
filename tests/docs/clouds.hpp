#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace nearfield::test
{
  /// Values between 0 and 1, reproducible for each seed.
  inline std::vector<double> values(std::size_t n, unsigned seed)
  {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<double> result(n);
    for (double& value : result) value = unit(random);
    return result;
  }
}
