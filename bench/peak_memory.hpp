#pragma once

#include <fstream>
#include <string>

namespace bench
{
  /// How much more memory this process came to hold, at most, than it did when the object was made.
  /// Linux only; 0 elsewhere.
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
