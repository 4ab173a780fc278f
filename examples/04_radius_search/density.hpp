#pragma once

#include <nearfield/kernels/sph.hpp>
#include <nearfield/p2p/every_isa.hpp>

// an interaction of the library that is not built in: compiled by nearfield_add_interaction() in ../CMakeLists.txt
NEARFIELD_INTERACTION(nearfield::sph_density<3>)
