#pragma once

#include "half_search.hpp"

#include <nearfield/core/isa.hpp>

/// \file
/// The CPU baselines of the radius search, compiled once for each instruction set of the build,
/// with the flags of the search that they are timed beside. Each is a library of its own that shows
/// one function: they use templates of the standard library, of which a program would keep one copy
/// for all, and that one may be of instructions which the machine does not have.

namespace baseline
{
  /// Same arguments as the functions of these names.
  template <class T>
  struct cpu_search_functions
  {
    void (*cell_pairs)(point_columns<T>& points, T cutoff, int cells_per_cutoff,
                       pair_columns& pairs);
    /// Null where nanoflann was not there to build with.
    void (*nanoflann_pairs)(point_columns<T> const& points, T cutoff, int leaf_size,
                            pair_columns& pairs);
  };

  struct cpu_search_table
  {
    cpu_search_functions<float> f32;
    cpu_search_functions<double> f64;

    template <class T>
    [[nodiscard]] cpu_search_functions<T> const& of() const
    {
      if constexpr (sizeof(T) == 4)
        return f32;
      else
        return f64;
    }
  };

  cpu_search_table const& cpu_search_scalar();
  cpu_search_table const& cpu_search_sse2();
  cpu_search_table const& cpu_search_avx2();
  cpu_search_table const& cpu_search_avx512();
  cpu_search_table const& cpu_search_neon64();

  /// Those for one instruction set that is available, and not `best`.
  inline cpu_search_table const& cpu_search(nearfield::isa which)
  {
    switch (which)
    {
#ifdef NEARFIELD_WITH_SSE2
    case nearfield::isa::sse2:
      return cpu_search_sse2();
#endif
#ifdef NEARFIELD_WITH_AVX2
    case nearfield::isa::avx2:
      return cpu_search_avx2();
#endif
#ifdef NEARFIELD_WITH_AVX512
    case nearfield::isa::avx512:
      return cpu_search_avx512();
#endif
#ifdef NEARFIELD_WITH_NEON64
    case nearfield::isa::neon64:
      return cpu_search_neon64();
#endif
    default:
      return cpu_search_scalar();
    }
  }
}
