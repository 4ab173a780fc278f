# nearfield_add_component(<name> [SOURCES ...] [PUBLIC ...] [PRIVATE ...])
#
# Makes the library target nearfield_<name>, alias nearfield::<name>, from the public headers below
# include/ and the given sources, and registers it for install and export.
function(nearfield_add_component name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(target nearfield_${name})
  add_library(${target} ${arg_SOURCES})
  add_library(nearfield::${name} ALIAS ${target})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/include/*.hpp")
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${headers})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
endfunction()

# nearfield_add_test(<name> LABEL unit|data|starpu SOURCES ... LINK ...)
function(nearfield_add_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${arg_LABEL})
endfunction()
