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
# The same with the interaction compiled for every instruction set, as a Makefile has it.
execute_process(COMMAND pkg-config --variable=add_interaction nearfield-kernels
  OUTPUT_VARIABLE add_interaction OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(ENV{CXX} "${CXX}")
set(ENV{CXXFLAGS} "${CXXFLAGS} -DWITH_every_isa")
execute_process(
  COMMAND sh "${add_interaction}" "${SOURCE}/softened.hpp" my::softened "${WORK}/pkg_config/softened.o"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND "${CXX}" -std=c++20 ${flags} ${defines} -DWITH_every_isa "${SOURCE}/main.cpp" "${WORK}/pkg_config/softened.o"
    -o "${WORK}/pkg_config/every_isa" ${package}
  COMMAND_ERROR_IS_FATAL ANY)
set(ENV{LD_LIBRARY_PATH} "${WORK}/prefix/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
foreach(program IN ITEMS consumer every_isa)
  execute_process(COMMAND "${WORK}/pkg_config/${program}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND sh "${add_interaction}" no_such.hpp no_such none.o
  RESULT_VARIABLE result ERROR_VARIABLE said)
if(result EQUAL 0 OR NOT said MATCHES "there is no HEADER no_such.hpp")
  message(FATAL_ERROR "add_interaction.sh says '${said}' of a header that is missing")
endif()
