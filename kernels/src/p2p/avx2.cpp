#include "simd_table.hpp"

namespace nearfield::detail
{
  p2p_table const& avx2_table()
  {
    static constexpr p2p_table table = simd_table<xsimd::fma3<xsimd::avx2>>(builtin_interactions{});
    return table;
  }
}
