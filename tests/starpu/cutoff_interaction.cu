#include "cutoff_interaction.hpp"

#include <nearfield/p2p/cuda.cuh>

NEARFIELD_CUDA_KERNELS(nearfield::test::tested_density)
