#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/search/slabs.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace nearfield::starpu::detail
{
  /// What the tasks of a search do: a codelet each, with a performance model of its own.
  enum class slab_work
  {
    count,
    fill,
    sort,
    reduce
  };

  /// Runs work(s) for every s in [0, n) as tasks of CPU workers, some for each of them, and returns
  /// when all have ended. Rethrows the first exception; numbers that were not begun by then are
  /// left out. Throws error where there is no CPU worker.
  ///
  /// A task takes the next number, not one that it was made for: whatever the scheduler does,
  /// numbers begin in ascending order, so that what has to go by order waits for those under way at
  /// most.
  NEARFIELD_API void run_slabs(runtime const& starpu, slab_work what, std::size_t n,
                               std::uint64_t candidates,
                               std::function<void(std::size_t)> const& work);

  /// CPU workers, at least 1.
  NEARFIELD_API std::uint64_t cpu_workers();
}
