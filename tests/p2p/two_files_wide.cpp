#include "two_files.hpp"

nearfield::test::compiled_kernels nearfield::test::of_wide_file()
{
  return {NEARFIELD_ISA_NAME, kernels_of<double, shared_by_files>(nearfield::scalar),
          kernels_of<double, shared_by_files>(nearfield::simd)};
}
