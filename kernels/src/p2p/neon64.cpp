#include "simd_table.hpp"

namespace nearfield::detail
{
  p2p_table const& neon64_table()
  {
    static constexpr p2p_table table = simd_table<xsimd::neon64>(builtin_interactions{});
    return table;
  }
}
