#pragma once

#include <nearfield/core/where.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace nearfield::app
{
  using nearfield::detail::cpu_name;

  /// The number of logical processors that this process may use.
  int cpu_count();

  /// The bytes that this process can still allocate: the memory available on the machine, or what the limits of
  /// its control groups (version 2) leave, whichever is less. Page cache that the system can drop counts
  /// as available. The largest std::uint64_t if unknown. `root` is the directory of proc and sys.
  std::uint64_t available_memory(std::filesystem::path const& root = "/");

  /// Where address space is limited (`ulimit -v`), all threads share one heap from now on: each would otherwise
  /// reserve 64 MiB or more.
  void spare_address_space();

  /// The peak resident memory of this process in bytes; 0 if unknown.
  std::uint64_t peak_memory();
}
