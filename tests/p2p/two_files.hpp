#pragma once

#include <nearfield/p2p/simd.hpp>

#include <string>

// One user interaction in two files that are compiled for different instruction sets.

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

  /// The kernels as one file sees them.
  struct compiled_kernels
  {
    std::string isa_name;
    detail::p2p_kernels<double> scalar, simd;
  };

  // One file each. The kernels of of_wide_file() must not run without AVX2.
  compiled_kernels of_plain_file();
  compiled_kernels of_wide_file();
}
