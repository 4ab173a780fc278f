#pragma once

#include <nearfield/core/config.hpp>

#include <atomic>
#include <functional>
#include <limits>
#include <memory>

namespace nearfield
{
  /// Threads that run the parts of a loop: derive from it to lend a function those of your program.
  ///
  ///     struct serial : nearfield::executor
  ///     {
  ///       int workers() const override { return 1; }
  ///       void run(int n, std::function<void(int)> const& f) override { for (int p = 0; p < n; ++p) f(p); }
  ///     };
  class NEARFIELD_API executor
  {
  public:
    virtual ~executor() = default;

    /// How many calls may run at once, at least 1. Functions cut loops by it, and give the same bits for any number.
    [[nodiscard]] virtual int workers() const = 0;

    /// Calls f(0) ... f(n - 1), each once, in any order, on any threads, several at once, and returns when all have
    /// ended; what they wrote is then visible to the caller. If calls throw, the others may be left out, and run()
    /// throws one of the exceptions when none is running any more. Calls do not call run().
    virtual void run(int n, std::function<void(int)> const& f) = 0;
  };

  /// Threads of this program, the calling one among them. The others start with the first loop, sleep between loops, and
  /// end with the object. It shares out one loop at a time: one that another thread begins meanwhile runs on that thread
  /// alone. In a program with StarPU, lend its workers instead (starpu::cpu_workers).
  ///
  ///     nearfield::threads threads;
  ///     auto const tree = nearfield::build_tree(nearfield::simd.with(threads), nearfield::soa{x, y, z});
  class NEARFIELD_API threads final : public executor
  {
  public:
    /// As many as there are processors for this process, up to `most`.
    explicit threads(int most = std::numeric_limits<int>::max());

    [[nodiscard]] int workers() const override { return n_; }
    /// With fewer threads if the system refuses some.
    void run(int n, std::function<void(int)> const& f) override;

  private:
    class team;

    int n_;
    std::shared_ptr<team> team_; // of the process that ran the last loop
    std::atomic<bool> is_busy_ = false;
  };
}
