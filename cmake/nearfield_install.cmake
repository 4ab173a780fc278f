# Installation, find_package(nearfield COMPONENTS ...) and pkg-config for every component that was built. The
# install components for packages are the program, the shared libraries (`runtime`), and what is needed to
# compile against them (`dev`).
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/nearfield")
get_property(components GLOBAL PROPERTY nearfield_components)

set(component_needs "")
foreach(name IN LISTS components)
  install(TARGETS nearfield_${name} EXPORT nearfield-${name}-targets
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev
    ARCHIVE COMPONENT dev
    FILE_SET HEADERS COMPONENT dev FILE_SET cuh COMPONENT dev FILE_SET fortran COMPONENT dev)
  install(EXPORT nearfield-${name}-targets NAMESPACE nearfield::
    DESTINATION "${package_dir}" COMPONENT dev)

  get_property(needs GLOBAL PROPERTY nearfield_${name}_needs)
  string(APPEND component_needs "set(nearfield_${name}_needs ${needs})\n")

  set(pc_name nearfield-${name})
  set(pc_requires "")
  set(pc_cflags "")
  set(pc_libs "")
  set(pc_variables "")
  if(name STREQUAL "cuda")
    set(pc_variables "has_cuda=${NEARFIELD_HAVE_CUDA}\n")
  elseif(name STREQUAL "c")
    set(pc_variables "fortran=\${includedir}/nearfield/nearfield.f90\n")
  elseif(name STREQUAL "kernels")
    set(pc_variables "add_interaction=\${libdir}/cmake/nearfield/add_interaction.sh\n")
  endif()
  foreach(need IN LISTS needs)
    if(need MATCHES "^nearfield::(.+)$")
      string(APPEND pc_requires " nearfield-${CMAKE_MATCH_1}")
    elseif(need STREQUAL "StarPU::StarPU")
      string(APPEND pc_requires " ${StarPU_PKG_CONFIG_MODULE}")
    elseif(need STREQUAL "StarPU::MPI")
      string(APPEND pc_requires " ${StarPUMPI_PKG_CONFIG_MODULE}")
      foreach(folder IN LISTS MPI_CXX_INCLUDE_DIRS)
        string(APPEND pc_cflags " -I${folder}")
      endforeach()
      foreach(library IN LISTS MPI_CXX_LIBRARIES)
        string(APPEND pc_libs " ${library}")
      endforeach()
    elseif(need STREQUAL "ZLIB::ZLIB")
      if(NOT BUILD_SHARED_LIBS)
        string(APPEND pc_requires " zlib")
      endif()
    elseif(need STREQUAL "Threads::Threads")
      string(APPEND pc_libs " -pthread")
    elseif(need STREQUAL "CUDA::cudart")
      string(APPEND pc_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart")
    elseif(need STREQUAL "CUDA::cudart_static")
      string(APPEND pc_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -pthread")
    elseif(need STREQUAL "nearfield_xsimd")
      # Leave out the compiler's own directories: naming one would change its search order.
      if(NOT NEARFIELD_XSIMD_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
        string(APPEND pc_cflags " -isystem ${NEARFIELD_XSIMD_INCLUDE_DIR}")
      endif()
    else()
      message(FATAL_ERROR "nearfield_install.cmake: say what '${need}', linked by the component "
        "${name}, is in a .pc file")
    endif()
  endforeach()
  get_target_property(type nearfield_${name} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    string(PREPEND pc_libs "-L\${libdir} -lnearfield_${name}")
  endif()
  file(RELATIVE_PATH pc_to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
  string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
  configure_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/nearfield.pc.in"
    "${CMAKE_CURRENT_BINARY_DIR}/${pc_name}.pc" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${pc_name}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)
endforeach()

configure_package_config_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/nearfield-config.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/nearfield-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/nearfield-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/nearfield-config.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/nearfield-config-version.cmake"
  "${CMAKE_CURRENT_SOURCE_DIR}/cmake/nearfield_interaction.cmake"
  "${CMAKE_CURRENT_SOURCE_DIR}/cmake/nearfield_isa_flags.cmake"
  "${CMAKE_CURRENT_SOURCE_DIR}/cmake/nearfield_xsimd.cmake"
  "${CMAKE_CURRENT_SOURCE_DIR}/cmake/FindStarPU.cmake"
  "${CMAKE_CURRENT_SOURCE_DIR}/cmake/FindStarPUMPI.cmake"
  DESTINATION "${package_dir}" COMPONENT dev)
install(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/cmake/interaction"
  DESTINATION "${package_dir}" COMPONENT dev)
set(compile_each_isa "")
foreach(isa IN LISTS NEARFIELD_ISAS)
  list(JOIN nearfield_flags_${isa} " " flags)
  string(REGEX REPLACE "-(W|fno-sanitize)[^ ]*" "" flags "${flags}")
  string(APPEND compile_each_isa "compile ${isa} '${nearfield_arch_${isa}}' '${flags}'\n")
endforeach()
configure_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/add_interaction.sh.in"
  "${CMAKE_CURRENT_BINARY_DIR}/add_interaction.sh" @ONLY)
install(PROGRAMS "${CMAKE_CURRENT_BINARY_DIR}/add_interaction.sh"
  DESTINATION "${package_dir}" COMPONENT dev)
install(FILES "${CMAKE_CURRENT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)
