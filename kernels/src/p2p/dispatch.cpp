#include "builtins.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/p2p/backend.hpp>

namespace nearfield::detail
{
  namespace
  {
    builtin_p2p const& builtins_of(isa where)
    {
      switch (available(where))
      {
#if defined(NEARFIELD_WITH_SSE2)
      case isa::sse2:
        return sse2_builtins();
#endif
#if defined(NEARFIELD_WITH_AVX2)
      case isa::avx2:
        return avx2_builtins();
#endif
#if defined(NEARFIELD_WITH_AVX512)
      case isa::avx512:
        return avx512_builtins();
#endif
#if defined(NEARFIELD_WITH_NEON64)
      case isa::neon64:
        return neon64_builtins();
#endif
      default:
        return scalar_builtins();
      }
    }
  }

  template <class T>
  p2p_kernels<T> builtin_kernels(int interaction, isa where)
  {
    builtin_p2p const& all = builtins_of(where);
    if constexpr (std::same_as<T, float>)
      return all.f32[interaction];
    else
      return all.f64[interaction];
  }
  template p2p_kernels<float> builtin_kernels<float>(int, isa);
  template p2p_kernels<double> builtin_kernels<double>(int, isa);
}
