#pragma once

#include "functors.hpp"
#include "strategies.hpp"

/// \file
/// kokkos_runtime, for one source file of each back-end.

namespace baseline
{
  kokkos_runtime::kokkos_runtime(int threads)
  {
    Kokkos::InitializationSettings settings;
    settings.set_disable_warnings(true);
    if (threads > 0) settings.set_num_threads(threads);
    Kokkos::initialize(settings);
  }

  kokkos_runtime::~kokkos_runtime()
  {
    Kokkos::finalize();
  }

  std::string kokkos_runtime::description()
  {
    return "Kokkos " + std::to_string(KOKKOS_VERSION_MAJOR) + "." +
           std::to_string(KOKKOS_VERSION_MINOR) + "." + std::to_string(KOKKOS_VERSION_PATCH) +
           ", " + detail::space::name();
  }

  int kokkos_runtime::concurrency()
  {
    return detail::space().concurrency();
  }

  int kokkos_runtime::register_bytes()
  {
    return detail::register_bytes;
  }
}
