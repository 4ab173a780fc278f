#include "shares.hpp"

#include <nearfield/core/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nearfield::detail
{
  namespace
  {
    // StarPU takes 5 to 10 us to submit a task, and 20 us around it on its worker
    constexpr double submission = 1e-5;
    constexpr double around_task = 2e-5;
    // less is not worth a core that is late
    constexpr double least_gain = 5e-5;
    // how wrong the ratio of two rates may be: each was measured alone, and for a moment
    constexpr double doubt = 0.3;

    constexpr double seconds_of_group = 1e-3;
    constexpr int least_groups = 2, most_groups = 16;
  }

  cpu_share share_of_cpus(step_size const& step, step_workers const& workers)
  {
    double const pairs = step.pairs;
    double const cpu = workers.cpus * workers.cpu_rate, gpu = workers.gpus * workers.gpu_rate;
    if (!(cpu > 0) || !(pairs > 0)) return {};
    double const delay = submission * (static_cast<double>(step.gpu_groups) + workers.cpus) +
                         least_groups * around_task;
    auto const in_groups = [&](double share)
    {
      double const seconds = share * pairs / cpu;
      int const groups = static_cast<int>(
          std::clamp<double>(seconds / seconds_of_group, least_groups, most_groups));
      return cpu_share{share, groups - 1, 2};
    };
    if (!(gpu > 0)) return in_groups(1);

    // A GPU drains at the end of each of its groups, which are launched apart: one that is slow, or has little to do, takes
    // notably longer than its rate says, by about a full load.
    double const tail =
        workers.targets_at_once * pairs / std::max(1., step.targets) / workers.gpu_rate;
    double const cpu_alone = pairs / cpu + delay, gpu_alone = pairs / gpu + tail;
    double const alone = std::min(cpu_alone, gpu_alone);
    // CPU workers compute for part_of_time * (the time of the GPUs) - delay
    double const part_of_time = 1 - doubt * (gpu - cpu) / (gpu + cpu);
    double const gpu_time = (pairs + cpu * delay + gpu * tail) / (gpu + part_of_time * cpu);
    double const share = cpu * (part_of_time * gpu_time - delay) / pairs;
    double const gain = alone - gpu_time * std::max(1., part_of_time);
    if (share > 0 && gain > std::max(least_gain, workers.least_gain * alone))
      return in_groups(share);
    return cpu_alone < gpu_alone ? in_groups(1) : cpu_share{};
  }

  std::vector<index_type> cut_for_form(leaf_groups_view const& groups, pair_form form)
  {
    std::vector<index_type> first_leaf{0};
    cut_evenly(cumulated_pairs(groups, form), groups.targets.size(), groups.first_leaf.size() - 1,
               first_leaf);
    return first_leaf;
  }

  shared_leaves share_leaves(leaf_groups_view const& groups, pair_form form, int n_rhs,
                             step_workers const& workers)
  {
    std::size_t const n_groups = groups.first_leaf.size() - 1;
    index_type const n = groups.targets.size();
    std::vector<double> const sums = cumulated_pairs(groups, form);
    cpu_share const share = share_of_cpus(
        {n_rhs * sums[n], static_cast<double>(groups.target_order.size()), n_groups}, workers);
    if (share.pairs == 0) return {{groups.first_leaf.begin(), groups.first_leaf.end()}, n};

    auto const leaf_at = [&](double part)
    {
      return static_cast<index_type>(std::lower_bound(sums.begin(), sums.end(), part * sums[n]) -
                                     sums.begin());
    };
    double const gpu = 1 - share.pairs;
    auto const cpus = static_cast<std::size_t>(workers.cpus);
    // as many for each GPU, and enough that its workers overlap
    auto const gpus = static_cast<std::size_t>(workers.gpus);
    auto const for_each =
        static_cast<std::size_t>(std::ceil(gpu * n_groups / std::max(1, workers.gpus)));
    std::size_t const gpu_groups = std::min(n_groups, gpus * std::max<std::size_t>(2, for_each));
    shared_leaves made{{0}, share.pairs == 1 ? 0 : leaf_at(gpu)};
    cut_evenly(sums, made.first_cpu_leaf, gpu_groups, made.first_leaf);
    double const large =
        share.pairs * share.large_groups / (share.large_groups + 0.5 * share.small_groups);
    cut_evenly(sums, leaf_at(gpu + large), cpus * static_cast<std::size_t>(share.large_groups),
               made.first_leaf);
    cut_evenly(sums, n, cpus * static_cast<std::size_t>(share.small_groups), made.first_leaf);
    return made;
  }

  group_places place_groups(task_plan const& plan, std::map<int, std::vector<int>> const& gpus)
  {
    std::size_t const n = plan.inner.size();
    // larger ones first; where a scheduler knows priorities, sums are delivered while they are in cache
    group_places made{plan.by_priority, std::vector<int>(n, -1), std::vector<std::size_t>(n, 0)};
    if (made.order.empty())
    {
      made.order.resize(n);
      std::iota(made.order.begin(), made.order.end(), std::size_t(0));
    }
    if (gpus.size() < 2) return made;
    std::vector<std::size_t> on_gpus, turn(n, n); // turn: of the group on its GPU
    for (std::size_t g = 0; g < n; ++g)
      if (auto const& part = plan.inner[g] ? plan.inner[g] : plan.border[g];
          part && part->is_for_gpus)
        on_gpus.push_back(g);
    std::size_t first = 0, k = 0;
    for (auto const& [device, workers] : gpus)
    {
      std::size_t const end = on_gpus.size() * ++k / gpus.size();
      for (std::size_t i = first; i < end; ++i)
      {
        turn[on_gpus[i]] = i - first;
        made.worker[on_gpus[i]] = workers[(i - first) % workers.size()];
        made.gpu[on_gpus[i]] = k - 1;
      }
      first = end;
    }
    for (std::size_t g = 1; g < n; ++g)
      if (made.worker[g] < 0) made.gpu[g] = made.gpu[g - 1];
    // each GPU has its first one early
    std::ranges::stable_sort(made.order, {}, [&](std::size_t g) { return turn[g]; });
    return made;
  }
}
