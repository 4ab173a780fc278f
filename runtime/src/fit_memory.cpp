#include "fit_memory.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/job.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace nearfield::detail
{
  namespace
  {
    // StarPU cuts allocations below 4 MiB from blocks of 32 MiB, some of which are never full
    constexpr double half_empty_blocks = 64. * (1 << 20);
    // the rest is lost to fragmentation
    constexpr double usable_share = 0.8;
    // a task reads ten to twenty chunks: with 512, a thirtieth of the sources
    constexpr std::size_t most_chunks = 512;

    double usable_bytes(gpu_memory const& memory)
    {
      return usable_share * std::max(0., memory.bytes - half_empty_blocks);
    }

    /// Halves all groups of several leaves until there are at least n_groups, or none can be halved.
    std::vector<index_type> halved(std::vector<index_type> first_leaf, std::size_t n_groups)
    {
      for (bool was_cut = true; was_cut && first_leaf.size() <= n_groups;)
      {
        was_cut = false;
        std::vector<index_type> finer;
        for (std::size_t g = 0; g + 1 < first_leaf.size(); ++g)
        {
          index_type const n_leaves = first_leaf[g + 1] - first_leaf[g];
          finer.push_back(first_leaf[g]);
          if (n_leaves > 1) finer.push_back(first_leaf[g] + n_leaves / 2);
          was_cut = was_cut || n_leaves > 1;
        }
        finer.push_back(first_leaf.back());
        first_leaf = std::move(finer);
      }
      return first_leaf;
    }

    struct largest_task
    {
      double bytes = 0;
      std::size_t chunks = 0;

      largest_task(step_plan const& plan, point_bytes const& point)
      {
        for (group_plan const& group : plan.groups)
        {
          if (!group.is_for_gpus) continue;
          bytes = std::max(bytes, task_bytes(plan, group, point));
          chunks = std::max(chunks, group.source_chunks.size());
        }
      }
      [[nodiscard]] bool can_be_launched() const { return chunks <= most_source_allocations; }
      [[nodiscard]] bool fits(gpu_memory const& memory) const
      {
        return can_be_launched() && detail::fits(bytes, memory);
      }
    };

    std::string mebibytes(double bytes)
    {
      return std::to_string(std::llround(std::ceil(bytes / (1 << 20)))) + " MiB";
    }
  }

  double task_bytes(step_plan const& plan, group_plan const& group, point_bytes const& point)
  {
    double bytes = static_cast<double>(group.list.size());
    bytes += point.out * (double(group.targets.size()) + group.halo_size);
    for (std::size_t const chunk : group.source_chunks)
      bytes += (point.source_x + point.source_q) * plan.source_chunks[chunk].size();
    if (point.target_x > 0) bytes += point.target_x * plan.target_chunks[group.target_chunk].size();
    return bytes;
  }

  double step_bytes(step_plan const& plan, point_bytes const& point)
  {
    double bytes = 0;
    for (point_interval const& chunk : plan.source_chunks)
      bytes += (point.source_x + 2 * point.source_q) * chunk.size();
    for (point_interval const& chunk : plan.target_chunks) bytes += point.target_x * chunk.size();
    for (group_plan const& group : plan.groups)
      if (group.is_for_gpus)
        bytes += static_cast<double>(group.list.size()) +
                 point.out * (double(group.targets.size()) + group.halo_size);
    return bytes;
  }

  bool fits_at_once(double bytes, gpu_memory const& memory)
  {
    return memory.bytes <= 0 || bytes <= usable_bytes(memory);
  }

  bool fits(double bytes, gpu_memory const& memory)
  {
    return memory.bytes <= 0 || memory.tasks_at_once * bytes <= usable_bytes(memory);
  }

  bool can_run(step_plan const& plan, point_bytes const& point, gpu_memory const& memory)
  {
    return largest_task(plan, point).fits(memory);
  }

  step_plan plan_for_gpus(planner plan, leaf_groups_view groups, point_bytes const& point,
                          gpu_memory const& memory, executor* on)
  {
    step_plan result = plan(groups, true, default_chunks, on);
    if (fits_at_once(step_bytes(result, point), memory)) return result;
    largest_task largest(result, point);
    double least = largest.bytes; // over plans whose tasks can be launched
    // only groups for GPUs are cut
    auto const given = groups.first_leaf;
    auto const end_of_gpus = std::upper_bound(given.begin(), given.end(),
                                              groups.first_cpu_leaf); // behind their last boundary
    std::vector<index_type> of_gpus(given.begin(), end_of_gpus), first_leaf;
    for (std::size_t n_chunks = default_chunks; !largest.fits(memory); n_chunks *= 2)
    {
      if (n_chunks > most_chunks)
        throw error("near_field: a task needs " + mebibytes(least) + " of GPU memory, and " +
                        std::to_string(memory.tasks_at_once) +
                        " must fit at once, but StarPU has " + mebibytes(memory.bytes) +
                        "; use fewer right-hand sides, smaller leaves, single precision, or a "
                        "larger STARPU_LIMIT_CUDA_MEM",
                    error_kind::out_of_memory);
      // groups much smaller than a chunk reach fewer chunks, and a launch takes at most most_source_allocations
      first_leaf = of_gpus = halved(std::move(of_gpus), 8 * n_chunks);
      first_leaf.insert(first_leaf.end(), end_of_gpus, given.end());
      groups.first_leaf = first_leaf;
      result = plan(groups, true, n_chunks, on);
      largest = largest_task(result, point);
      if (largest.can_be_launched()) least = std::min(least, largest.bytes);
    }
    return result;
  }
}
