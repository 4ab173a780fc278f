# nearfield_add_interaction(<target> HEADER <file> TYPE <interaction> [CUDA])
#
# Compiles your interaction like the built-in ones: for every instruction set that nearfield was built with, in
# one file each, so that `nearfield::simd` uses the widest set of the machine, whatever flags the rest of the
# target has. The sources are generated in the build directory and added to <target>, which must link
# nearfield::kernels. HEADER is a file beside the CMakeLists.txt, or in an include directory of the target. It
# defines the interaction and ends with NEARFIELD_INTERACTION(<interaction>) from <nearfield/p2p/every_isa.hpp>.
#
# CUDA: also compiles its CUDA kernels if nearfield has CUDA. The target must then link nearfield::cuda, and the
# project must enable the language CUDA.
function(nearfield_add_interaction target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CUDA" "HEADER;TYPE" "")
  set(where "nearfield_add_interaction(${target}): ")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_HEADER OR NOT arg_TYPE)
    message(FATAL_ERROR "${where}found '${ARGN}'; write HEADER <file> TYPE <interaction> [CUDA]")
  endif()
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "${where}there is no such target; call it after add_executable or add_library")
  endif()
  get_target_property(kind "${target}" TYPE)
  if(kind STREQUAL "INTERFACE_LIBRARY")
    message(FATAL_ERROR "${where}an INTERFACE library compiles nothing; name an executable, or a STATIC, SHARED or "
      "OBJECT library")
  endif()
  if(NOT TARGET nearfield::kernels)
    message(FATAL_ERROR "${where}there is no nearfield::kernels; call it after find_package(nearfield)")
  endif()

  set(header "<${arg_HEADER}>")
  cmake_path(ABSOLUTE_PATH arg_HEADER OUTPUT_VARIABLE beside)
  if(EXISTS "${beside}")
    set(header "\"${beside}\"")
  endif()
  # Only the compiler knows all include directories, and the files generated there before it runs.
  string(CONCAT include_header "#if !__has_include(${header})\n#error \"${where}there is no HEADER ${arg_HEADER}; "
    "give a file beside the CMakeLists.txt or in an include directory of the target\"\n#endif\n#include ${header}")
  string(REGEX REPLACE "^::" "" type "${arg_TYPE}")
  string(PREPEND type "::")
  # k<3> and k_3_ give the same identifier
  string(MAKE_C_IDENTIFIER "${arg_TYPE}" name)
  string(MD5 hash "${type}")
  string(SUBSTRING "${hash}" 0 8 hash)
  string(APPEND name "_${hash}")
  set(templates "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/interaction")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/nearfield_interactions/${target}/${name}")
  # Each file has its own flags and must not be merged with others.
  set(apart TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)

  include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/nearfield_isa_flags.cmake")
  get_target_property(isas nearfield::kernels NEARFIELD_ISAS)
  set(declarations "")
  set(cases "")
  foreach(isa IN LISTS isas)
    set(arch "${nearfield_arch_${isa}}")
    configure_file("${templates}/isa.cpp.in" "${folder}/${isa}.cpp" @ONLY)
    target_sources(${target} PRIVATE "${folder}/${isa}.cpp")
    set_source_files_properties("${folder}/${isa}.cpp" ${apart}
      COMPILE_DEFINITIONS NEARFIELD_ALLOW_SLOW_SIMD # sse2.cpp is for machines without AVX2
      COMPILE_OPTIONS "${nearfield_flags_${isa}};${nearfield_tile_flags}")
    foreach(real IN ITEMS float double)
      string(APPEND declarations "  template <>\n  p2p_kernels<${real}> ${isa}_kernels<nearfield_own_interaction, ${real}>();\n")
    endforeach()
    string(APPEND cases "      case isa::${isa}: return ${isa}_kernels<K, T>();\n")
  endforeach()
  configure_file("${templates}/dispatch.cpp.in" "${folder}/dispatch.cpp" @ONLY)
  target_sources(${target} PRIVATE "${folder}/dispatch.cpp")
  set_source_files_properties("${folder}/dispatch.cpp" ${apart} COMPILE_OPTIONS "${nearfield_tile_flags}")

  if(NOT arg_CUDA)
    return()
  endif()
  if(NOT TARGET nearfield::cuda)
    message(FATAL_ERROR "${where}CUDA needs the target nearfield::cuda; "
      "say find_package(nearfield OPTIONAL_COMPONENTS cuda) before")
  endif()
  get_target_property(runtime nearfield::cuda NEARFIELD_CUDA_RUNTIME)
  if(NOT runtime) # nearfield without CUDA: calls throw with that reason
    return()
  endif()
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "${where}CUDA needs the language; write project(... LANGUAGES CXX CUDA)")
  endif()
  configure_file("${templates}/kernels.cu.in" "${folder}/kernels.cu" @ONLY)
  target_sources(${target} PRIVATE "${folder}/kernels.cu")
  # one CUDA runtime per process: that of the library
  set_target_properties(${target} PROPERTIES
    CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY ${runtime})
endfunction()
