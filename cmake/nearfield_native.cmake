# NEARFIELD_NATIVE: -march=native. The built-in kernels select their instruction set at run time and gain
# nothing; trees, readers, the scalar back-end and interactions compiled in your files may. Such a build may
# not run on other machines, so it cannot be installed.
if(NOT NEARFIELD_NATIVE)
  return()
endif()
message(STATUS "NEARFIELD_NATIVE: for this machine only; there is nothing to install")
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-march=native>)
# A project that includes nearfield without installing it may still install itself.
if(NEARFIELD_INSTALL)
  install(CODE [[message(FATAL_ERROR "this build of nearfield is for the machine it was made on "
    "(NEARFIELD_NATIVE=ON): configure with -DNEARFIELD_NATIVE=OFF to install it")]] ALL_COMPONENTS)
endif()
