# NEARFIELD_KERNELS: the groups of built-in interactions whose kernels are compiled, one .cpp each for an instruction set
# and one .cu for a precision. nearfield_groups: their names. They are those of the headers that builtin.hpp includes.
set(NEARFIELD_KERNELS all CACHE STRING "Groups of built-in interactions, such as laplace;gravity, or all")

set(header "${CMAKE_CURRENT_SOURCE_DIR}/kernels/include/nearfield/kernels/builtin.hpp")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
file(STRINGS "${header}" known_groups REGEX "^#include <nearfield/kernels/")
list(TRANSFORM known_groups REPLACE ".*/(.+)[.]hpp>.*" "\\1")

set(nearfield_groups ${NEARFIELD_KERNELS})
if(NEARFIELD_KERNELS STREQUAL "all")
  set(nearfield_groups ${known_groups})
endif()
foreach(group IN LISTS nearfield_groups)
  if(NOT group IN_LIST known_groups)
    list(JOIN known_groups ", " known_groups)
    message(FATAL_ERROR "NEARFIELD_KERNELS: '${group}' is none of ${known_groups}, all")
  endif()
endforeach()
foreach(group IN ITEMS laplace gravity gaussian sph)
  if(NOT group IN_LIST nearfield_groups
     AND (NEARFIELD_BUILD_TESTS OR NEARFIELD_BUILD_EXAMPLES OR NEARFIELD_BUILD_BENCH))
    message(FATAL_ERROR "NEARFIELD_KERNELS: tests, examples and benchmarks need laplace;gravity;gaussian;sph; add '${group}', "
      "or set NEARFIELD_BUILD_TESTS, NEARFIELD_BUILD_EXAMPLES and NEARFIELD_BUILD_BENCH to OFF")
  endif()
endforeach()
