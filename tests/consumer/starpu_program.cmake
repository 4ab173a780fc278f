# The program of docs/tutorial.md in a folder of its own: by its CMakeLists.txt and, where there is make, by its
# Makefile.
set(folder "${WORK}/starpu_program")
file(REMOVE_RECURSE "${folder}")
file(COPY "${NEARFIELD}/examples/06_in_your_starpu_program/" DESTINATION "${folder}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${folder}" -B "${folder}/build" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXXFLAGS}"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" "-DNEARFIELD_XSIMD_INCLUDE_DIR=${XSIMD}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}/build" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${folder}/build/mine" COMMAND_ERROR_IS_FATAL ANY)

find_program(make make NO_CACHE)
if(make)
  execute_process(
    COMMAND "${make}" -C "${folder}" "CXX=${CXX}" "CXXFLAGS=${CXXFLAGS}"
      "PKG_CONFIG_PATH=${WORK}/prefix/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}"
    COMMAND_ERROR_IS_FATAL ANY)
  set(ENV{LD_LIBRARY_PATH} "${WORK}/prefix/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
  execute_process(COMMAND "${folder}/mine" COMMAND_ERROR_IS_FATAL ANY)
endif()
