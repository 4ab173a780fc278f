# A project that includes the sources, by add_subdirectory and by FetchContent: what it decides stays as it is
# (subproject/CMakeLists.txt), nothing of ours is installed with it, and its program builds from what it links.
set(folder "${WORK}_subproject")
foreach(way IN ITEMS add_subdirectory FetchContent)
  file(REMOVE_RECURSE "${folder}/${way}")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}/../subproject" -B "${folder}/${way}" -G "${GENERATOR}"
      -DWAY=${way} "-DNEARFIELD=${NEARFIELD}" "-DFETCHCONTENT_SOURCE_DIR_NEARFIELD=${NEARFIELD}"
      -DNEARFIELD_ISAS= -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_COMPILER=${CXX}"
      "-DCMAKE_CXX_FLAGS=${CXXFLAGS}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
      "-DNEARFIELD_XSIMD_INCLUDE_DIR=${XSIMD}"
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# Both ways make the same targets: one is built.
set(folder "${folder}/add_subdirectory")
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}" --target mine uses_shown COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${folder}/mine" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${folder}/uses_shown" COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE libraries "${folder}/nearfield/*.a" "${folder}/nearfield/*.so")
list(FILTER libraries EXCLUDE REGEX "libnearfield_(core|kernels)[.]")
if(libraries)
  message(FATAL_ERROR "a program that links nearfield::kernels also built ${libraries}")
endif()
file(GLOB_RECURSE scripts "${folder}/nearfield/cmake_install.cmake")
foreach(script IN LISTS scripts)
  file(STRINGS "${script}" rules REGEX "file\\(INSTALL")
  if(rules)
    message(FATAL_ERROR "a project that includes nearfield installs it too: ${script}: ${rules}")
  endif()
endforeach()

# CUDA is for the including project to enable.
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}/../subproject" -B "${WORK}_subproject/cuda" -G "${GENERATOR}"
    "-DNEARFIELD=${NEARFIELD}" -DNEARFIELD_ENABLE_CUDA=ON "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DNEARFIELD_XSIMD_INCLUDE_DIR=${XSIMD}"
  RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
string(REGEX REPLACE "[ \n]+" " " said "${said}")
if(status EQUAL 0 OR NOT said MATCHES "has no CUDA: write project.... LANGUAGES CXX CUDA. there")
  message(FATAL_ERROR "NEARFIELD_ENABLE_CUDA=ON in a project without CUDA: ${said}")
endif()
