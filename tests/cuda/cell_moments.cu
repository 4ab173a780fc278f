#include "cuda/cell_moments.hpp"

#include <nearfield/p2p/cuda.cuh>

NEARFIELD_CUDA_KERNELS(nearfield::test::moments<2>)
NEARFIELD_CUDA_KERNELS(nearfield::test::moments<3>)
