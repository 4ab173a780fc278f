#pragma once

#include <nearfield/cuda/stream.hpp>

namespace nearfield
{
  /// The CUDA back-end: the current device, on a stream of it.
  struct cuda_backend
  {
    cuda_stream stream = nullptr; ///< null: the default stream
  };
  /// `nf::p2p_inner(nf::cuda, ...)`: the default stream of the current device
  inline constexpr cuda_backend cuda{};
}
