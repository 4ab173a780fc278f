#include "sweep.hpp"

namespace nearfield::detail
{
  search_table const& avx2_search()
  {
    static constexpr search_table table = make_search_table<xsimd::fma3<xsimd::avx2>>();
    return table;
  }
}
