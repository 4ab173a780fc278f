#pragma once

#include "builtins.hpp"

#include <nearfield/p2p/simd.hpp>

namespace nearfield::detail
{
  /// Instantiates every built-in interaction for Arch. The files that use it are compiled with the
  /// flags of Arch, so all that they instantiate must carry Arch in its name (a test reads the symbols).
  template <class Arch, class... Ks>
  constexpr builtin_p2p simd_builtins(type_list<Ks...>)
  {
    return {{simd_kernels<Ks, float, Arch>()...}, {simd_kernels<Ks, double, Arch>()...}};
  }
}
