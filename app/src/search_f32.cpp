#include "search_impl.hpp"

namespace nearfield::app
{
  template void check_lengths<float>(search_options const&);
  template search_result search_points<float>(named_points const&, search_options const&);
}
