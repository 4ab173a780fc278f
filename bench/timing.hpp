#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

namespace bench
{
  /// The time of the steady clock in seconds.
  inline double seconds()
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// The time of a clock of the system, such as CLOCK_THREAD_CPUTIME_ID, in seconds.
  inline double seconds_of(clockid_t clock)
  {
    timespec time;
    clock_gettime(clock, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  }

  inline double median(std::vector<double> values)
  {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
  }
}
