#include "handwritten_table.hpp"

namespace baseline
{
  handwritten_table const& handwritten_avx512()
  {
    static constexpr handwritten_table table = make_handwritten_table<xsimd::avx512bw>();
    return table;
  }
}
