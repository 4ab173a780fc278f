// The strategies on a GPU.
#include "../runtime.hpp"
#include "../sum.hpp"

namespace baseline
{
  template class kokkos_sum<float, 2, math::strict>;
  template class kokkos_sum<float, 3, math::strict>;
  template class kokkos_sum<double, 2, math::strict>;
  template class kokkos_sum<double, 3, math::strict>;
}
