# cpack -G DEB: Debian packages of the build folder, in packages/ below it. ./dev package makes them as they are
# meant: shared libraries without CUDA, for the prefix /usr, without run paths.
#
#   libnearfield0.1   the shared libraries     libnearfield-dev   headers, CMake and pkg-config files, link names
#   nearfield         the program
set(CPACK_PACKAGE_NAME nearfield)
set(CPACK_PACKAGE_VENDOR "The nearfield authors")
set(CPACK_PACKAGE_CONTACT "The nearfield authors <nearfield@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "near-field interactions of particles (P2P)")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/nearfield_copyright.cmake")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # and the trigger of ldconfig
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL dev)

set(library libnearfield${nearfield_soversion})
set(same_version "${library} (= ${PROJECT_VERSION})")
set(dev_needs "libxsimd-dev (>= 8.1)")
if(NEARFIELD_HAVE_STARPU)
  string(APPEND dev_needs ", libstarpu-dev, pkg-config | pkgconf")
endif()
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers and link names of nearfield, for CMake and pkg-config.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libnearfield-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)

if(BUILD_SHARED_LIBS)
  list(APPEND CPACK_COMPONENTS_ALL runtime)
  string(PREPEND dev_needs "${same_version}, ")
  set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Shared libraries: P2P kernels, the trees that feed them, StarPU tasks.")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${library})
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${dev_needs}")
if(NEARFIELD_BUILD_APP)
  list(APPEND CPACK_COMPONENTS_ALL program)
  set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "The program nearfield: near fields and radius searches of point files, on cores and GPUs.")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME nearfield)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
  if(BUILD_SHARED_LIBS)
    set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${same_version}")
  endif()
endif()
# Our own libraries, for dpkg-shlibdeps, are those of the build folder.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
include(CPack)
