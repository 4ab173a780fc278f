#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace nearfield::app
{
  /// The processor's name as the system gives it.
  std::string cpu_name();

  /// The number of logical processors that this process may use.
  int cpu_count();

  /// How many bytes this process can still take: what the machine has available, or what the limits
  /// of its control groups (version 1 or 2) leave, whichever is less. Page cache that the system
  /// can drop counts as available. The largest number where the system does not tell. `root` holds
  /// proc and sys.
  std::uint64_t available_memory(std::filesystem::path const& root = "/");

  /// The most bytes of memory that this process has had.
  std::uint64_t peak_memory();
}
