#pragma once

#include "points.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/p2p/near_field.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace nearfield::test
{
  /// Pairs that do not meet: none, or up to three of each target.
  struct exclusions
  {
    std::vector<std::uint64_t> offsets;
    std::vector<index_type> sources;
    std::set<std::pair<index_type, index_type>> pairs; ///< target and source

    exclusions() = default;
    exclusions(random_numbers& random, std::size_t n, std::size_t n_sources, bool one_set)
        : offsets{0}
    {
      for (index_type i = 0; i < n; ++i)
      {
        for (std::size_t left = n_sources > 0 ? random.below(4) : 0; left > 0; --left)
        {
          auto const j = static_cast<index_type>(random.below(n_sources));
          sources.push_back(j);
          pairs.emplace(i, j);
          if (one_set) pairs.emplace(j, i);
        }
        offsets.push_back(sources.size());
      }
    }

    [[nodiscard]] near_field_options options(pair_form form = pair_form::one_sided) const
    {
      return {.form = form, .excluded_offsets = offsets, .excluded = sources};
    }
  };
}
