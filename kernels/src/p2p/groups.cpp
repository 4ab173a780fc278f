#include "groups.hpp"

#include <algorithm>
#include <numeric>

namespace nearfield::detail
{
  std::vector<double> cumulated_pairs(leaf_groups_view const& leaves, pair_form form, executor* on)
  {
    bool const is_mutual = form == pair_form::mutual;
    interaction_list const& list = is_mutual ? leaves.half : leaves.full;
    std::size_t const n = leaves.targets.size();
    std::vector<double> sums(n + 1, 0.);
    constexpr std::size_t least = 1024; // leaves of a part
    std::size_t const workers = on ? static_cast<std::size_t>(std::max(1, on->workers())) : 1;
    std::size_t const n_parts = std::clamp<std::size_t>(n / least, 1, workers);
    auto const pairs_of_part = [&](int p)
    {
      auto const part = static_cast<std::size_t>(p);
      for (std::size_t i = n * part / n_parts; i < n * (part + 1) / n_parts; ++i)
      {
        auto const b = static_cast<index_type>(i);
        double sources = leaves.full.own[b].end - leaves.full.own[b].begin;
        for (source_range const& range : list.neighbours(b))
          sources += (is_mutual ? 2. : 1.) * (range.end - range.begin);
        sums[i + 1] = leaves.targets.count(b) * sources + 1;
      }
    };
    if (n_parts > 1)
      on->run(static_cast<int>(n_parts), pairs_of_part);
    else
      pairs_of_part(0);
    std::partial_sum(sums.begin(), sums.end(), sums.begin());
    return sums;
  }

  void cut_evenly(std::vector<double> const& sums, index_type end, std::size_t n,
                  std::vector<index_type>& first_leaf)
  {
    index_type const begin = first_leaf.back();
    if (begin == end) return;
    double const before = sums[begin], all = sums[end] - before;
    for (std::size_t g = 1; g < n; ++g)
    {
      double const share = before + all * (static_cast<double>(g) / static_cast<double>(n));
      auto const cut =
          static_cast<index_type>(std::lower_bound(sums.begin(), sums.end(), share) - sums.begin());
      if (cut > first_leaf.back() && cut < end) first_leaf.push_back(cut);
    }
    first_leaf.push_back(end);
  }
}
