#include "p2p/own_interactions.hpp"

#include <nearfield/p2p/cuda.cuh>

NEARFIELD_CUDA_KERNELS(nearfield::test::softened)
NEARFIELD_CUDA_KERNELS(nearfield::test::mixed)
NEARFIELD_CUDA_KERNELS(nearfield::test::inverse_square)
NEARFIELD_CUDA_KERNELS(nearfield::test::spring)
NEARFIELD_CUDA_KERNELS(nearfield::test::one_way)
NEARFIELD_CUDA_KERNELS(nearfield::test::outer_product)
NEARFIELD_CUDA_KERNELS(nearfield::test::dipole)
NEARFIELD_CUDA_KERNELS(nearfield::test::blobs)
