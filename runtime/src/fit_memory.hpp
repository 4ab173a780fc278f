#pragma once

#include "kernels/src/p2p/plan.hpp"

#include <nearfield/core/config.hpp>

/// \file
/// Steps larger than the memory of a GPU. StarPU moves data in and out as tasks need them, but all data of a
/// task must fit at once.

namespace nearfield::detail
{
  /// Bytes per point in the data of a step.
  struct point_bytes
  {
    double source_x = 0;
    double source_q = 0; ///< of all right-hand sides
    double target_x = 0; ///< 0 for one set
    double out = 0;
  };

  /// The memory that StarPU may use on a GPU.
  struct gpu_memory
  {
    double bytes = 0; ///< 0: unlimited
    /// tasks whose data are on the GPU at once: those running, and those being prefetched
    int tasks_at_once = 1;
  };

  /// Bytes that a task needs on its GPU.
  NEARFIELD_API double task_bytes(step_plan const& plan, group_plan const& group,
                                  point_bytes const& point);

  /// Bytes that the groups for GPUs need all in all, with two sets of inputs.
  NEARFIELD_API double step_bytes(step_plan const& plan, point_bytes const& point);

  /// Whether data of so many bytes fit at once.
  NEARFIELD_API bool fits_at_once(double bytes, gpu_memory const& memory);

  /// Whether tasks that need so many bytes fit, as many as are on a GPU at once.
  NEARFIELD_API bool fits(double bytes, gpu_memory const& memory);

  /// Whether the tasks for GPUs can be launched, and those that are on a GPU at once fit into its memory.
  NEARFIELD_API bool can_run(step_plan const& plan, point_bytes const& point,
                             gpu_memory const& memory);

  /// The plan for GPUs with this much memory. It has the given groups if all data of the step fit, or those of
  /// all of its tasks that are on a GPU at once; otherwise more and smaller groups and chunks. Throws nearfield::error
  /// if even that does not fit; the message gives the bytes that a task needs.
  NEARFIELD_API step_plan plan_for_gpus(planner plan, leaf_groups_view groups,
                                        point_bytes const& point, gpu_memory const& memory,
                                        executor* on = nullptr);
}
