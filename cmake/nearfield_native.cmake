# NEARFIELD_NATIVE: -march=native, for the machine that compiles. Kernels choose their instruction set when they
# run, and gain nothing; it is for what does not: trees, readers, the scalar back-end, interactions in a file of
# your own. Other machines may not run such a build, so that it has no install.
if(NOT NEARFIELD_NATIVE)
  return()
endif()
message(STATUS "NEARFIELD_NATIVE: for this machine only; there is nothing to install")
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-march=native>)
# A project that includes nearfield and does not install it may install itself.
if(NEARFIELD_INSTALL)
  install(CODE [[message(FATAL_ERROR "this build of nearfield is for the machine it was made on "
    "(NEARFIELD_NATIVE=ON): configure with -DNEARFIELD_NATIVE=OFF to install it")]] ALL_COMPONENTS)
endif()
