# Builds the consumer with every component, then runs it, on each instruction set too.
set(folder "${WORK}/find_package")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${folder}" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DCMAKE_BUILD_TYPE=Debug" "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_CXX_FLAGS=${CXXFLAGS}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" "-DCOMPONENTS=${COMPONENTS}"
    "-DEXPECT_CUDA=${HAVE_CUDA}" "-DNEARFIELD_XSIMD_INCLUDE_DIR=${XSIMD}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${folder}/mine" COMMAND_ERROR_IS_FATAL ANY)
