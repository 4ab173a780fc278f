#pragma once

#include <nearfield/p2p/simd.hpp>

#include <string>

// One interaction of a user's own that two files use, compiled for different instruction sets.

namespace nearfield::test
{
  struct shared_by_files
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 8;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "shared_by_files";
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 1, 1>
    {
      return {{{dot(r, r)}}};
    }
  };

  /// What a file finds.
  struct compiled_kernels
  {
    std::string isa_name;
    p2p_kernels<double> scalar, simd;
  };

  // One file each; that of wide must not run where there is no AVX2.
  compiled_kernels of_plain_file();
  compiled_kernels of_wide_file();
}
