# NEARFIELD_COMMIT: the commit this tree was configured at, 'unknown' outside a clone.
set(NEARFIELD_COMMIT unknown)
find_package(Git QUIET)
if(Git_FOUND)
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" -c "safe.directory=*" describe --always --dirty --exclude "*"
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(NEARFIELD_COMMIT "${described}")
  endif()
endif()

# Reconfigure after a new commit, so that the program never names an older one.
set(head_log "${CMAKE_CURRENT_SOURCE_DIR}/.git/logs/HEAD")
if(EXISTS "${head_log}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${head_log}")
endif()
