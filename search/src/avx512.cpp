#include "lanes_avx512.hpp"
#include "sweep.hpp"

namespace nearfield::detail
{
  search_table const& avx512_search()
  {
    static constexpr search_table table = make_search_table<avx512_lanes>();
    return table;
  }
}
