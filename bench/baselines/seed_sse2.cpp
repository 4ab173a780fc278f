#include "seed_table.hpp"

namespace baseline
{
  seed_table const& seed_sse2()
  {
    static constexpr seed_table table = make_seed_table<xsimd::sse2>();
    return table;
  }
}
