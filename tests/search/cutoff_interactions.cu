// Interactions of the library that are not built in, on a GPU: what a program that uses them writes.

#include <nearfield/kernels/molecular.hpp>
#include <nearfield/p2p/cuda.cuh>

using nearfield::lennard_jones_tail;
using plane_of_one_type = nearfield::lennard_jones<2, 1, lennard_jones_tail::cut>;
using space_of_one_type = nearfield::lennard_jones<3, 1, lennard_jones_tail::cut>;
NEARFIELD_CUDA_KERNELS(plane_of_one_type)
NEARFIELD_CUDA_KERNELS(space_of_one_type)

using mixture_cut = nearfield::lennard_jones<3, 3, lennard_jones_tail::cut>;
using mixture_shifted = nearfield::lennard_jones<3, 3, lennard_jones_tail::shifted>;
using mixture_switched = nearfield::lennard_jones<3, 3, lennard_jones_tail::switched>;
NEARFIELD_CUDA_KERNELS(mixture_cut)
NEARFIELD_CUDA_KERNELS(mixture_shifted)
NEARFIELD_CUDA_KERNELS(mixture_switched)
