#pragma once

#include <nearfield/core/config.hpp>

/// \file
/// Symbol visibility of the shared libraries.

/// \def NEARFIELD_API
/// Exports a function or class that is declared in a header and compiled in a library. All other symbols,
/// such as instances of xsimd's and our own templates and the tables of kernels, stay hidden and cannot clash
/// with a program's. Templates that user code instantiates need no mark.
#if defined(__GNUC__)
#define NEARFIELD_API __attribute__((visibility("default")))
#else
#define NEARFIELD_API
#endif
