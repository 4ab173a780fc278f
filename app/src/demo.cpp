#include "commands.hpp"

namespace nearfield::app
{
  exit_status demo(demo_options const&)
  {
    return success;
  }
}
