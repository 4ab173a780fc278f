#pragma once

#include <nearfield/kernels/lennard_jones.hpp>

namespace bench
{
  /// Energy, force and virial of argon.
  using argon = nearfield::lennard_jones<3>;
}
