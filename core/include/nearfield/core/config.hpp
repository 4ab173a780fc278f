#pragma once

/// \file
/// Compiler-dependent macros, and the visibility of symbols.

#if !defined(__cpp_concepts)
#error "nearfield needs C++20: compile with -std=c++20 (linking its CMake targets sets this)"
#endif

/// \namespace nearfield
/// The near field: interactions, kernels, trees, cell lists, searches, readers and writers.

/// \def NEARFIELD_FN
/// Marks functions of interactions and of the types they use: always inlined, and callable on the device.
#if defined(__CUDACC__)
#define NEARFIELD_FN __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define NEARFIELD_FN inline __attribute__((always_inline))
#else
#define NEARFIELD_FN inline
#endif

/// \def NEARFIELD_API
/// Exports a function or class that is declared in a header and compiled in a library. All other symbols,
/// such as instances of xsimd's and our own templates and the tables of kernels, stay hidden and cannot clash
/// with a program's. Templates that user code instantiates need no mark.
#if defined(__GNUC__)
#define NEARFIELD_API __attribute__((visibility("default")))
#else
#define NEARFIELD_API
#endif

/// \def NEARFIELD_ISA_NAME
/// The instruction set that this file is compiled for, as a string.

/// \def NEARFIELD_ISA_NAMESPACE
/// The inline namespace of templates that user files instantiate, named after the instruction set of the
/// file. Without it the linker, which keeps one of several equal functions, could keep the copy from a file
/// whose -m flags this machine does not support.
#if defined(__AVX512F__)
#define NEARFIELD_ISA_NAME "avx512"
#define NEARFIELD_ISA_NAMESPACE compiled_for_avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define NEARFIELD_ISA_NAME "avx2"
#define NEARFIELD_ISA_NAMESPACE compiled_for_avx2
#elif defined(__AVX__)
#define NEARFIELD_ISA_NAME "avx"
#define NEARFIELD_ISA_NAMESPACE compiled_for_avx
#elif defined(__SSE4_1__)
#define NEARFIELD_ISA_NAME "sse4"
#define NEARFIELD_ISA_NAMESPACE compiled_for_sse4
#elif defined(__SSE2__)
#define NEARFIELD_ISA_NAME "sse2"
#define NEARFIELD_ISA_NAMESPACE compiled_for_sse2
#elif defined(__aarch64__)
#define NEARFIELD_ISA_NAME "neon64"
#define NEARFIELD_ISA_NAMESPACE compiled_for_neon64
#else
#define NEARFIELD_ISA_NAME "scalar"
#define NEARFIELD_ISA_NAMESPACE compiled_for_scalar
#endif

/// \def NEARFIELD_UNROLL
/// Before loops over registers and dimensions: their bounds are constant, and they must be unrolled.
#if defined(__clang__) || defined(__CUDACC__)
#define NEARFIELD_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define NEARFIELD_UNROLL _Pragma("GCC unroll 16")
#else
#define NEARFIELD_UNROLL
#endif

/// \def NEARFIELD_NO_UNROLL
/// Before the loop over sources, which fills every register as it stands: clang would unroll it and spill.
#if defined(__clang__)
#define NEARFIELD_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define NEARFIELD_NO_UNROLL
#endif
