#include "table.hpp"

#include <nearfield/core/isa.hpp>
#include <nearfield/p2p/backend.hpp>

#include <atomic>
#include <cstddef>
#include <iterator>

namespace nearfield::detail
{
  namespace
  {
    p2p_table const& find_table(isa which)
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

    // found once: a call on a small box would feel the search
    p2p_table const& table_of(isa which)
    {
      static std::atomic<p2p_table const*> known_tables[8];
      auto const at = static_cast<std::size_t>(which);
      if (at >= std::size(known_tables)) return find_table(which);
      if (auto const* const known = known_tables[at].load(std::memory_order_acquire)) return *known;
      p2p_table const& found = find_table(which);
      known_tables[at].store(&found, std::memory_order_release);
      return found;
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
