#include <nearfield/starpu/slab_tasks.hpp>

#include <nearfield/starpu/check.hpp>
#include <nearfield/starpu/codelet.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/monitor.hpp>
#include <nearfield/starpu/task.hpp>

#include <starpu.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace nearfield::starpu::detail
{
  namespace
  {
    // The last tasks end within a share of each other, and a task costs some microseconds.
    constexpr std::size_t tasks_per_worker = 32;

    /// What the tasks of one call have in common.
    struct slab_run
    {
      std::function<void(std::size_t)> const* work = nullptr;
      std::atomic<std::size_t> next = 0;
      std::atomic<bool> has_failed = false;
      monitor watch;
    };

    struct slab_share
    {
      slab_run* run;
      std::size_t slabs;
      double candidates;
    };

    void run_share(void**, void* cl_arg) noexcept
    {
      slab_share const& share = *static_cast<slab_share const*>(cl_arg);
      try
      {
        for (std::size_t k = 0; k < share.slabs && !share.run->has_failed; ++k)
          (*share.run->work)(share.run->next++);
      }
      catch (...)
      {
        share.run->has_failed = true;
        share.run->watch.caught();
      }
    }

    uint32_t footprint(starpu_task* task)
    {
      return work_bin(static_cast<slab_share const*>(task->cl_arg)->candidates);
    }

    class slab_codelet : public codelet_base
    {
    public:
      explicit slab_codelet(std::string const& name)
          : codelet_base(name, "nearfield_" + name, &footprint)
      {
        get().cpu_funcs[0] = &run_share;
      }
    };

    starpu_codelet& codelet_of(slab_work what)
    {
      // never destroyed: StarPU writes the models when it stops, maybe after static objects are gone
      static slab_codelet* const all[] = {
          new slab_codelet("radius_search_count"), new slab_codelet("radius_search_fill"),
          new slab_codelet("radius_search_sort"), new slab_codelet("radius_search_reduce")};
      return all[static_cast<int>(what)]->get();
    }
  }

  void run_slabs(runtime const&, slab_work what, std::size_t n, std::uint64_t candidates,
                 std::function<void(std::size_t)> const& work)
  {
    if (n == 0) return;
    check_may_wait("radius_search");
    slab_run run;
    run.work = &work;
    std::size_t const n_tasks = std::min<std::size_t>(n, tasks_per_worker * cpu_workers());
    std::vector<slab_share> shares(n_tasks);
    for (std::size_t t = 0; t < n_tasks; ++t)
      shares[t] = {&run, (t + 1) * n / n_tasks - t * n / n_tasks,
                   static_cast<double>(candidates) / static_cast<double>(n_tasks)};
    {
      // read by all tasks: when it goes, they have ended
      handle const all = handle::of(shares.data(), shares.size());
      for (slab_share& share : shares)
      {
        task one(codelet_of(what), 1);
        one.add(all, STARPU_R);
        one.set_argument(&share, sizeof(share));
        one.submit();
      }
    }
    run.watch.rethrow();
  }

  std::uint64_t cpu_workers()
  {
    return std::max(1u, starpu_cpu_worker_get_count());
  }
}
