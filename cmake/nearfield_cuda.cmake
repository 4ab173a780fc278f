# Sets NEARFIELD_HAVE_CUDA: whether CUDA code is compiled, from NEARFIELD_ENABLE_CUDA; NEARFIELD_CUDA_RUNTIME:
# Shared or Static; and NEARFIELD_CUDART: the runtime library that CUDA code links. The last two are empty
# without CUDA.
set(NEARFIELD_HAVE_CUDA FALSE)
set(NEARFIELD_CUDA_RUNTIME "")
set(NEARFIELD_CUDART "")
if(NOT NEARFIELD_ENABLE_CUDA)
  return()
endif()

# A project that includes this one must enable CUDA itself, since its programs link the CUDA code.
if(NOT PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CUDA_COMPILER)
  if(NOT NEARFIELD_ENABLE_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "NEARFIELD_ENABLE_CUDA=${NEARFIELD_ENABLE_CUDA}, but the project that includes nearfield "
      "has no CUDA: write project(... LANGUAGES CXX CUDA) there, or set NEARFIELD_ENABLE_CUDA=OFF")
  endif()
  return()
endif()

# sm_90 (H100, H200) and its PTX, which the driver compiles for newer GPUs at load time. Compile time grows
# with the number of architectures: name one or two.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPUs to compile for, by compute capability: 90, or \"80;90\"")
endif()

# CMake searches for nvcc only in PATH.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(nvcc nvcc PATHS /usr/local/cuda/bin NO_CACHE)
  if(nvcc)
    set(ENV{CUDACXX} "${nvcc}")
  endif()
endif()
if(NEARFIELD_ENABLE_CUDA STREQUAL "AUTO")
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    return()
  endif()
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
  set(too_old "nearfield needs CUDA 12 or later, for C++20: ${CMAKE_CUDA_COMPILER} is "
    "${CMAKE_CUDA_COMPILER_VERSION}; set CMAKE_CUDA_COMPILER, or NEARFIELD_ENABLE_CUDA=OFF")
  if(NEARFIELD_ENABLE_CUDA STREQUAL "AUTO")
    message(STATUS ${too_old})
    return()
  endif()
  message(FATAL_ERROR ${too_old})
endif()
find_package(CUDAToolkit REQUIRED)
set(NEARFIELD_HAVE_CUDA TRUE)
add_custom_target(nearfield_cuda_headers COMMENT "Every *.cuh compiles alone")
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know that nvcc 12 supports C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  if(NOT PROJECT_IS_TOP_LEVEL) # for .cu files that include our headers
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20 PARENT_SCOPE)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20 PARENT_SCOPE)
  endif()
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)

# Device code makes up most of the size of CUDA programs; compression reduces it to two thirds.
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xfatbin=-compress-all>")

# One CUDA runtime per process: two would each have their own errors and current device. StarPU with CUDA links
# the shared runtime, and our shared libraries must too, since others may be in the process. Otherwise the
# static one, which is also CMake's default in user projects, lets programs start without an installed toolkit.
if(StarPU_CUDA OR BUILD_SHARED_LIBS)
  set(NEARFIELD_CUDA_RUNTIME Shared)
  set(NEARFIELD_CUDART CUDA::cudart)
else()
  set(NEARFIELD_CUDA_RUNTIME Static)
  set(NEARFIELD_CUDART CUDA::cudart_static)
endif()
set(CMAKE_CUDA_RUNTIME_LIBRARY ${NEARFIELD_CUDA_RUNTIME})
if(NEARFIELD_HAVE_STARPU AND NOT StarPU_CUDA)
  message(STATUS "StarPU ${StarPU_VERSION} was built without CUDA: its tasks will run on the CPU only. "
    "'./dev starpu-cuda' builds one with CUDA; then: cmake --fresh --preset cuda")
endif()
