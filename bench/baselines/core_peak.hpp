#pragma once

/// \file
/// The peak rate of a core's multipliers, one function for each instruction set.

namespace baseline
{
  /// Each does `rounds` times 10 independent fmas, or multiplications where there is no fma, in registers, and returns
  /// their number, each lane counted.
  struct core_peak_table
  {
    double (*f32)(long rounds);
    double (*f64)(long rounds);
  };

  core_peak_table const& core_peak_sse2();
  core_peak_table const& core_peak_avx2();
  core_peak_table const& core_peak_avx512();
  core_peak_table const& core_peak_neon64();
}
