#pragma once

/// \file
/// What the arithmetic units of the GPU do when they have nothing else to do.

namespace baseline
{
  enum class peak
  {
    rsqrt_f32, ///< rsqrt.approx.ftz.f32
    fma_f32,
    fma_f64,
    rsqrt_f64 ///< rsqrt.approx.ftz.f64 and the step that completes it
  };

  /// Launches one kernel of nothing else; returns how many of the operations it does.
  double launch_peak(peak which);

  /// Launches pairs of an interaction whose operands all lie in registers; returns their directed number:
  /// the bound that its own instructions set. The targets move between two rounds, which costs 2 to 5 %.
  template <class K, class T>
  double launch_bound(bool mutual);
}
