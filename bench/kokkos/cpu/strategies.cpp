// The strategies on the CPU, compiled once for each NEARFIELD_KOKKOS_MATH.
#include "../sum.hpp"

namespace baseline
{
  template class kokkos_sum<float, 2, math::NEARFIELD_KOKKOS_MATH>;
  template class kokkos_sum<float, 3, math::NEARFIELD_KOKKOS_MATH>;
  template class kokkos_sum<double, 2, math::NEARFIELD_KOKKOS_MATH>;
  template class kokkos_sum<double, 3, math::NEARFIELD_KOKKOS_MATH>;
}
