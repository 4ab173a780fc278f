#include "progress.hpp"

#include <cmath>
#include <iostream>

#include <unistd.h>

namespace nearfield::app
{
  namespace
  {
    // "50 s", "2 min 05 s", "3 h 07 min"
    std::string duration(double seconds)
    {
      if (!(seconds < 1e9)) return "years";
      auto const whole = static_cast<std::int64_t>(std::ceil(seconds));
      auto const two_units =
          [](std::int64_t n, std::int64_t of, char const* large, char const* small)
      {
        auto const rest = std::to_string(n % of);
        return std::to_string(n / of) + large + (rest.size() == 1 ? "0" : "") + rest + small;
      };
      if (whole < 60) return std::to_string(whole) + " s";
      if (whole < 3600) return two_units(whole, 60, " min ", " s");
      return two_units(whole / 60, 60, " h ", " min");
    }
  }

  std::string progress_line(std::uint64_t done, std::uint64_t total, double seconds)
  {
    constexpr std::size_t width = 20;
    double const part = static_cast<double>(done) / static_cast<double>(total);
    auto const filled = static_cast<std::size_t>(part * width);
    auto const percent = std::to_string(static_cast<int>(100 * part));
    std::string line = "[" + std::string(filled, '#') + std::string(width - filled, '-') + "] " +
                       std::string(3 - percent.size(), ' ') + percent + " %, " +
                       std::to_string(done) + " of " + std::to_string(total) + " steps";
    if (done == 0 || !(seconds > 0)) return line;
    double const rate = static_cast<double>(done) / seconds;
    return line + ", " + number_text(rate, std::chars_format::general, 3) + " steps/s, " +
           duration(static_cast<double>(total - done) / rate) + " left";
  }

  progress_bar::progress_bar(std::uint64_t total)
      : is_terminal_(::isatty(STDERR_FILENO) != 0), total_(total),
        start_(std::chrono::steady_clock::now()), shown_(start_)
  {}

  progress_bar::~progress_bar()
  {
    if (is_terminal_) std::cerr << "\r\033[K" << std::flush;
  }

  void progress_bar::show(std::uint64_t done)
  {
    if (!is_terminal_ || seconds_since(shown_) < 0.1) return;
    shown_ = std::chrono::steady_clock::now();
    std::cerr << "\r\033[K" << progress_line(done, total_, seconds_since(start_)) << std::flush;
  }
}
