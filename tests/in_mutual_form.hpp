#pragma once

#include <nearfield/p2p/near_field.hpp>

namespace nearfield::test
{
  inline near_field_options in_mutual_form(near_field_options options)
  {
    options.form = pair_form::mutual;
    return options;
  }
}
