# A component that was not installed is named, with what there is in its place.
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}/missing" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_CXX_FLAGS=${CXXFLAGS}" "-DCOMPONENTS=${COMPONENTS},teapot"
  RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
if(status EQUAL 0)
  message(FATAL_ERROR "find_package(nearfield COMPONENTS teapot) succeeded")
endif()
string(REGEX REPLACE "[ \n]+" " " said "${said}")
if(NOT said MATCHES "this installation of nearfield has no component 'teapot'")
  message(FATAL_ERROR "the message does not name the component: ${said}")
endif()
