#pragma once

#include <nearfield/core/boxes.hpp>

/// \file
/// The kernels of seed.hpp over a whole near field: three dimensions, every box with its own points and with
/// those of its ranges. The plain loop also in mutual form, over a half list. The outputs are overwritten.

namespace baseline
{
  template <class T>
  using list_function = void (*)(nearfield::boxes const& boxes,
                                 nearfield::interaction_list const& list, T const* const* x,
                                 T const* q, T* const* out);

  /// [0: 1/r, 1: 1/r and its gradient]
  template <class T>
  struct list_functions
  {
    list_function<T> loop[2], mutual_loop[2], simd[2];
  };

  struct near_field_table
  {
    list_functions<float> f32;
    list_functions<double> f64;
  };

  // one file each, compiled with the flags of that instruction set
  near_field_table const& near_field_avx2();
  near_field_table const& near_field_avx512();
}
