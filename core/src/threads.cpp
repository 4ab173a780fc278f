#include <nearfield/core/executor.hpp>
#include <nearfield/core/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <sched.h>

namespace nearfield
{
  executor& detail::threads_or_here(executor* on)
  {
    static this_thread here;
    return on ? *on : here;
  }

  threads::threads(int most) : n_(1)
  {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
      n_ = std::clamp(CPU_COUNT(&set), 1, std::max(1, most));
  }

  void threads::run(int n, std::function<void(int)> const& f)
  {
    std::atomic<int> n_started{0};
    std::mutex mutex;
    std::exception_ptr thrown;
    auto const work = [&]
    {
      try
      {
        for (int i = n_started++; i < n; i = n_started++) f(i);
      }
      catch (...)
      {
        n_started = n;
        std::lock_guard const lock(mutex);
        if (!thrown) thrown = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> others;
      try
      {
        while (static_cast<int>(others.size()) + 1 < std::min(n, n_)) others.emplace_back(work);
      }
      catch (std::system_error const&)
      {}
      work();
    }
    if (thrown) std::rethrow_exception(thrown);
  }
}
