#pragma once

#include <string>

namespace nearfield::app
{
  /// The processor's name as the system gives it.
  std::string cpu_name();

  /// The number of logical processors that this process may use.
  int cpu_count();

  /// "sse2 avx2": what is built in and runs here.
  std::string available_isa_names();
}
