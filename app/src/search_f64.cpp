#include "search_impl.hpp"

namespace nearfield::app
{
  template void check_lengths<double>(search_options const&);
  template search_result search_points<double>(named_points const&, search_options const&);
}
