#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/kernels/builtin.hpp>

#if defined(NEARFIELD_QUICK_HEADER)
#include NEARFIELD_QUICK_HEADER
#endif

#include <cstddef>
#include <string_view>

namespace bench
{
  /// What quick_rates measures: built-in interactions of each kind, or the one that was asked for.
#if defined(NEARFIELD_QUICK_HEADER)
  using quick_interactions = nearfield::detail::type_list<NEARFIELD_QUICK_TYPE>;
#else
  using quick_interactions = nearfield::detail::type_list<
      nearfield::one_over_r<2>, nearfield::one_over_r<3>, nearfield::grad_one_over_r<2>,
      nearfield::grad_one_over_r<3>, nearfield::val_grad_one_over_r<2>,
      nearfield::val_grad_one_over_r<3>, nearfield::r_over_r3<2>, nearfield::r_over_r3<3>,
      nearfield::log_r, nearfield::grad_log_r, nearfield::gaussian<2>, nearfield::gaussian<3>,
      nearfield::dipole_tensor<2>, nearfield::dipole_tensor<3>>;
#endif

  /// One box with itself, if y is x, or two boxes of n points.
  template <class T>
  struct plain_boxes
  {
    std::size_t n;
    T const *const *x, *const *y, *const *x_q, *const *y_q; ///< columns
    T* const* x_out;
    T* const* y_out; ///< null: one-sided
  };

  template <class T>
  using plain_function = void (*)(plain_boxes<T> const& boxes);

  /// The loop that a user would write around an interaction, by its place in that list; compiled with -O3 -march=native
  /// -ffast-math.
  plain_function<float> plain_loop_f32(int interaction);
  plain_function<double> plain_loop_f64(int interaction);

  /// Rates of those interactions whose name has `text` on the first GPU; without one, a line that says so.
  void print_gpu_table(std::string_view text);
}
