#include "argon.hpp"

#include <nearfield/p2p/cuda.cuh>

NEARFIELD_CUDA_KERNELS(bench::argon)
