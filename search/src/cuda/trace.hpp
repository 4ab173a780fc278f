#pragma once

#include <nearfield/core/where.hpp>

namespace nearfield::detail
{
  /// Tells the search_trace of this thread that all work of a stage is in the stream.
  void end_stage(char const* stage, cuda_stream stream);
}
