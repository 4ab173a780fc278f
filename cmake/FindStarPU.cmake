# FindStarPU: the task runtime (https://starpu.gitlabpages.inria.fr), through pkg-config.
#
# Makes StarPU::StarPU, and sets StarPU_FOUND, StarPU_VERSION, StarPU_CUDA and StarPU_SIMGRID (whether it was built
# with CUDA, and whether it simulates) and StarPU_PKG_CONFIG_MODULE (the name for Requires in a .pc file). StarPU 1.4
# also installs a starpu-1.3.pc; only the version distinguishes them.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_search_module(PC_StarPU QUIET IMPORTED_TARGET starpu-1.4 starpu-1.3)
endif()
set(StarPU_VERSION "${PC_StarPU_VERSION}")
set(StarPU_PKG_CONFIG_MODULE "${PC_StarPU_MODULE_NAME}")

set(StarPU_CUDA FALSE)
set(StarPU_SIMGRID FALSE)
if(PC_StarPU_FOUND)
  find_file(starpu_config starpu_config.h HINTS ${PC_StarPU_INCLUDE_DIRS} NO_CACHE)
  if(starpu_config)
    file(STRINGS "${starpu_config}" uses_cuda REGEX "^#define STARPU_USE_CUDA 1")
    if(uses_cuda)
      set(StarPU_CUDA TRUE)
    endif()
    file(STRINGS "${starpu_config}" simulates REGEX "^#define STARPU_SIMGRID 1")
    if(simulates)
      set(StarPU_SIMGRID TRUE)
    endif()
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(StarPU
  REQUIRED_VARS PC_StarPU_LINK_LIBRARIES
  VERSION_VAR StarPU_VERSION
  REASON_FAILURE_MESSAGE "pkg-config knows neither starpu-1.4 nor starpu-1.3: install libstarpu-dev and pkg-config, or add the directory of StarPU's .pc file to PKG_CONFIG_PATH")

if(StarPU_FOUND AND NOT TARGET StarPU::StarPU)
  add_library(StarPU::StarPU INTERFACE IMPORTED)
  set_target_properties(StarPU::StarPU PROPERTIES INTERFACE_LINK_LIBRARIES PkgConfig::PC_StarPU)
endif()
