#pragma once

/// \file
/// Peak rates of the GPU's arithmetic units.

namespace baseline
{
  enum class peak
  {
    rsqrt_f32, ///< rsqrt.approx.ftz.f32
    fma_f32,
    fma_f64,
    rsqrt_f64 ///< rsqrt.approx.ftz.f64 and the step that completes it
  };

  /// Launches a kernel of this operation alone; returns the number of operations.
  double launch_peak(peak which);

  /// Launches pairs of an interaction with all operands in registers, which gives an upper bound on its rate;
  /// returns the number of directed pairs. The targets move between rounds, which costs 2 to 5 %.
  template <class K, class T>
  double launch_bound(bool mutual);
}
