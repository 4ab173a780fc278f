# FindStarPUMPI: StarPU's library for MPI, of the same version as StarPU::StarPU, through pkg-config, and the MPI that
# CMake finds, which must be the one that StarPU was built with.
#
# Makes StarPU::MPI, and sets StarPUMPI_FOUND and StarPUMPI_PKG_CONFIG_MODULE (the name for Requires in a .pc file).
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  # by the name of StarPU's own module: starpu-1.4 has starpumpi-1.4
  string(REPLACE "starpu-" "starpumpi-" StarPUMPI_PKG_CONFIG_MODULE "${StarPU_PKG_CONFIG_MODULE}")
  pkg_search_module(PC_StarPUMPI QUIET IMPORTED_TARGET "${StarPUMPI_PKG_CONFIG_MODULE}")
endif()
set(MPI_CXX_SKIP_MPICXX ON) # the C interface only
if(StarPU_SIMGRID)
  # SimGrid's MPI, which StarPU links already
  find_path(SMPI_INCLUDE_DIR mpi.h PATH_SUFFIXES smpi NO_DEFAULT_PATH PATHS /usr/include)
  set(MPI_CXX_FOUND "${SMPI_INCLUDE_DIR}")
  if(SMPI_INCLUDE_DIR AND NOT TARGET MPI::MPI_CXX)
    add_library(MPI::MPI_CXX INTERFACE IMPORTED)
    target_include_directories(MPI::MPI_CXX INTERFACE "${SMPI_INCLUDE_DIR}")
  endif()
else()
  find_package(MPI QUIET COMPONENTS CXX)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(StarPUMPI
  REQUIRED_VARS PC_StarPUMPI_LINK_LIBRARIES MPI_CXX_FOUND
  REASON_FAILURE_MESSAGE "install libstarpu-dev, libopenmpi-dev and openmpi-bin (./dev mpi does), or a StarPU built with MPI")

if(StarPUMPI_FOUND AND NOT TARGET StarPU::MPI)
  add_library(StarPU::MPI INTERFACE IMPORTED)
  set_target_properties(StarPU::MPI PROPERTIES INTERFACE_LINK_LIBRARIES "PkgConfig::PC_StarPUMPI;MPI::MPI_CXX")
endif()
