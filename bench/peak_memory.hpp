#pragma once

#include <fstream>
#include <string>

namespace bench
{
  /// The increase of the process's peak resident memory since the object was made, relative to the
  /// resident memory at that time. Linux only; 0 elsewhere.
  class peak_memory
  {
  public:
    peak_memory()
    {
      std::ofstream("/proc/self/clear_refs") << 5; // forget the old peak
      before_ = bytes("VmRSS:");
    }
    [[nodiscard]] double bytes_since() const { return bytes("VmHWM:") - before_; }

  private:
    static double bytes(std::string const& key)
    {
      std::ifstream status("/proc/self/status");
      for (std::string line; std::getline(status, line);)
        if (line.starts_with(key)) return 1024 * std::stod(line.substr(key.size()));
      return 0;
    }

    double before_;
  };
}
