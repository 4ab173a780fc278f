#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

/// \file
/// The pairs of each system of a batch.

namespace nearfield
{
  /// Where the pairs of each system are in a list of the batch: system s has the pairs [offsets[s], offsets[s + 1]).
  ///
  /// Takes a pass over the pairs. Throws nearfield::error for points that are not of the batch, and a sorted list of mixed
  /// systems, of which pairs are not together.
  template <class T, int Dim>
  [[nodiscard]] std::vector<std::uint64_t>
  pair_offsets(coo<T, Dim> const& list, std::type_identity_t<systems<Dim>> const& batch)
  {
    bool const one_set = batch.query_offsets.empty();
    auto const& offsets = one_set ? batch.offsets : batch.query_offsets;
    auto const& order = one_set ? batch.order : batch.query_order;
    std::size_t const n = offsets.empty() ? 0 : offsets.back();
    std::vector<index_type> system_of(n);
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
      for (index_type k = offsets[s]; k < offsets[s + 1]; ++k)
        system_of[order.empty() ? k : order[k]] = static_cast<index_type>(s);
    std::vector<std::uint64_t> found(offsets.empty() ? 1 : offsets.size(), 0);
    index_type before = 0;
    for (index_type const i : list.i)
    {
      if (i >= n)
        throw error("pair_offsets: the list has point " + std::to_string(i) + " of a batch of " +
                    std::to_string(n) + "; give the systems that it was made with");
      index_type const s = system_of[i];
      if (s < before)
        throw error("pair_offsets: pairs of systems " + std::to_string(s) + " and " +
                    std::to_string(before) + " are mixed; give a list that is not sorted");
      before = s;
      ++found[std::size_t(s) + 1];
    }
    for (std::size_t s = 1; s < found.size(); ++s) found[s] += found[s - 1];
    return found;
  }
}
