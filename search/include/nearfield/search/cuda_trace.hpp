#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/cuda/stream.hpp>

#include <functional>

/// \file
/// The stages of a search on a GPU, for benchmarks and tests.

namespace nearfield::detail
{
  /// While it lives, a function hears of the searches and builds of cell lists of the thread that made it.
  /// The newest of a thread is the one that is called; they go in reverse order.
  class NEARFIELD_API search_trace
  {
  public:
    /// Called with the name of a stage when all of its work has been given to the stream.
    using function = std::function<void(char const* stage, cuda_stream stream)>;

    /// From now on.
    explicit search_trace(function f);
    search_trace(search_trace const&) = delete;
    search_trace& operator=(search_trace const&) = delete;
    ~search_trace();

  private:
    function const f_;
    function const* const before_;
  };
}
