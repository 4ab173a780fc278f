# Each component by itself: found, built, linked and run, through CMake and through pkg-config. Those of other languages
# have tests of their own.
string(REPLACE "," ";" components "${COMPONENTS}")
list(REMOVE_ITEM components c fmm3d)
list(JOIN components "," COMPONENTS)
set(folder "${WORK}/alone")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}/../alone" -B "${folder}" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DCMAKE_BUILD_TYPE=Debug" "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_CXX_FLAGS=${CXXFLAGS}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" "-DCOMPONENTS=${COMPONENTS}"
    "-DEXPECT_CUDA=${HAVE_CUDA}" "-DNEARFIELD_XSIMD_INCLUDE_DIR=${XSIMD}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}"
  COMMAND_ERROR_IS_FATAL ANY)

set(ENV{PKG_CONFIG_PATH} "${WORK}/prefix/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
set(ENV{LD_LIBRARY_PATH} "${WORK}/prefix/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
separate_arguments(flags UNIX_COMMAND "${CXXFLAGS}")
foreach(component IN LISTS components)
  execute_process(COMMAND "${folder}/bin/${component}" COMMAND_ERROR_IS_FATAL ANY)
  # pkg-config's flags find all headers, and its libraries link what CMake's compiled
  foreach(part IN ITEMS cflags libs)
    execute_process(COMMAND pkg-config --${part} nearfield-${component}
      OUTPUT_VARIABLE ${part} COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(${part} UNIX_COMMAND "${${part}}")
  endforeach()
  execute_process(
    COMMAND "${CXX}" -std=c++20 ${flags} -DWITH_${component} -E "${SOURCE}/../alone/main.cpp" ${cflags}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(
    COMMAND "${CXX}" ${flags} "${folder}/${component}/CMakeFiles/${component}.dir/main.cpp.o"
      -o "${folder}/bin/${component}_by_pkg_config" ${libs}
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${folder}/bin/${component}_by_pkg_config" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
