#pragma once

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/job.hpp>

namespace nearfield::detail
{
  /// The kernels of every built-in interaction for one instruction set.
  struct p2p_table
  {
    p2p_kernels<float> f32[builtin_interactions::size];
    p2p_kernels<double> f64[builtin_interactions::size];
  };

  // One file each; only those in NEARFIELD_ISAS are built.
  p2p_table const& scalar_table();
  p2p_table const& sse2_table();
  p2p_table const& avx2_table();
  p2p_table const& avx512_table();
  p2p_table const& neon64_table();
}
