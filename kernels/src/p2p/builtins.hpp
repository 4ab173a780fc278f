#pragma once

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/job.hpp>

namespace nearfield::detail
{
  /// The kernels of a group, which is a list of interactions, for one instruction set.
  template <class Group>
  struct group_kernels
  {
    p2p_kernels<float> f32[Group::size];
    p2p_kernels<double> f64[Group::size];
  };

  /// What make.operator()<K, T>() gives for every interaction of a group. The files that call it are compiled with the
  /// flags of an instruction set: `make` is a lambda of theirs, so that no two of them share an instantiation.
  template <class Make, class... Ks>
  constexpr group_kernels<type_list<Ks...>> make_group(Make make, type_list<Ks...>)
  {
    return {
      {make.template operator()<Ks, float>()...},
      {make.template operator()<Ks, double>()...}
    };
  }

  // One file for each group; only the instruction sets in NEARFIELD_ISAS and the groups in NEARFIELD_KERNELS are built.
  template <class Group>
  group_kernels<Group> const& scalar_builtins();
  template <class Group>
  group_kernels<Group> const& sse2_builtins();
  template <class Group>
  group_kernels<Group> const& avx2_builtins();
  template <class Group>
  group_kernels<Group> const& avx512_builtins();
  template <class Group>
  group_kernels<Group> const& neon64_builtins();
}
