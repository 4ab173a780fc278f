#pragma once

/// \file
/// Compiler-dependent words, in one place.

// A function of an interaction or of its vocabulary: inlined everywhere, and callable on a device.
#if defined(__CUDACC__)
#define NEARFIELD_FN __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define NEARFIELD_FN inline __attribute__((always_inline))
#else
#define NEARFIELD_FN inline
#endif

// Loops over registers and dimensions have constant bounds and must disappear.
#if defined(__clang__) || defined(__CUDACC__)
#define NEARFIELD_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define NEARFIELD_UNROLL _Pragma("GCC unroll 16")
#else
#define NEARFIELD_UNROLL
#endif

// The loop over sources fills every register as it stands: clang would unroll it and spill.
#if defined(__clang__)
#define NEARFIELD_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define NEARFIELD_NO_UNROLL
#endif
