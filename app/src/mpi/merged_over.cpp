#include "mpi/merged_over.hpp"

#include <vector>

namespace nearfield::app
{
  std::uint64_t report_merged_over(mpi_ranks const& all, named_points const& targets,
                                   named_points const* sources, std::span<double const> origin)
  {
    bool const is_exact =
        is_exact_in_float(targets, origin) && (!sources || is_exact_in_float(*sources, origin));
    if (all.least(static_cast<std::uint64_t>(is_exact)) == 1) return 0;
    auto const n_targets = all.sum(targets.points.size());
    auto const size = static_cast<std::uint64_t>(all.size());
    std::vector<point_key> keys;
    std::vector<std::size_t> offsets{0};
    all.attempt(
        [&]
        {
          for (std::uint64_t to = 0; to < size; ++to) // equal places meet on one rank
          {
            append_keys(targets, origin, targets.first, to, size, keys);
            if (sources) append_keys(*sources, origin, n_targets + sources->first, to, size, keys);
            offsets.push_back(keys.size());
          }
        });
    auto arrived = all.exchange<point_key>(keys, offsets);
    merged_points found;
    for (auto const& each : all.gather(find_merged(arrived.values))) found.add(each);
    if (all.is_first()) report_merged(found, targets, sources, n_targets);
    return found.count;
  }
}
