# Installs, then moves the tree: nothing in it may remember where it was.
file(REMOVE_RECURSE "${WORK}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first" --config "${CONFIG}"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${WORK}/first" "${WORK}/prefix")

file(GLOB_RECURSE texts "${WORK}/prefix/*.cmake" "${WORK}/prefix/*.pc" "${WORK}/prefix/*.hpp")
foreach(text IN LISTS texts)
  file(READ "${text}" content)
  foreach(place "${WORK}/first" "${BUILD}")
    string(FIND "${content}" "${place}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${text} names ${place}")
    endif()
  endforeach()
endforeach()
