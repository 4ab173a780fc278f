#include "division.hpp"

#include "any_step.hpp"
#include "conf.hpp"
#include "cpu_workers.hpp"
#include "gpu_memory.hpp"
#include "p2p_codelet.hpp"
#include "shares.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace nearfield::starpu::detail
{
  namespace
  {
    // What is measured lies in the caches of a core: CPU workers reach 0.64 to 0.85 of it in a step, whose points come from
    // memory, and a GPU 0.75 to 1.1 of it (`cpu_in_step` and `gpu_in_step` of h100-starpu_shares.json). A GPU would wait for
    // cores if this were 1 / 0.7 of the true ratio of both (doubt in shares.cpp).
    constexpr double in_a_step = 0.75;

    // Results of CPU workers are delivered after those that cross the bus in pieces: on an H100 that takes a fifth of a step
    // that reads new inputs and delivers.
    constexpr double least_gain_beside_columns = 0.25;

    /// The CPU workers that may compute for long: with such a task on every core, the main thread and those of the
    /// GPUs would wait.
    int free_cpu_workers(int gpus)
    {
      int const workers = static_cast<int>(starpu_cpu_worker_get_count());
      return std::max(0, std::min(workers, cpus_at_start() - gpus - 1));
    }

    /// Sets the rates of a division; false where they cannot be measured: a step needs none.
    bool measure_rates(step_shape const& step, division& of)
    {
      try
      {
        double const cpu = in_a_step * step.rate(backend::simd, of.form);
        of.gpu_rate = step.rate(backend::cuda, of.form);
        of.cpu_rate = cpu;
        return true;
      }
      catch (error const&)
      {
        return false;
      }
      catch (std::bad_alloc const&)
      {
        return false;
      }
    }

    /// Whether the data of a step fit into a GPU all at once, with the caller's columns beside those in tree order.
    bool fits_with_columns(leaf_groups_view const& groups, step_shape const& step, pair_form form)
    {
      auto const& bytes = step.bytes;
      double const halo = form == pair_form::mutual ? bytes.out + sizeof(index_type) : 0;
      double const point =
          2 * (bytes.source_x + bytes.source_q + bytes.out) + halo + sizeof(index_type);
      double const lists = 64. * groups.targets.size() + 16. * groups.full.ranges.size();
      return nearfield::detail::fits_at_once(point * groups.target_order.size() + lists,
                                             smallest_gpu_memory());
    }

    /// A plan of one process: all pairs are inside it.
    nearfield::detail::task_plan tasks_of(nearfield::detail::step_plan&& from)
    {
      nearfield::detail::task_plan plan;
      plan.source_chunks = std::move(from.source_chunks);
      plan.target_chunks = std::move(from.target_chunks);
      plan.by_priority = std::move(from.by_priority);
      for (auto& group : from.groups)
      {
        plan.targets.push_back(group.targets);
        plan.inner.emplace_back(std::move(group));
      }
      plan.border.resize(plan.inner.size());
      return plan;
    }
  }

  division divide(runtime const& starpu, leaf_groups_view groups, step_shape const& step,
                  step_options const& options)
  {
    division made{choose_backend(starpu, step.k, options.backend)};
    auto const decide_form = [&]
    {
      auto of = form_case_of(step.k, groups.has_one_set, step.n_rhs);
      of.points = groups.target_order.size();
      of.leaves = groups.targets.size();
      of.real_bytes = step.real_bytes;
      made.form = nearfield::detail::choose_form("near_field", options.form, made.where, of);
    };
    decide_form();
    check_cuda_backend(step.k, made.where);
    helping_workers on;
    std::vector<index_type> first_leaf;
    auto const regroup = [&](std::vector<index_type>&& cut)
    {
      first_leaf = std::move(cut);
      groups.first_leaf = first_leaf;
    };
    auto const leave_to_cpus = [&]
    {
      made.where = backend::simd;
      made.gpu = std::nullopt;
      decide_form();
      regroup(nearfield::detail::first_leaves_of_groups(groups, {}, &on));
    };
    bool const may_share = made.where == backend::cuda && options.backend == backend::automatic;
    int const gpus = starpu.n_gpus();
    if (made.where == backend::cuda && groups.has_one_set && !groups.target_order.empty() &&
        fits_with_columns(groups, step, made.form))
      made.gpu = starpu.first_gpu();
    // one GPU takes what another leaves it, several must end together
    if (made.where == backend::cuda && made.form == pair_form::mutual && groups.is_for_gpus &&
        gpus > 1)
      regroup(nearfield::detail::cut_for_form(groups, made.form));
    bool const has_rates = may_share && groups.is_for_gpus && groups.targets.size() > 0 &&
                           free_cpu_workers(gpus) > 0 && measure_rates(step, made);
    if (has_rates)
    {
      nearfield::detail::step_workers workers{free_cpu_workers(gpus), made.cpu_rate, gpus,
                                              made.gpu_rate, gpu_targets_at_once};
      if (made.gpu && options.delivery == step_options::every_step)
        workers.least_gain = least_gain_beside_columns;
      auto shared = nearfield::detail::share_leaves(groups, made.form, step.n_rhs, workers);
      if (shared.first_cpu_leaf == 0)
        leave_to_cpus();
      else
      {
        regroup(std::move(shared.first_leaf));
        groups.first_cpu_leaf = shared.first_cpu_leaf;
      }
    }
    auto const planner = [&]
    {
      return made.form == pair_form::mutual ? &nearfield::detail::plan_mutual
                                            : &nearfield::detail::plan_gather;
    };
    if (made.where == backend::cuda)
    {
      try
      {
        made.plan = tasks_of(nearfield::detail::plan_for_gpus(planner(), groups, step.bytes,
                                                              smallest_gpu_memory(), &on));
        return made;
      }
      catch (error const& e)
      {
        bool const can_move = may_share && starpu_cpu_worker_get_count() > 0;
        if (e.kind() != error_kind::out_of_memory || !can_move) throw;
        leave_to_cpus();
      }
    }
    made.plan = tasks_of(planner()(groups, false, nearfield::detail::default_chunks, &on));
    return made;
  }
}
