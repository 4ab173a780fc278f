#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <deque>
#include <mutex>

namespace nearfield::detail
{
  /// What work in streams takes on its GPU: events before and after it. Any thread may call its functions.
  class NEARFIELD_API gpu_clock
  {
  public:
    gpu_clock() = default;
    gpu_clock(gpu_clock const&) = delete;
    gpu_clock& operator=(gpu_clock const&) = delete;
    ~gpu_clock();

    /// Work that is put into the stream from now on, until end() with what this returns, is counted.
    [[nodiscard]] void* begin(cuda_stream stream);
    void end(void* begun, cuda_stream stream);
    /// Of all work that has ended.
    [[nodiscard]] double seconds();

  private:
    struct interval
    {
      void *begun, *ended; ///< events
      int device;
    };
    void collect();

    std::mutex mutex_;
    std::deque<interval> open_;
    double seconds_ = 0;
  };
}
