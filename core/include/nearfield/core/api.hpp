#pragma once

#include <nearfield/core/config.hpp>

/// \file
/// What shared libraries show.

/// \def NEARFIELD_API
/// On every function and class that is declared in a header and compiled in a library: it can be linked from
/// outside. All else that the libraries are made of is hidden, so that it is in nobody's way: the copies of
/// xsimd's and of our own templates, and the tables of kernels. Templates that a user's file instantiates are
/// the user's, and need none.
#if defined(__GNUC__)
#define NEARFIELD_API __attribute__((visibility("default")))
#else
#define NEARFIELD_API
#endif
