#include "sweep.hpp"

namespace nearfield::detail
{
  search_table const& sse2_search()
  {
    static constexpr search_table table = make_search_table<xsimd::sse2>();
    return table;
  }
}
