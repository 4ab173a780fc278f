#pragma once

#include <cstddef>
#include <exception>
#include <fstream>
#include <functional>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

/// \file
/// What a process does that may take little more address space.

namespace nearfield::test
{
  inline std::size_t address_space_in_use()
  {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }

  /// The message of f, while the process may take so many more bytes of address space.
  inline std::string message_in_little_space(std::function<void()> const& f,
                                             std::size_t bytes = 1 << 20)
  {
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    rlimit const little{address_space_in_use() + bytes, before.rlim_max};
    setrlimit(RLIMIT_AS, &little);
    std::string message;
    try
    {
      f();
    }
    catch (std::exception const& failure)
    {
      message = failure.what();
    }
    setrlimit(RLIMIT_AS, &before);
    return message;
  }
}
