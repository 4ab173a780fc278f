#include "sweep.hpp"

namespace nearfield::detail
{
  search_table const& scalar_search()
  {
    static constexpr search_table table = make_search_table<void>();
    return table;
  }
}
