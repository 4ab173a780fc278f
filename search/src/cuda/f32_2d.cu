#include "instantiate.cuh"

NEARFIELD_INSTANTIATE_CUDA_SEARCH(float, 2)
