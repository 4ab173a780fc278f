#include "seed_table.hpp"

namespace baseline
{
  seed_table const& seed_avx2()
  {
    static constexpr seed_table table = make_seed_table<xsimd::fma3<xsimd::avx2>>();
    return table;
  }
}
