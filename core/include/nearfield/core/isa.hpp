#pragma once

#include <nearfield/core/api.hpp>

#include <string_view>
#include <vector>

namespace nearfield
{
  /// The instruction sets that built-in kernels may be compiled for.
  enum class isa
  {
    best, ///< the widest available one, or the one named by NEARFIELD_ISA; see selected_isa()
    scalar,
    sse2,
    avx2,   ///< with FMA
    avx512, ///< F, CD, BW, DQ and VL
    neon64
  };

  /// The name in lower case: "scalar", "sse2" ...; "best" for isa::best.
  NEARFIELD_API std::string_view name_of(isa which);

  /// The instruction sets that are built in and that this machine supports, narrowest first; scalar is always
  /// one.
  NEARFIELD_API std::vector<isa> available_isas();

  /// The instruction set that `simd` stands for: the widest available one, unless the environment variable
  /// NEARFIELD_ISA names another. Throws nearfield::error if that one is unknown, not built in, or not
  /// supported by this machine.
  NEARFIELD_API isa selected_isa();

  namespace detail
  {
    /// Resolves isa::best; other values are returned as they are. Throws nearfield::error if the result is
    /// not available.
    NEARFIELD_API isa available(isa which);
  }
}
