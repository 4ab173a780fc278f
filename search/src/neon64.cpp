#include "sweep.hpp"

namespace nearfield::detail
{
  search_table const& neon64_search()
  {
    static constexpr search_table table = make_search_table<xsimd::neon64>();
    return table;
  }
}
