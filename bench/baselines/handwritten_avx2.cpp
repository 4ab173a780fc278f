#include "handwritten_table.hpp"

namespace baseline
{
  handwritten_table const& handwritten_avx2()
  {
    static constexpr handwritten_table table = make_handwritten_table<xsimd::fma3<xsimd::avx2>>();
    return table;
  }
}
