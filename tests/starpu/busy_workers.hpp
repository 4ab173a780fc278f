#pragma once

#include "one_runtime.hpp"

#include <latch>
#include <thread>

namespace nearfield::test
{
  /// All CPU workers are busy from its beginning until let_go().
  class busy_workers
  {
  public:
    busy_workers()
    {
      // a worker that has been called by an earlier loop, and has not come yet, would get no part of this one
      one_runtime().wait();
      loop_ = std::jthread(
          [this]
          {
            on_.run(on_.workers(),
                    [this](int)
                    {
                      busy_.count_down();
                      go_.wait();
                    });
          });
      busy_.wait();
    }
    busy_workers(busy_workers const&) = delete;
    busy_workers& operator=(busy_workers const&) = delete;

    /// Must be called, once.
    void let_go() { go_.count_down(); }

  private:
    starpu::cpu_workers on_{one_runtime()};
    std::latch busy_{on_.workers()}, go_{1};
    std::jthread loop_; ///< ends first
  };
}
