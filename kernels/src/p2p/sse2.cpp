#include "simd_table.hpp"

namespace nearfield::detail
{
  p2p_table const& sse2_table()
  {
    static constexpr p2p_table table = simd_table<xsimd::sse2>(builtin_interactions{});
    return table;
  }
}
