#include "seed_table.hpp"

namespace baseline
{
  seed_table const& seed_avx512()
  {
    static constexpr seed_table table = make_seed_table<xsimd::avx512bw>();
    return table;
  }
}
