# What was not installed is named, with what there is in its place.

# refused(<name> <components> <version> <message>): find_package fails, and says so
function(refused name components version message)
  file(WRITE "${WORK}/missing/${name}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\n"
    "project(missing LANGUAGES CXX)\nfind_package(nearfield ${version} REQUIRED COMPONENTS ${components})\n")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${WORK}/missing/${name}" -B "${WORK}/missing/${name}/build" -G "${GENERATOR}"
      "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DCMAKE_CXX_COMPILER=${CXX}"
      "-DNEARFIELD_XSIMD_INCLUDE_DIR=${XSIMD}"
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
  if(status EQUAL 0)
    message(FATAL_ERROR "find_package(nearfield ${version} COMPONENTS ${components}) succeeded")
  endif()
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(NOT said MATCHES "${message}")
    message(FATAL_ERROR "the message does not say '${message}': ${said}")
  endif()
endfunction()

refused(teapot "kernels teapot" 0.1 "this installation of nearfield has no component 'teapot' .it has core,")
refused(newer kernels 0.2 "nearfield-config.cmake, version: ${VERSION}")
refused(older kernels 0.0 "nearfield-config.cmake, version: ${VERSION}")
if(NOT HAVE_CUDA)
  refused(cuda "kernels cuda" 0.1 "was built without CUDA: .*NEARFIELD_ENABLE_CUDA=ON.*OPTIONAL_COMPONENTS cuda")
endif()
if(NOT COMPONENTS MATCHES "starpu")
  refused(starpu "kernels starpu" 0.1 "no component 'starpu' .*NEARFIELD_ENABLE_STARPU=ON")
endif()
