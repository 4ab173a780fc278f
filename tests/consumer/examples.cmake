# The examples as a project of their own: each builds against the installed tree, and runs.
set(folder "${WORK}/examples")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${NEARFIELD}/examples" -B "${folder}" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DCMAKE_BUILD_TYPE=Debug" "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_CXX_FLAGS=${CXXFLAGS}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
    "-DNEARFIELD_XSIMD_INCLUDE_DIR=${XSIMD}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${folder}" --output-on-failure --no-tests=error
  COMMAND_ERROR_IS_FATAL ANY)
