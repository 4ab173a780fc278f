#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/where.hpp>

#include <functional>

/// \file
/// The stages of a search on a GPU, for benchmarks and tests.

namespace nearfield::detail
{
  /// While it lives, calls a function for each stage of the searches and builds of cell lists on the thread
  /// that made it. Only the newest object of a thread is called; destroy them in reverse order.
  class NEARFIELD_API search_trace
  {
  public:
    /// Called with the name of a stage once all of its work is in the stream.
    using function = std::function<void(char const* stage, cuda_stream stream)>;

    /// Starts to call f.
    explicit search_trace(function f);
    search_trace(search_trace const&) = delete;
    search_trace& operator=(search_trace const&) = delete;
    ~search_trace();

  private:
    function const f_;
    function const* const before_;
  };

  /// Tells the search_trace of this thread that all work of a stage is in the stream.
  void end_stage(char const* stage, cuda_stream stream);
}
