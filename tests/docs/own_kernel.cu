// What the documents show of a GPU's kernels for an interaction that is not built in.

// [own_kernel]
#include <nearfield/kernels/molecular.hpp>
#include <nearfield/p2p/cuda.cuh>

NEARFIELD_CUDA_KERNELS(nearfield::lennard_jones<3, 2>)
// [own_kernel]
