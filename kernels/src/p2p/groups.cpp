#include "groups.hpp"

#include <nearfield/core/parallel.hpp>

namespace nearfield::detail
{
  std::vector<double> cumulated_pairs(leaf_groups_view const& leaves, pair_form form, executor* on)
  {
    bool const is_mutual = form == pair_form::mutual;
    interaction_list const& list = is_mutual ? leaves.half : leaves.full;
    std::vector<double> sums(std::size_t(leaves.targets.size()) + 1);
    sum_before<double>(threads_or_here(on), sums,
                       [&](std::size_t i)
                       {
                         auto const b = static_cast<index_type>(i);
                         double sources = leaves.full.own[b].end - leaves.full.own[b].begin;
                         for (source_range const& range : list.neighbours(b))
                           sources += (is_mutual ? 2. : 1.) * (range.end - range.begin);
                         return leaves.targets.count(b) * sources + 1;
                       });
    return sums;
  }
}
