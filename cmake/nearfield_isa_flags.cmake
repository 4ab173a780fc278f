# What the files of each instruction set are compiled with (nearfield_flags_<isa>), xsimd's type for it
# (nearfield_arch_<isa>), and what is good for a loop over pairs on all of them (nearfield_tile_flags). An interaction is written with * and +, which may become
# fma. g++ does not schedule before register allocation by default; here that is worth up to 20 %. Its AVX-512
# intrinsics read registers that they leave undefined on purpose, and it warns of that.
set(nearfield_flags_sse2 -msse2)
set(nearfield_flags_avx2 -mavx2 -mfma)
set(nearfield_flags_avx512 -mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl -mfma)
set(nearfield_flags_neon64 "")
set(nearfield_arch_sse2 "xsimd::sse2")
set(nearfield_arch_avx2 "xsimd::fma3<xsimd::avx2>")
set(nearfield_arch_avx512 "xsimd::avx512bw")
set(nearfield_arch_neon64 "xsimd::neon64")
# CMake's default build type, none, optimises nothing; that costs a kernel a factor of 100.
set(nearfield_tile_flags -ffp-contract=fast "$<$<CONFIG:>:-O3>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND nearfield_tile_flags -fschedule-insns -fsched-pressure)
  list(APPEND nearfield_flags_avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
endif()

# UndefinedBehaviorSanitizer's checks multiply in the unrolled loops, to minutes of compiling a file: the
# vector kernels keep AddressSanitizer alone. The same loops of the scalar ones, and tests, keep the checks of
# values: those of addresses, which AddressSanitizer sees too, would double the time that they take to compile, and
# those of calls and returns, which -Wall and the linker see, would add a fifth.
set(nearfield_simd_sanitizers "")
set(nearfield_value_sanitizers "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,-]*undefined")
  set(nearfield_simd_sanitizers -fno-sanitize=undefined)
  set(nearfield_value_sanitizers -fno-sanitize=null,alignment,pointer-overflow,object-size,vptr
    -fno-sanitize=function,return,unreachable,builtin,nonnull-attribute,returns-nonnull-attribute,bool,enum)
endif()
foreach(isa IN ITEMS sse2 avx2 avx512 neon64)
  list(APPEND nearfield_flags_${isa} ${nearfield_simd_sanitizers})
endforeach()
