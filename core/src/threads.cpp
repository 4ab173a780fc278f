#include <nearfield/core/parallel.hpp>
#include <nearfield/core/where.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace nearfield
{
  executor& detail::threads_or_here(executor* on)
  {
    static this_thread here;
    return on ? *on : here;
  }

  namespace
  {
    /// A loop whose parts are taken by any number of threads.
    class shared_loop
    {
    public:
      shared_loop(int n, std::function<void(int)> const& f) : n_(n), f_(f) {}

      void take() noexcept
      {
        try
        {
          for (int i = next_++; i < n_; i = next_++) f_(i);
        }
        catch (...)
        {
          next_ = n_;
          std::lock_guard const lock(mutex_);
          if (!thrown_) thrown_ = std::current_exception();
        }
      }
      /// When nobody takes parts any more.
      void rethrow() const
      {
        if (thrown_) std::rethrow_exception(thrown_);
      }

    private:
      int n_;
      std::function<void(int)> const& f_;
      std::atomic<int> next_{0};
      std::mutex mutex_;
      std::exception_ptr thrown_;
    };
  }

  /// Threads that sleep between the loops that they share with a caller.
  class threads::team
  {
  public:
    team() = default;
    team(team const&) = delete;
    team& operator=(team const&) = delete;
    ~team()
    {
      {
        std::lock_guard const lock(mutex_);
        ends_ = true;
      }
      called_.notify_all();
    }

    /// Whether they are threads of this process: a child of fork() has none of them.
    [[nodiscard]] bool is_here() const { return process_ == getpid(); }

    /// Shares the loop with so many others, or with fewer if the system refuses some.
    void run(shared_loop& loop, std::size_t n_others) noexcept
    {
      try
      {
        while (others_.size() < n_others) others_.emplace_back([this] { share_loops(); });
      }
      catch (std::exception const&)
      {}
      {
        std::lock_guard const lock(mutex_);
        loop_ = &loop;
        ++number_;
      }
      for (std::size_t i = 0; i < n_others; ++i) called_.notify_one();
      loop.take();
      std::unique_lock lock(mutex_);
      loop_ = nullptr; // who wakes up too late has nothing to do
      left_.wait(lock, [this] { return inside_ == 0; });
    }

  private:
    void share_loops()
    {
      std::unique_lock lock(mutex_);
      for (std::uint64_t seen = 0;;)
      {
        called_.wait(lock, [&] { return ends_ || (loop_ && number_ != seen); });
        if (ends_) return;
        seen = number_;
        shared_loop& loop = *loop_;
        ++inside_;
        lock.unlock();
        loop.take();
        lock.lock();
        if (--inside_ == 0) left_.notify_one();
      }
    }

    pid_t process_ = getpid();
    std::mutex mutex_;
    std::condition_variable called_, left_;
    shared_loop* loop_ = nullptr;
    std::uint64_t number_ = 0; // of the loop
    int inside_ = 0;           // others that take parts of it
    bool ends_ = false;
    std::vector<std::jthread> others_; // end before the rest
  };

  threads::threads(int most) : n_(1)
  {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
      n_ = std::clamp(CPU_COUNT(&set), 1, std::max(1, most));
  }

  void threads::run(int n, std::function<void(int)> const& f)
  {
    shared_loop loop(n, f);
    if (std::min(n, n_) > 1 && !is_busy_.exchange(true))
    {
      if (!team_ || !team_->is_here())
        team_ = std::shared_ptr<team>(new team,
                                      [](team* of)
                                      {
                                        if (of->is_here()) delete of;
                                      });
      team_->run(loop, static_cast<std::size_t>(std::min(n, n_)) - 1);
      is_busy_ = false;
    }
    else
      loop.take();
    loop.rethrow();
  }
}
