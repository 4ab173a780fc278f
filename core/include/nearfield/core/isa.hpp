#pragma once

#include <nearfield/core/api.hpp>

#include <string_view>
#include <vector>

namespace nearfield
{
  /// The instruction sets that built-in kernels may be compiled for.
  enum class isa
  {
    best, ///< the widest that is built in and that this machine has, or NEARFIELD_ISA
    scalar,
    sse2,
    avx2,   ///< with FMA
    avx512, ///< F, CD, BW, DQ and VL
    neon64
  };

  /// "sse2", "avx2" ...
  NEARFIELD_API std::string_view name_of(isa which);

  /// What is built in and runs on this machine, narrowest first; scalar always.
  NEARFIELD_API std::vector<isa> available_isas();

  /// The instruction set that `simd` stands for: the widest available one, unless the environment
  /// variable NEARFIELD_ISA names another. Throws error when that one is unknown, not built in, or not
  /// on this machine.
  NEARFIELD_API isa selected_isa();

  namespace detail
  {
    /// The instruction set that this one stands for. Throws error where it is not available.
    NEARFIELD_API isa available(isa which);
  }
}
