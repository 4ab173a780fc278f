#pragma once

/// \file
/// The only list of built-in interactions. Typed tests, benchmarks, instantiations, codelets and
/// the command line follow it: a new interaction is one header and one line here.

#include <nearfield/kernels/dipole_tensor.hpp>
#include <nearfield/kernels/gaussian.hpp>
#include <nearfield/kernels/log_r.hpp>
#include <nearfield/kernels/one_over_r.hpp>
#include <nearfield/kernels/r_over_r3.hpp>

#include <type_traits>

namespace nearfield
{
  /// A list of types at compile time.
  template <class... Ts>
  struct type_list
  {
    /// the number of types
    static constexpr int size = sizeof...(Ts);

    /// The position of T in the list, or -1.
    template <class T>
    static constexpr int index_of()
    {
      int at = -1, i = 0;
      ((std::is_same_v<T, Ts> ? (at = i, ++i) : ++i), ...);
      return at;
    }

    /// Calls `f.template operator()<T>()` for every T of the list.
    template <class F>
    static constexpr void for_each(F&& f)
    {
      (f.template operator()<Ts>(), ...);
    }
  };

  /// The interactions that are compiled into the library for every instruction set and for CUDA.
  using builtin_interactions =
      type_list<one_over_r<2>, one_over_r<3>, grad_one_over_r<2>, grad_one_over_r<3>,
                val_grad_one_over_r<2>, val_grad_one_over_r<3>, r_over_r3<2>, r_over_r3<3>, log_r,
                grad_log_r, gaussian<2>, gaussian<3>, dipole_tensor<2>, dipole_tensor<3>>;

  /// An interaction of that list.
  template <class K>
  concept builtin_interaction = builtin_interactions::index_of<K>()
  >= 0;
}
