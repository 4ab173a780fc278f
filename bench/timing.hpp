#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench
{
  /// The time of the steady clock in seconds.
  inline double seconds()
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  inline double median(std::vector<double> values)
  {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
  }
}
