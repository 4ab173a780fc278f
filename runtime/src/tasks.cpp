#include <nearfield/starpu/tasks.hpp>

#include <nearfield/core/error.hpp>

#include <starpu.h>

#include <utility>

namespace nearfield::starpu
{
  backend_set::backend_set(std::initializer_list<backend> several)
  {
    for (backend const one : several)
    {
      bool const all = one == backend::automatic;
      // scalar only if named: SIMD is faster, but uncalibrated performance models would try both
      bits_ |= one == backend::scalar ? 1u : 0u;
      bits_ |= all || one == backend::simd ? 2u : 0u;
      bits_ |= all || one == backend::cuda ? 4u : 0u;
      names_cuda_ = names_cuda_ || one == backend::cuda;
    }
    if (bits_ == 0) throw error("backend: found none; name scalar, simd or cuda");
  }

  std::string worker_name(int worker)
  {
    char name[64];
    starpu_worker_get_name(worker, name, sizeof(name));
    std::string const whole(name);
    return whole.substr(0, whole.find(" ("));
  }

  monitor::monitor()
      : counts_(
            std::make_unique<std::atomic<std::uint64_t>[]>(STARPU_NMAXWORKERS * n_implementations))
  {}

  monitor& monitor::of_process()
  {
    static monitor instance;
    return instance;
  }

  void monitor::caught() noexcept
  {
    std::lock_guard const lock(mutex_);
    if (!first_) first_ = std::current_exception();
  }

  void monitor::count(int implementation) noexcept
  {
    int const worker = starpu_worker_get_id();
    if (worker < 0) return;
    counts_[worker * n_implementations + implementation].fetch_add(1, std::memory_order_relaxed);
  }

  void monitor::submitted() noexcept
  {
    std::lock_guard const lock(mutex_);
    ++running_;
  }

  void monitor::ended() noexcept
  {
    std::lock_guard const lock(mutex_);
    if (--running_ == 0) all_ended_.notify_all();
  }

  void monitor::wait() noexcept
  {
    std::unique_lock lock(mutex_);
    all_ended_.wait(lock, [this] { return running_ == 0; });
  }

  void monitor::rethrow()
  {
    std::exception_ptr first;
    {
      std::lock_guard const lock(mutex_);
      first = std::exchange(first_, nullptr);
    }
    if (first) std::rethrow_exception(first);
  }

  std::vector<monitor::worker_tasks>
  monitor::tasks(std::string_view const (&names)[n_implementations]) const
  {
    std::vector<worker_tasks> result;
    for (int worker = 0; worker < static_cast<int>(starpu_worker_get_count()); ++worker)
      for (int implementation = 0; implementation < n_implementations; ++implementation)
      {
        std::uint64_t const n =
            counts_[worker * n_implementations + implementation].load(std::memory_order_relaxed);
        if (n > 0) result.push_back({worker_name(worker), std::string(names[implementation]), n});
      }
    return result;
  }
}
