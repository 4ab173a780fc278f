#pragma once

#include <nearfield/cuda/stream.hpp>

namespace nearfield::detail
{
  /// Tells the search_trace of this thread that the work of a stage has been given to the stream.
  void end_stage(char const* stage, cuda_stream stream);
}
