# The same program with nothing but a compiler and pkg-config.
set(ENV{PKG_CONFIG_PATH} "${WORK}/prefix/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
string(REPLACE "," ";" components "${COMPONENTS}")
list(TRANSFORM components PREPEND nearfield- OUTPUT_VARIABLE modules)
list(TRANSFORM components REPLACE "(.+)" "-DWITH_\\1" OUTPUT_VARIABLE defines)
separate_arguments(flags UNIX_COMMAND "${CXXFLAGS}")

execute_process(COMMAND pkg-config --cflags --libs ${modules}
  OUTPUT_VARIABLE package COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(package UNIX_COMMAND "${package}")
file(MAKE_DIRECTORY "${WORK}/pkg_config")
execute_process(
  COMMAND "${CXX}" -std=c++20 ${flags} ${defines} "${SOURCE}/main.cpp"
    -o "${WORK}/pkg_config/consumer" ${package}
  COMMAND_ERROR_IS_FATAL ANY)
set(ENV{LD_LIBRARY_PATH} "${WORK}/prefix/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
execute_process(COMMAND "${WORK}/pkg_config/consumer" COMMAND_ERROR_IS_FATAL ANY)
