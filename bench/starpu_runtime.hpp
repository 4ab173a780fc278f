#pragma once

#include "peaks.hpp"
#include "timing.hpp"

#include <nearfield/starpu/runtime.hpp>

#include <starpu.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

namespace bench
{
  namespace detail
  {
    inline std::optional<nearfield::starpu::runtime> instance;
  }

  /// StarPU, started by the first row that uses it, with its options.
  inline nearfield::starpu::runtime&
  starpu(nearfield::starpu::runtime::options_type const& options = {})
  {
    if (!detail::instance) detail::instance.emplace(options);
    // before what it uses of nearfield's is destroyed
    [[maybe_unused]] static int const ends = std::atexit([] { detail::instance.reset(); });
    return *detail::instance;
  }

  /// Stops StarPU and starts it with other options: nothing that uses it may exist.
  inline void restart_starpu(nearfield::starpu::runtime::options_type const& options)
  {
    detail::instance.reset();
    detail::instance.emplace(options);
  }

  /// Wall clock and the processor time of all threads and of this one, in seconds.
  struct clocks
  {
    double wall = seconds();
    double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID),
           own_cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  };

  /// The processor time of other threads over that of this one: 0 if it ran alone.
  inline double beside(clocks const& begin, clocks const& end)
  {
    return std::max(0., (end.cpu - begin.cpu) / (end.own_cpu - begin.own_cpu) - 1);
  }

  /// StarPU without its workers: those that wait for tasks poll, and would take the time of what is measured beside
  /// them. As long as an object exists, no task may be submitted.
  class paused_starpu
  {
  public:
    paused_starpu()
    {
      starpu_pause();
      // each worker ends its round of polling first
      for (int i = 0; i < 50; ++i)
      {
        clocks const begin;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        clocks const end;
        if (end.cpu - begin.cpu < 0.1 * (end.wall - begin.wall)) break;
      }
    }
    ~paused_starpu() { starpu_resume(); }
    paused_starpu(paused_starpu const&) = delete;
    paused_starpu& operator=(paused_starpu const&) = delete;
  };

  /// Adds the peaks of cores, before StarPU's workers poll, starts StarPU, and adds those of a GPU: StarPU may reset
  /// GPUs when it starts.
  inline void add_peaks_and_start_starpu()
  {
    add_peaks_of_cores();
    if (starpu().n_gpus() == 0) return;
    paused_starpu const paused;
    add_peaks_of_gpu();
  }
}
