#pragma once

#include <nearfield/kernels/lennard_jones.hpp>

namespace nearfield::test
{
#if defined(NEARFIELD_TEST_CUDA)
  /// Its CUDA kernels are in cutoff_interaction.cu.
  struct tested_lennard_jones : lennard_jones_cutoff<3>
  {
    static constexpr bool has_cuda = true;
  };
#else
  using tested_lennard_jones = lennard_jones_cutoff<3>;
#endif
}
