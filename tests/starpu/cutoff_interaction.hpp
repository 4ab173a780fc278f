#pragma once

#include <nearfield/kernels/sph.hpp>

namespace nearfield::test
{
#if defined(NEARFIELD_TEST_CUDA)
  /// Its CUDA kernels are in cutoff_interaction.cu.
  struct tested_density : sph_density<3>
  {
    static constexpr bool has_cuda = true;
  };
#else
  using tested_density = sph_density<3>;
#endif
}
