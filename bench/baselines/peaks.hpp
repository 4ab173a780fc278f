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
}
