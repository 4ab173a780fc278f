#pragma once

#include "half_search.hpp"

#include <nearfield/core/where.hpp>

/// \file
/// The CPU baselines of the radius search, compiled once per instruction set of the build with the flags
/// of the search they are compared with. Each is a shared library that exports one function: they use
/// templates of the standard library, and linked into one program, the linker could keep a copy with
/// instructions that the machine does not support.

namespace baseline
{
  /// Pointers to find_cell_pairs and find_nanoflann_pairs.
  template <class T>
  struct cpu_search_functions
  {
    void (*cell_pairs)(point_columns<T>& points, T cutoff, int cells_per_cutoff,
                       pair_columns& pairs);
    /// null if built without nanoflann
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

  /// The baselines for an available instruction set other than `best`.
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
