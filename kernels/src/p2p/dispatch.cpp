#include "table.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/p2p/backend.hpp>

namespace nearfield::detail
{
  namespace
  {
    p2p_table const& table_of(isa which)
    {
      switch (available(which))
      {
#if defined(NEARFIELD_WITH_SSE2)
      case isa::sse2:
        return sse2_table();
#endif
#if defined(NEARFIELD_WITH_AVX2)
      case isa::avx2:
        return avx2_table();
#endif
#if defined(NEARFIELD_WITH_AVX512)
      case isa::avx512:
        return avx512_table();
#endif
#if defined(NEARFIELD_WITH_NEON64)
      case isa::neon64:
        return neon64_table();
#endif
      default:
        return scalar_table();
      }
    }
  }

  template <class T>
  p2p_kernels<T> builtin_kernels(int interaction, isa which)
  {
    p2p_table const& table = table_of(which);
    if constexpr (std::same_as<T, float>)
      return table.f32[interaction];
    else
      return table.f64[interaction];
  }
  template p2p_kernels<float> builtin_kernels<float>(int, isa);
  template p2p_kernels<double> builtin_kernels<double>(int, isa);
}
