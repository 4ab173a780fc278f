#pragma once

#include "plain_loop.hpp"

#include <nearfield/core/interaction.hpp>
#include <nearfield/kernels/builtin.hpp>

#if defined(NEARFIELD_QUICK_HEADER)
#include NEARFIELD_QUICK_HEADER
#endif

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

  /// The plain loop of an interaction, by its place in that list.
  plain_function<float> plain_loop_f32(int interaction);
  plain_function<double> plain_loop_f64(int interaction);

  /// Rates of those interactions whose name has `text` on the first GPU; without one, a line that says so.
  void print_gpu_table(std::string_view text);
}
