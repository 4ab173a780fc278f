# NEARFIELD_NATIVE compiles for this machine, and refuses to be installed.
set(folder "${WORK}_native")
file(REMOVE_RECURSE "${folder}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${NEARFIELD}" -B "${folder}" -G "${GENERATOR}" -DNEARFIELD_NATIVE=ON
    -DNEARFIELD_BUILD_APP=OFF -DNEARFIELD_BUILD_TESTS=OFF -DNEARFIELD_BUILD_EXAMPLES=OFF
    -DNEARFIELD_ENABLE_STARPU=OFF -DNEARFIELD_ENABLE_CUDA=OFF "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DNEARFIELD_XSIMD_INCLUDE_DIR=${XSIMD}"
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(READ "${folder}/compile_commands.json" commands)
if(NOT commands MATCHES "-march=native [^\n]*dispatch.cpp")
  message(FATAL_ERROR "NEARFIELD_NATIVE=ON does not compile with -march=native: ${commands}")
endif()
foreach(part IN ITEMS "" "--component;program")
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${folder}" --prefix "${folder}/prefix" ${part}
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(status EQUAL 0 OR NOT said MATCHES "NEARFIELD_NATIVE=ON.: configure with -DNEARFIELD_NATIVE=OFF to install")
    message(FATAL_ERROR "a build for this machine was installed (${status}, ${part}): ${said}")
  endif()
endforeach()
if(EXISTS "${folder}/prefix")
  message(FATAL_ERROR "the refused install left ${folder}/prefix")
endif()

# A project that includes such a build installs itself, without ours.
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}/../subproject" -B "${folder}/outer" -G "${GENERATOR}"
    -DWAY=FetchContent "-DFETCHCONTENT_SOURCE_DIR_NEARFIELD=${NEARFIELD}" "-DNEARFIELD=${NEARFIELD}"
    -DNEARFIELD_NATIVE=ON "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DNEARFIELD_XSIMD_INCLUDE_DIR=${XSIMD}"
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${folder}/outer" --prefix "${folder}/outer/prefix"
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
