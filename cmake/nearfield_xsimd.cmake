# The target nearfield_xsimd: the include directory of xsimd, and nothing else.
#
# Debian 12's xsimd target links 'xtl', which is not installed with it, so only its include directory is
# used. For another version, set -Dxsimd_DIR=<directory of xsimdConfig.cmake>, -DCMAKE_PREFIX_PATH=<prefix> or
# -DNEARFIELD_XSIMD_INCLUDE_DIR=<directory that contains xsimd/xsimd.hpp>.
if(TARGET nearfield_xsimd)
  return()
endif()

if(NOT NEARFIELD_XSIMD_INCLUDE_DIR)
  find_package(xsimd CONFIG QUIET)
  if(xsimd_FOUND)
    foreach(target IN ITEMS xsimd xsimd::xsimd) # by package, one of them or both
      if(TARGET ${target})
        get_target_property(nearfield_xsimd_hint ${target} INTERFACE_INCLUDE_DIRECTORIES)
      endif()
    endforeach()
  endif()
endif()
find_path(NEARFIELD_XSIMD_INCLUDE_DIR xsimd/xsimd.hpp HINTS ${nearfield_xsimd_hint}
  DOC "The directory that holds xsimd/xsimd.hpp")
if(NOT EXISTS "${NEARFIELD_XSIMD_INCLUDE_DIR}/xsimd/xsimd.hpp")
  message(FATAL_ERROR "nearfield needs the headers of xsimd (8.1 or later): install libxsimd-dev, or set "
    "NEARFIELD_XSIMD_INCLUDE_DIR to the directory that holds xsimd/xsimd.hpp "
    "(it is '${NEARFIELD_XSIMD_INCLUDE_DIR}')")
endif()

set(nearfield_xsimd_version "")
foreach(part MAJOR MINOR PATCH)
  file(STRINGS "${NEARFIELD_XSIMD_INCLUDE_DIR}/xsimd/config/xsimd_config.hpp" line
    REGEX "define XSIMD_VERSION_${part} ")
  string(REGEX MATCH "[0-9]+" number "${line}")
  list(APPEND nearfield_xsimd_version ${number})
endforeach()
list(JOIN nearfield_xsimd_version "." nearfield_xsimd_version)
if(nearfield_xsimd_version VERSION_LESS 8.1)
  message(FATAL_ERROR "nearfield needs xsimd 8.1 or later: ${NEARFIELD_XSIMD_INCLUDE_DIR} has "
    "${nearfield_xsimd_version}; set NEARFIELD_XSIMD_INCLUDE_DIR")
endif()
message(STATUS "xsimd ${nearfield_xsimd_version}: ${NEARFIELD_XSIMD_INCLUDE_DIR}")

add_library(nearfield_xsimd INTERFACE IMPORTED GLOBAL)
set_target_properties(nearfield_xsimd PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${NEARFIELD_XSIMD_INCLUDE_DIR}")
