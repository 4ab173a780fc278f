# Defaults of a build of nearfield itself; a project that includes nearfield makes its own choices.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# The installed program finds our shared libraries relative to itself, so that the tree can be moved,
file(RELATIVE_PATH bin_to_lib "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set(CMAKE_INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
# and StarPU and the CUDA runtime where they were linked from, if that is not a system directory.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# nvcc passes its own #pragma unroll on to the host compiler, which would warn.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas>")
if(NOT CMAKE_UNITY_BUILD) # there a local name shadows what another file keeps to itself
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wshadow>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wshadow>")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives for "text" + std::string: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_UNITY_BUILD)
  # It takes a source that another one includes for a header.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
