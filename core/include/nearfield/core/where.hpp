#pragma once

#include <nearfield/core/isa.hpp>
#include <nearfield/cuda/stream.hpp>

#include <concepts>

/// \file
/// Where to run: the first argument of most functions.

namespace nearfield
{
  /// The scalar back-end: one pair at a time, one divide and one root a pair; the reference.
  struct scalar_backend
  {};

  /// The SIMD back-end. Built-in interactions, and user-defined ones that nearfield_add_interaction()
  /// compiles, run on the instruction set given here. Other user-defined interactions run on the one that
  /// their file is compiled for, and need <nearfield/p2p/simd.hpp>.
  struct simd_backend
  {
    isa which = isa::best; ///< isa::best is selected_isa()
  };

  /// `nf::p2p_inner(nf::scalar, ...)`
  inline constexpr scalar_backend scalar{};
  /// `nf::p2p_inner(nf::simd, ...)`: the widest available instruction set, see selected_isa()
  inline constexpr simd_backend simd{};

  /// Where to run on a CPU: scalar or simd.
  template <class B>
  concept cpu_backend = std::same_as<B, scalar_backend> || std::same_as<B, simd_backend>;

  /// Where a step runs: on the calling thread.
  struct serial_execution
  {};
  /// `nf::near_field(nf::serial, ...)`: on the calling thread
  inline constexpr serial_execution serial{};

  /// The CUDA back-end: a stream of the current device.
  struct cuda_backend
  {
    cuda_stream stream = nullptr; ///< null: the default stream
  };
  /// `nf::p2p_inner(nf::cuda, ...)`: the default stream of the current device
  inline constexpr cuda_backend cuda{};
}
