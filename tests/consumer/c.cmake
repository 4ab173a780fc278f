# A program in C, by CMake without C++ and by pkg-config; the Fortran module; and what the shared libraries show.
set(prefix "${WORK}/prefix")
set(example "${NEARFIELD}/examples/10_from_c/main.c")
set(folder "${WORK}/c")
file(MAKE_DIRECTORY "${folder}")
set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")

foreach(library IN ITEMS c:nf_ fmm3d:[lhst]+3ddirect)
  string(REPLACE ":" ";" library "${library}")
  list(GET library 0 name)
  list(GET library 1 shown)
  execute_process(COMMAND "${NM}" -D --defined-only "${prefix}/${LIBDIR}/libnearfield_${name}.so"
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
  foreach(symbol IN LISTS symbols)
    if(NOT symbol MATCHES " T ${shown}[a-z0-9_]+$")
      message(SEND_ERROR "libnearfield_${name} shows ${symbol}")
    endif()
  endforeach()
endforeach()

function(build_and_run program)
  execute_process(COMMAND ${ARGN} -o "${folder}/${program}" WORKING_DIRECTORY "${folder}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${folder}/${program}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
foreach(part IN ITEMS cflags libs variable=fortran)
  execute_process(COMMAND pkg-config --${part} nearfield-c
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE ".*=" "" part "${part}")
  separate_arguments(${part} UNIX_COMMAND "${flags}")
endforeach()

if(CXXFLAGS MATCHES "-fsanitize") # its programs are linked as C++ in the examples
  return()
endif()
find_program(CC NAMES cc gcc clang)
if(CC)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}/../c_project" -B "${folder}/by_cmake" -G "${GENERATOR}"
      "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_C_COMPILER=${CC}" "-DEXAMPLE=${example}"
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}/by_cmake" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${folder}/by_cmake/from_c" COMMAND_ERROR_IS_FATAL ANY)
  build_and_run(by_pkg_config "${CC}" -std=c99 -Wall -Wextra -pedantic -Werror "${example}" ${cflags}
    ${libs} -lm)
endif()
find_program(FC NAMES gfortran)
if(FC)
  build_and_run(from_fortran "${FC}" ${fortran} "${NEARFIELD}/examples/11_from_fortran/main.f90"
    ${libs})
endif()
