#include "trace.hpp"

#include <utility>

namespace nearfield::detail
{
  namespace
  {
    thread_local stage_trace::function const* current = nullptr;
  }

  stage_trace::stage_trace(function f) : f_(std::move(f)), before_(std::exchange(current, &f_)) {}

  stage_trace::~stage_trace()
  {
    current = before_;
  }

  void end_stage(char const* stage, cuda_stream stream)
  {
    if (current) (*current)(stage, stream);
  }
}
