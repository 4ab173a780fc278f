# Before 1.0 a minor version may change the interface.
set(nearfield_soversion ${PROJECT_VERSION_MAJOR})
if(nearfield_soversion EQUAL 0)
  set(nearfield_soversion 0.${PROJECT_VERSION_MINOR})
endif()

# What all that is compiled into a library has in common. PUBLIC or PRIVATE: whose code is C++20 too.
function(nearfield_set_library_flags target)
  # an including project may have no build type, which is CMake's default and optimises nothing
  target_compile_options(${target} PRIVATE "$<$<AND:$<CONFIG:>,$<COMPILE_LANGUAGE:CXX>>:-O3>")
  target_compile_features(${target} ${ARGN} cxx_std_20)
  # A shared library shows what NEARFIELD_API says (core/config.hpp), and weak copies of the standard
  # library's templates over its own types, as every C++ library does.
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# nearfield_add_component(<name> [SHARED] [SOURCES ...] [PUBLIC ...] [PRIVATE ...])
#
# Makes the library target nearfield_<name>, alias nearfield::<name>, from the public headers below
# include/ (*.hpp, *.h; *.cuh as a set of their own) and the given sources (none: a header-only target), and
# registers it for install, export and pkg-config. PUBLIC and PRIVATE name what it links. A room sees the headers of
# what it links, and no others. SHARED: a shared library in every build, for users in other languages than C++20.
function(nearfield_add_component name)
  cmake_parse_arguments(arg "SHARED" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(target nearfield_${name})
  set(scope PUBLIC)
  if(arg_SOURCES)
    set(type "")
    set(users PUBLIC)
    if(arg_SHARED)
      set(type SHARED)
      set(users PRIVATE)
    endif()
    add_library(${target} ${type} ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE})
    nearfield_set_library_flags(${target} ${users})
    set_target_properties(${target} PROPERTIES
      INSTALL_RPATH "$ORIGIN" # they find each other
      VERSION ${PROJECT_VERSION}
      SOVERSION ${nearfield_soversion})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
    target_compile_features(${target} INTERFACE cxx_std_20)
  endif()
  add_library(nearfield::${name} ALIAS ${target})
  target_link_libraries(${target} ${scope} ${arg_PUBLIC})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})

  # CMake makes C++ translation units of header sets, not CUDA ones: those of *.cuh are made here.
  set(include "${CMAKE_CURRENT_SOURCE_DIR}/include")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${include}/*.hpp" "${include}/*.h")
  if(headers)
    target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS include FILES ${headers})
    set_target_properties(${target} PROPERTIES
      VERIFY_INTERFACE_HEADER_SETS ON INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
  endif()
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${include}/*.cuh")
  if(headers)
    target_sources(${target} ${scope} FILE_SET cuh TYPE HEADERS BASE_DIRS include FILES ${headers})
  endif()
  if(headers AND NEARFIELD_HAVE_CUDA)
    add_library(${target}_cuh OBJECT EXCLUDE_FROM_ALL)
    # to PTX, so that g++ need not read them as well; nvcc makes PTX for one architecture only
    set_target_properties(${target}_cuh PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES 90-virtual)
    target_link_libraries(${target}_cuh PRIVATE ${target})
    foreach(header IN LISTS headers)
      file(RELATIVE_PATH header "${include}" "${header}")
      set(unit "${CMAKE_CURRENT_BINARY_DIR}/${target}_cuh/${header}.cu")
      file(CONFIGURE OUTPUT "${unit}" CONTENT "#include <${header}>\n")
      target_sources(${target}_cuh PRIVATE "${unit}")
    endforeach()
    add_dependencies(nearfield_cuda_headers ${target}_cuh)
  endif()

  # What the package config and the .pc file of this component have to bring along.
  set(needs ${arg_PUBLIC} ${arg_PRIVATE})
  if(arg_SHARED AND NOT BUILD_SHARED_LIBS) # it holds all others
    list(FILTER needs INCLUDE REGEX "^nearfield::c$")
  endif()
  set_property(GLOBAL APPEND PROPERTY nearfield_components ${name})
  set_property(GLOBAL PROPERTY nearfield_${name}_needs "${needs}")
endfunction()

# nearfield_show_symbols(<name> <file>)
#
# A shared component shows the symbols that the file, a version script, lists.
function(nearfield_show_symbols name file)
  cmake_path(ABSOLUTE_PATH file)
  target_link_options(nearfield_${name} PRIVATE "LINKER:--version-script=${file}")
  set_target_properties(nearfield_${name} PROPERTIES LINK_DEPENDS "${file}")
endfunction()

# nearfield_generate(<variable> <template> <file> [<compile option>...])
#
# Makes a source of a template, whose @names@ are variables of the caller, in the build folder, and appends it to
# <variable>: for files that only instantiate, one for each instruction set or precision. It includes headers as the
# template would.
function(nearfield_generate variable template file)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${file}")
  configure_file("${template}" "${source}" @ONLY)
  cmake_path(ABSOLUTE_PATH template)
  cmake_path(GET template PARENT_PATH folder)
  set_property(SOURCE "${source}" APPEND PROPERTY INCLUDE_DIRECTORIES "${folder}")
  set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS ${ARGN})
  set(${variable} ${${variable}} "${source}" PARENT_SCOPE)
endfunction()

# nearfield_add_cuda_sources(<room> SOURCES ... [LINK <room>...])
#
# What a room adds to the component cuda. That is one library, but the sources of each room are compiled apart, so
# that they see the headers of what the room links, and no others. LINK: rooms whose headers in src/cuda they see too.
function(nearfield_add_cuda_sources room)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  set(target nearfield_${room}_cuda)
  add_library(${target} OBJECT ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE nearfield::${room} ${NEARFIELD_CUDART})
  target_include_directories(${target} INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/src/cuda")
  list(TRANSFORM arg_LINK REPLACE "(.+)" "nearfield_\\1_cuda")
  target_link_libraries(${target} PUBLIC ${arg_LINK})
  nearfield_set_library_flags(${target} PUBLIC)
  if(NEARFIELD_HAVE_CUDA)
    target_compile_definitions(${target} PRIVATE NEARFIELD_HAS_CUDA)
    # a conversion of soa<T> that soa<T const> has not, by its `requires`, which nvcc does not take for an answer
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-diag-suppress=554>")
  endif()
  set_property(GLOBAL APPEND PROPERTY nearfield_cuda_objects "$<TARGET_OBJECTS:${target}>")
endfunction()

# nearfield_add_test(<name> LABEL unit|data|starpu|gpu [ONCE] [LEVEL O0|O1|O2] SOURCES ... LINK ...)
#
# Makes a GoogleTest program, a part of the target tests_<label>, compiled at LEVEL (tests/CMakeLists.txt). ONCE:
# its answer does not depend on how nearfield was compiled (a second label, `once`). Its tests run one by one,
# except where NEARFIELD_TEST_BY_PROGRAM says otherwise, and under the labels starpu and gpu, where one start of
# StarPU or CUDA, which takes longer than most tests, serves the whole program. Under gpu (with CUDA only) a
# program is skipped where there is no device, and has the GPU to itself.
function(nearfield_add_test name)
  cmake_parse_arguments(arg "ONCE" "LABEL;LEVEL" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main)
  target_compile_features(${name} PRIVATE cxx_std_20)
  if(NOT arg_LEVEL)
    set(arg_LEVEL ${NEARFIELD_TEST_LEVEL})
  endif()
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-${arg_LEVEL}> ${nearfield_value_sanitizers})
  if(TARGET nearfield_test_headers_${arg_LEVEL})
    target_precompile_headers(${name} REUSE_FROM nearfield_test_headers_${arg_LEVEL})
  endif()
  set(labels ${arg_LABEL})
  if(arg_ONCE)
    list(APPEND labels once)
  endif()
  if(NOT TARGET tests_${arg_LABEL})
    add_custom_target(tests_${arg_LABEL})
  endif()
  add_dependencies(tests_${arg_LABEL} ${name})
  if(arg_LABEL STREQUAL "starpu")
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS starpu SKIP_RETURN_CODE 77 PROCESSORS 2)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*thread")
      target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/starpu/thread_sanitizer.cpp")
    endif()
  elseif(arg_LABEL STREQUAL "gpu")
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/gpu_main.cpp")
    target_link_libraries(${name} PRIVATE nearfield::cuda ${NEARFIELD_CUDART})
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RESOURCE_LOCK gpu)
  elseif(NEARFIELD_TEST_BY_PROGRAM OR arg_ONCE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${labels}")
  else()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS ${arg_LABEL})
  endif()
endfunction()

# nearfield_add_message(<case> <message> [LINES <n>] [INCLUDE <directory> ...])
#
# What the compiler says of a wrong program: messages.cpp of this topic with CASE_<case> defined, compiled without
# flags, in at most so many LINES. An empty message: the program is right.
function(nearfield_add_message case message)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "LINES" "INCLUDE")
  set(right OFF)
  if(NOT message)
    set(right ON)
  endif()
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME topic)
  set(test ${topic}_message.${case})
  set(rooms core kernels tree search runtime runtime/mpi adapters)
  list(TRANSFORM rooms REPLACE "(.+)" "-I${PROJECT_SOURCE_DIR}/\\1/include")
  list(TRANSFORM arg_INCLUDE PREPEND "-isystem")
  add_test(NAME ${test}
    COMMAND ${CMAKE_COMMAND} "-DLINES=${arg_LINES}" -D RIGHT=${right} -P "${PROJECT_SOURCE_DIR}/tests/message.cmake"
      -- ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -fno-diagnostics-color -DCASE_${case} ${rooms} ${arg_INCLUDE}
      "-I${PROJECT_SOURCE_DIR}/tests" "${CMAKE_CURRENT_SOURCE_DIR}/messages.cpp")
  set_tests_properties(${test} PROPERTIES LABELS "unit;compiler")
  if(message)
    set_tests_properties(${test} PROPERTIES
      PASS_REGULAR_EXPRESSION "${message}" FAIL_REGULAR_EXPRESSION "lines; [0-9]+ are enough")
  endif()
endfunction()

# nearfield_add_fuzzer(<name> SOURCES ... LINK ...)
#
# Makes a libFuzzer program of the target `fuzzers`, where NEARFIELD_BUILD_FUZZERS is on (clang); its test
# runs for NEARFIELD_FUZZ_SECONDS. What it links is compiled so that the fuzzer sees the branches.
function(nearfield_add_fuzzer name)
  if(NOT NEARFIELD_BUILD_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  foreach(library IN LISTS arg_LINK)
    get_target_property(target ${library} ALIASED_TARGET)
    get_target_property(instrumented ${target} nearfield_instrumented)
    if(NOT instrumented)
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
      set_target_properties(${target} PROPERTIES nearfield_instrumented TRUE)
    endif()
  endforeach()
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name})
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${name}_corpus")
  add_test(NAME ${name} COMMAND ${name} -max_total_time=${NEARFIELD_FUZZ_SECONDS} -timeout=10
    -rss_limit_mb=2048 "${CMAKE_CURRENT_BINARY_DIR}/${name}_corpus")
  set_tests_properties(${name} PROPERTIES LABELS fuzz)
endfunction()
