#pragma once

/// \file
/// The built-in interactions, and the only list of them. Typed tests, benchmarks, instantiations, codelets and
/// the command line follow that list: a new interaction is a struct in the header of its group, and an entry in the
/// list of that group.

#include <nearfield/kernels/gaussian.hpp>
#include <nearfield/kernels/gravity.hpp>
#include <nearfield/kernels/laplace.hpp>

namespace nearfield::detail
{
  /// The interactions that are compiled into the library for every instruction set and for CUDA.
  using builtin_interactions =
      join<laplace_interactions, gravity_interactions, gaussian_interactions>;

  /// An interaction of that list.
  template <class K>
  concept builtin_interaction = builtin_interactions::index_of<K>() >= 0;
}
