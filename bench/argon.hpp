#pragma once

#include <nearfield/kernels/molecular.hpp>

namespace bench
{
  /// Energy, force and virial of argon.
  using argon = nearfield::lennard_jones<3>;
}
