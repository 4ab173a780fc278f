# NEARFIELD_ISAS: the instruction sets that the built-in kernels are compiled for, one .cpp each; the
# program chooses among them when it runs.
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

# What each of them is compiled with, and what is good for a loop over pairs on all of them. An
# interaction is written with * and +, which may become fma. g++ does not schedule before register
# allocation by default; here that is worth up to 20 %. Its AVX-512 intrinsics read registers that they
# leave undefined on purpose, and it warns of that.
set(nearfield_flags_sse2 -msse2)
set(nearfield_flags_avx2 -mavx2 -mfma)
set(nearfield_flags_avx512 -mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl -mfma)
set(nearfield_flags_neon64 "")
set(nearfield_tile_flags -ffp-contract=fast)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND nearfield_tile_flags -fschedule-insns -fsched-pressure)
  list(APPEND nearfield_flags_avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
endif()

# UndefinedBehaviorSanitizer's checks multiply in the unrolled loops, to minutes of compiling a file: the
# vector kernels keep AddressSanitizer alone, the same loops of the scalar ones keep both.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,-]*undefined")
  foreach(isa IN LISTS NEARFIELD_ISAS)
    list(APPEND nearfield_flags_${isa} -fno-sanitize=undefined)
  endforeach()
endif()
