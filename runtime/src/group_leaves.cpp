#include <nearfield/starpu/near_field.hpp>

#include "kernels/src/p2p/groups.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/parallel.hpp>

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

    // 1000 leaves fill a GPU
    constexpr double least_leaves_of_a_gpu_group = 1000;
    // 0.05 ms (f32) to 0.1 ms (f64) of an H100, while submitting a task costs 5 to 10 us: eight tasks take a
    // tenth of a step of half a millisecond. But no more CPU workers than groups can gather inputs or scatter
    // results.
    constexpr double least_pairs_of_a_gpu_group = 1.5e8;
    // with 8 groups of Plummer 8e6 for each of two H100s, a step takes up to 1.2 times as long as with 4
    constexpr double of_several_gpus = 4;
    // so that a GPU's workers always have the next one and it never drains
    constexpr std::size_t most_groups_of_a_gpu = 8;

    /// Groups for GPUs by default, an equal number for each unless there are fewer.
    std::size_t number_of_gpu_groups(std::size_t gpus, double pairs, double n_leaves)
    {
      auto const at_most = [&](double least_pairs, std::size_t groups)
      {
        return static_cast<std::size_t>(std::min(
            {n_leaves / least_leaves_of_a_gpu_group, pairs / least_pairs, double(groups)}));
      };
      std::size_t const most = most_groups_of_a_gpu * gpus;
      if (gpus == 1) return at_most(least_pairs_of_a_gpu_group, most);
      std::size_t const n = at_most(of_several_gpus * least_pairs_of_a_gpu_group, most);
      return n > gpus ? n / gpus * gpus : at_most(least_pairs_of_a_gpu_group, gpus);
    }

    std::size_t number_of_groups(group_options const& options, double pairs, index_type n_leaves)
    {
      if (options.leaves_per_group > 0)
      {
        auto const size = static_cast<std::size_t>(options.leaves_per_group);
        return (n_leaves + size - 1) / size;
      }
      if (options.gpus > 0)
      {
        auto const gpus = static_cast<std::size_t>(options.gpus);
        std::size_t const n = options.groups_per_gpu > 0
                                  ? static_cast<std::size_t>(options.groups_per_gpu) * gpus
                                  : number_of_gpu_groups(gpus, pairs, n_leaves);
        return std::clamp<std::size_t>(n, 1, n_leaves);
      }
      double const cores = std::max(1u, std::thread::hardware_concurrency());
      double const size =
          std::clamp(pairs / (groups_per_core * cores), least_pairs_of_a_group, pairs_of_a_group);
      return static_cast<std::size_t>(std::clamp<double>(pairs / size, 1, n_leaves));
    }
  }

  std::vector<index_type> detail::first_leaves_of_groups(leaf_groups_view const& views,
                                                         group_options const& options, executor* on)
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
      std::vector<double> const pairs = cumulated_pairs(views, pair_form::one_sided, on);
      std::size_t const n_groups = number_of_groups(options, pairs[n], n);
      cut_evenly(pairs, n, n_groups, first_leaf);
    }
    return first_leaf;
  }
}
