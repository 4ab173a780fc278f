#pragma once

#include <algorithm>
#include <chrono>

namespace nearfield::starpu::detail
{
  /// How long an idle CPU worker pauses before it looks for a task again, after a pause of `last` (0: it has just run out
  /// of tasks), where `n_idle` workers look. Pauses double, so a task waits about as long as its worker was idle; and all
  /// idle workers together look at most about once a microsecond, since each look takes locks that GPU workers need.
  constexpr std::chrono::nanoseconds idle_pause(std::chrono::nanoseconds last, int n_idle)
  {
    using namespace std::chrono_literals;
    return std::clamp<std::chrono::nanoseconds>(2 * last, 500ns, std::max(1, n_idle) * 1us);
  }

  /// Shorter pauses yield the core in a loop, since a thread that sleeps wakes up tens of microseconds late.
  inline constexpr std::chrono::microseconds shortest_sleep{20};
}
