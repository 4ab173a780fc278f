#include "lanes_avx2.hpp"
#include "sweep.hpp"

namespace nearfield::detail
{
  search_table const& avx2_search()
  {
    static constexpr search_table table = make_search_table<avx2_lanes>();
    return table;
  }
}
