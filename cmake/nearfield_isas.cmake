# NEARFIELD_ISAS: the instruction sets that the built-in kernels are compiled for, in one .cpp each. Programs
# select one at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(default_isas sse2 avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(default_isas neon64)
else()
  set(default_isas "")
endif()
set(NEARFIELD_ISAS "${default_isas}" CACHE STRING
  "Instruction sets of the built-in kernels: of sse2;avx2;avx512 or neon64; empty: scalar only")

foreach(isa IN LISTS NEARFIELD_ISAS)
  if(NOT isa MATCHES "^(sse2|avx2|avx512|neon64)$")
    message(FATAL_ERROR "NEARFIELD_ISAS: '${isa}' is none of sse2, avx2, avx512, neon64")
  endif()
endforeach()
include(nearfield_isa_flags)
