#pragma once

#include <nearfield/kernels/molecular.hpp>
#include <nearfield/p2p/every_isa.hpp>

// a table by types on every instruction set, by nearfield_add_interaction()
NEARFIELD_INTERACTION(nearfield::lennard_jones<3, 3>)
