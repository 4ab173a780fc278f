#pragma once

struct CUstream_st;

namespace nearfield
{
  /// A cudaStream_t; null is the default stream.
  using cuda_stream = CUstream_st*;
}
