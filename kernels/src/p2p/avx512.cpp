#include "simd_table.hpp"

namespace nearfield::detail
{
  p2p_table const& avx512_table()
  {
    static constexpr p2p_table table = simd_table<xsimd::avx512bw>(builtin_interactions{});
    return table;
  }
}
