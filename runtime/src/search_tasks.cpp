#include "search_tasks.hpp"

#include "codelet.hpp"
#include "environment.hpp"
#include "task.hpp"

#include <nearfield/starpu/handles.hpp>

#include <algorithm>
#include <atomic>
#include <string>

namespace nearfield::starpu::detail
{
  namespace
  {
    /// Shared by the tasks of one call.
    struct shared_run
    {
      std::function<void(std::size_t)> const* work = nullptr;
      std::atomic<std::size_t> next = 0;
      std::atomic<bool> has_failed = false;
      monitor watch;
    };

    struct task_share : task_argument
    {
      shared_run* run;
      std::size_t pieces;
    };

    class search_codelet : public codelet
    {
      using codelet::codelet;

      void run(running_task const& task) const override
      {
        auto const& share = static_cast<task_share const&>(task.argument);
        try
        {
          for (std::size_t k = 0; k < share.pieces && !share.run->has_failed; ++k)
            (*share.run->work)(share.run->next++);
        }
        catch (...)
        {
          share.run->has_failed = true;
          throw;
        }
      }
    };

    starpu_codelet& codelet_of(search_work what, bool is_scalar)
    {
      static char const* const names[] = {"radius_search_count", "radius_search_fill",
                                          "radius_search_sort", "radius_search_reduce"};
      char const* const name = names[static_cast<int>(what)];
      return registered<search_codelet>(
          {.name = name,
           .symbol = "nearfield_" + std::string(name) + (is_scalar ? "_scalar" : ""),
           .profiler_name = name,
           .backends = is_scalar ? backend::scalar : backend::simd,
           .is_counted = false});
    }
  }

  std::size_t most_tasks()
  {
    // all workers finish at about the same time, though a task costs some microseconds
    return std::size_t(32) * std::max(1u, starpu_cpu_worker_get_count());
  }

  void run_in_tasks(runtime const&, search_work what, isa where, std::size_t n,
                    std::uint64_t candidates, std::function<void(std::size_t)> const& work)
  {
    if (n == 0) return;
    check_may_wait("radius_search");
    shared_run run;
    run.work = &work;
    std::size_t const n_tasks = std::min(n, most_tasks());
    std::vector<task_share> shares(n_tasks);
    for (std::size_t t = 0; t < n_tasks; ++t)
      shares[t] = {{&run.watch, static_cast<double>(candidates) / static_cast<double>(n_tasks)},
                   &run,
                   (t + 1) * n / n_tasks - t * n / n_tasks};
    check_address_space(4, n_tasks);
    {
      starpu_codelet& codelet = codelet_of(what, where == isa::scalar);
      // All tasks read this handle, so its destructor waits for them.
      handle const all = handle::of(shares.data(), shares.size());
      for (task_share& share : shares)
      {
        task one(codelet, 1);
        one.add(all, STARPU_R);
        one.set_argument(&share, sizeof(share));
        one.submit();
      }
    }
    run.watch.rethrow();
  }

  std::uint64_t slab_size(radius_search_options const& options, std::uint64_t all,
                          std::uint64_t most)
  {
    // Searching fewer takes less time than the overhead of a task.
    constexpr std::uint64_t least = std::uint64_t(1) << 13;
    if (options.candidates > 0) return options.candidates;
    return std::min(most, std::max(least, all / most_tasks()));
  }

  void run_rows(runtime const& starpu, std::size_t n, std::uint64_t work,
                std::function<void(std::size_t, std::size_t)> const& f)
  {
    std::size_t const pieces = std::min(n, most_tasks());
    run_in_tasks(starpu, search_work::sort, isa::best, pieces, work,
                 [&](std::size_t p) { f(p * n / pieces, (p + 1) * n / pieces); });
  }

  void reduce_in_tasks(runtime const& starpu, isa where, std::size_t n, std::uint64_t candidates,
                       std::function<void(std::size_t)> const& work,
                       std::function<void(std::size_t)> const& take)
  {
    in_order done;
    run_in_tasks(starpu, search_work::reduce, where, n, candidates,
                 [&](std::size_t p)
                 {
                   work(p);
                   done.put(p, take);
                 });
  }
}
