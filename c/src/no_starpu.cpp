// In place of starpu.cpp in a build without StarPU.

#include "calls.hpp"

namespace nearfield::c
{
  namespace
  {
    nf_status not_built() noexcept
    {
      return failed(nf_not_available, "this library was built without StarPU; install StarPU and "
                                      "build nearfield with -DNEARFIELD_ENABLE_STARPU=ON");
    }
    template <class Handle>
    nf_status not_made(Handle** handle) noexcept
    {
      if (handle != nullptr) *handle = nullptr;
      return not_built();
    }
  }
}

using namespace nearfield;

int32_t nf_has_starpu(void)
{
  c::not_built();
  return 0;
}

nf_status nf_p2p_tasks_create(nf_interaction const*, nf_real, nf_p2p_tasks** tasks)
{
  return c::not_made(tasks);
}
void nf_p2p_tasks_destroy(nf_p2p_tasks*) {}
nf_status nf_p2p_tasks_inner(nf_p2p_tasks*, nf_handles, nf_handles, nf_handles,
                             nf_task_options const*)
{
  return c::not_built();
}
nf_status nf_p2p_tasks_outer(nf_p2p_tasks*, nf_handles, nf_handles, nf_handles, nf_handles,
                             nf_task_options const*)
{
  return c::not_built();
}
nf_status nf_p2p_tasks_outer_mutual(nf_p2p_tasks*, nf_handles, nf_handles, nf_handles, nf_handles,
                                    nf_handles, nf_handles, nf_task_options const*)
{
  return c::not_built();
}
nf_status nf_p2p_tasks_wait(nf_p2p_tasks*)
{
  return c::not_built();
}

nf_status nf_step_of_tree(nf_interaction const*, nf_tree const*, nf_columns, nf_columns const*,
                          nf_columns, nf_columns, nf_near_field_options const*, nf_step** step)
{
  return c::not_made(step);
}
nf_status nf_step_of_cells(nf_interaction const*, nf_cells const*, nf_columns, nf_columns const*,
                           nf_columns, nf_columns, nf_near_field_options const*, nf_step** step)
{
  return c::not_made(step);
}
nf_status nf_step_of_handles(nf_interaction const*, nf_real, nf_handles, nf_handles const*,
                             nf_handles, nf_handles, nf_tree_options const*,
                             nf_near_field_options const*, nf_step** step)
{
  return c::not_made(step);
}
void nf_step_destroy(nf_step*) {}
nf_status nf_step_submit(nf_step*)
{
  return c::not_built();
}
nf_status nf_step_wait(nf_step*)
{
  return c::not_built();
}
nf_status nf_step_inputs_changed(nf_step*)
{
  return c::not_built();
}
nf_status nf_step_positions_changed(nf_step*)
{
  return c::not_built();
}
