# nearfield_add_interaction() says what is wrong with a call.
#
#   cmake -D MODULE=nearfield_interaction.cmake -P interaction_arguments.cmake
cmake_minimum_required(VERSION 3.25)
if(ARGUMENTS) # the call itself, in a CMake of its own
  include("${MODULE}")
  nearfield_add_interaction(${ARGUMENTS})
  return()
endif()

function(refused arguments message)
  execute_process(COMMAND "${CMAKE_COMMAND}" -D "MODULE=${MODULE}" -D "ARGUMENTS=${arguments}"
      -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    RESULT_VARIABLE status ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(status EQUAL 0 OR NOT said MATCHES "${message}")
    message(SEND_ERROR "'${arguments}' is not refused by '${message}': ${said}")
  endif()
endfunction()
refused("mine;HEADER;softened.hpp" "nearfield_add_interaction.mine.: .*write HEADER <file> TYPE <interaction>")
refused("mine;HEADER;softened.hpp;TYPE;softened;GPU" "HEADER <file> TYPE <interaction> .CUDA.")
refused("mine;HEADER;softened.hpp;TYPE;softened" "there is no such target; call it after add_executable")
