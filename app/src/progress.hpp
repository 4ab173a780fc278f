#pragma once

#include "step.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace nearfield::app
{
  /// "[#####---------------]  25 %, 10 of 40 steps, 2.5 steps/s, 12 s left"
  std::string progress_line(std::uint64_t done, std::uint64_t total, double seconds);

  /// One line on standard error that shows how far a loop is; only if that is a terminal.
  class progress_bar
  {
  public:
    explicit progress_bar(std::uint64_t total);
    /// Removes the line.
    ~progress_bar();
    progress_bar(progress_bar const&) = delete;
    progress_bar& operator=(progress_bar const&) = delete;

    /// Shows that number of steps, at most ten times a second.
    void show(std::uint64_t done);

  private:
    bool is_terminal_;
    std::uint64_t total_;
    std::chrono::steady_clock::time_point start_, shown_;
  };
}
