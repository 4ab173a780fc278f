#include <nearfield/starpu/group_leaves.hpp>

#include "shares.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <string>
#include <thread>

namespace nearfield
{
  namespace
  {
    constexpr double pairs_of_a_group = 2e7;
    constexpr int groups_per_core = 16;
    // below this StarPU's overhead exceeds a few percent of a task
    constexpr double least_pairs_of_a_group = 1e6;

    // more than the two workers of a GPU run at once, so that it never drains; 1000 leaves fill a GPU
    constexpr int most_groups_per_gpu = 8;
    constexpr double least_leaves_of_a_gpu_group = 1000;
    // 0.05 ms (f32) to 0.1 ms (f64) of an H100, while submitting a task costs 5 to 10 us: eight tasks take a
    // tenth of a step of half a millisecond. But no more CPU workers than groups can gather inputs or scatter
    // results.
    constexpr double least_pairs_of_a_gpu_group = 1.5e8;

    double number_of_gpu_groups(group_options const& options, double pairs, double n_leaves)
    {
      if (options.groups_per_gpu > 0) return double(options.groups_per_gpu) * options.gpus;
      return std::min({n_leaves / least_leaves_of_a_gpu_group, pairs / least_pairs_of_a_gpu_group,
                       double(most_groups_per_gpu) * options.gpus});
    }

    std::size_t number_of_groups(group_options const& options, double pairs, index_type n_leaves)
    {
      if (options.leaves_per_group > 0)
      {
        auto const size = static_cast<std::size_t>(options.leaves_per_group);
        return (n_leaves + size - 1) / size;
      }
      if (options.gpus > 0)
        return static_cast<std::size_t>(
            std::clamp<double>(number_of_gpu_groups(options, pairs, n_leaves), 1, n_leaves));
      double const cores = std::max(1u, std::thread::hardware_concurrency());
      double const size =
          std::clamp(pairs / (groups_per_core * cores), least_pairs_of_a_group, pairs_of_a_group);
      return static_cast<std::size_t>(std::clamp<double>(pairs / size, 1, n_leaves));
    }
  }

  std::vector<index_type> detail::first_leaves_of_groups(leaf_groups_view const& views,
                                                         group_options const& options)
  {
    if (options.leaves_per_group < 0)
      throw error("leaves_per_group: found " + std::to_string(options.leaves_per_group) +
                  "; give 1 or more, or 0 for the default");
    if (options.gpus < 0)
      throw error("gpus: found " + std::to_string(options.gpus) + "; give 0 or more");
    if (options.groups_per_gpu < 0)
      throw error("groups_per_gpu: found " + std::to_string(options.groups_per_gpu) +
                  "; give 1 or more, or 0 for the default");
    std::vector<index_type> first_leaf{0};
    if (index_type const n = views.targets.size(); n > 0)
    {
      std::vector<double> const pairs = cumulated_pairs(views, pair_form::one_sided);
      cut_evenly(pairs, n, number_of_groups(options, pairs[n], n), first_leaf);
    }
    return first_leaf;
  }
}
