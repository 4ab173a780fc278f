#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <functional>

/// \file
/// The stages of work on a GPU, for benchmarks and tests.

namespace nearfield::detail
{
  /// While it lives, calls a function for each stage that its thread puts into a stream, of the builds and
  /// searches of cell lists. Only the newest object of a thread is called; destroy them in reverse order.
  class NEARFIELD_API stage_trace
  {
  public:
    /// Called with the name of a stage once all of its work is in the stream.
    using function = std::function<void(char const* stage, cuda_stream stream)>;

    /// Starts to call f.
    explicit stage_trace(function f);
    stage_trace(stage_trace const&) = delete;
    stage_trace& operator=(stage_trace const&) = delete;
    ~stage_trace();

  private:
    function const f_;
    function const* const before_;
  };

  /// Tells the stage_trace of this thread that all work of a stage is in the stream.
  void end_stage(char const* stage, cuda_stream stream);
}
