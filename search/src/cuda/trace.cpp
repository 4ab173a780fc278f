#include "trace.hpp"

#include <utility>

namespace nearfield::detail
{
  namespace
  {
    thread_local search_trace::function const* current = nullptr;
  }

  search_trace::search_trace(function f) : f_(std::move(f)), before_(std::exchange(current, &f_)) {}

  search_trace::~search_trace()
  {
    current = before_;
  }

  void end_stage(char const* stage, cuda_stream stream)
  {
    if (current) (*current)(stage, stream);
  }
}
