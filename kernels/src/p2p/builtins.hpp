#pragma once

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/job.hpp>

namespace nearfield::detail
{
  /// The kernels of every built-in interaction for one instruction set.
  struct builtin_p2p
  {
    p2p_kernels<float> f32[builtin_interactions::size];
    p2p_kernels<double> f64[builtin_interactions::size];
  };

  /// What make.operator()<K, T>() gives for every built-in interaction. The files that call it are compiled with the
  /// flags of an instruction set: `make` is a lambda of theirs, so that no two of them share an instantiation.
  template <class Make, class... Ks>
  constexpr builtin_p2p make_builtins(Make make, type_list<Ks...>)
  {
    return {
      {make.template operator()<Ks, float>()...},
      {make.template operator()<Ks, double>()...}
    };
  }

  // One file each; only those in NEARFIELD_ISAS are built.
  builtin_p2p const& scalar_builtins();
  builtin_p2p const& sse2_builtins();
  builtin_p2p const& avx2_builtins();
  builtin_p2p const& avx512_builtins();
  builtin_p2p const& neon64_builtins();
}
