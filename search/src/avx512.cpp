#include "sweep.hpp"

namespace nearfield::detail
{
  search_table const& avx512_search()
  {
    static constexpr search_table table = make_search_table<xsimd::avx512bw>();
    return table;
  }
}
