#include "instantiate.cuh"

NEARFIELD_INSTANTIATE_CUDA_SEARCH(double, 3)
