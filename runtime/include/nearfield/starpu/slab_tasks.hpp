#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/search/rows.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace nearfield::starpu::detail
{
  /// The kinds of search tasks. Each has a codelet and a performance model.
  enum class slab_work
  {
    count,
    fill,
    sort,
    reduce
  };

  /// Runs work(s) for every s in [0, n) in tasks on CPU workers, up to 32 tasks per worker, and returns when
  /// all have ended. Rethrows the first exception; values of s not started by then are skipped. Throws
  /// nearfield::error if there is no CPU worker.
  ///
  /// A task takes the next s, not a fixed one. So work starts in ascending order of s whatever the scheduler
  /// does, and an ordered consumer (in_order) waits only for work in progress.
  NEARFIELD_API void run_slabs(runtime const& starpu, slab_work what, std::size_t n,
                               std::uint64_t candidates,
                               std::function<void(std::size_t)> const& work);

  /// The number of CPU workers, at least 1.
  NEARFIELD_API std::uint64_t cpu_workers();
}
