#pragma once

#include "plan.hpp"

#include <nearfield/core/api.hpp>

#include <cstddef>

/// \file
/// Steps that are larger than the memory of a GPU. StarPU moves data in and out as tasks need them, but what
/// one task needs must be there at once.

namespace nearfield::detail
{
  /// Bytes of one point in the data of a step.
  struct point_bytes
  {
    double source_x = 0;
    double source_q = 0; ///< of all right-hand sides
    double target_x = 0; ///< 0 for one set
    double out = 0;
  };

  /// What StarPU may use on a GPU.
  struct gpu_memory
  {
    double bytes = 0; ///< 0: unlimited
    /// tasks whose data are in use at once: those that run, and those made ready meanwhile
    int tasks_at_once = 1;
  };

  /// What a task needs on its GPU.
  NEARFIELD_API double task_bytes(step_plan const& plan, group_plan const& group,
                                  point_bytes const& point);

  /// All data of a step, with a second set of inputs.
  NEARFIELD_API double step_bytes(step_plan const& plan, point_bytes const& point);

  /// The plan for GPUs of that much memory: that of the groups as they are where all data fit, or the data of
  /// the tasks that are there at once do; else of more and smaller groups and chunks. Throws error, with
  /// what a task needs, where that does not help.
  NEARFIELD_API step_plan plan_for_gpus(planner plan, leaf_groups_view groups,
                                        point_bytes const& point, gpu_memory const& memory);
}
