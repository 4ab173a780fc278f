#include <nearfield/core/boxes.hpp>
#include <nearfield/core/error.hpp>

#include <algorithm>
#include <string>

namespace nearfield::detail
{
  excluded_rows excluded_rows_of(char const* function, std::span<std::uint64_t const> offsets,
                                 std::span<index_type const> excluded, std::size_t n_targets,
                                 std::size_t n_sources, bool one_set)
  {
    excluded_rows rows;
    if (offsets.empty() && excluded.empty()) return rows;
    std::string const name(function);
    if (offsets.size() != n_targets + 1)
      throw error(name + ": .excluded_offsets has " + std::to_string(offsets.size()) +
                  " values; give " + std::to_string(n_targets + 1));
    if (offsets[0] != 0 || !std::is_sorted(offsets.begin(), offsets.end()) ||
        offsets.back() != excluded.size())
      throw error(name + ": .excluded_offsets must ascend from 0 to " +
                  std::to_string(excluded.size()) + ", the number of values in .excluded");
    for (std::size_t k = 0; k < excluded.size(); ++k)
      if (excluded[k] >= n_sources)
        throw error(name + ": value " + std::to_string(k) + " of .excluded is " +
                    std::to_string(excluded[k]) + ", and there are " + std::to_string(n_sources) +
                    " points");

    rows.offsets.assign(n_targets + 1, 0);
    auto const for_each = [&](auto const& f)
    {
      for (std::size_t i = 0; i < n_targets; ++i)
        for (std::uint64_t k = offsets[i]; k < offsets[i + 1]; ++k)
        {
          f(i, excluded[k]);
          if (one_set && excluded[k] != i) f(excluded[k], static_cast<index_type>(i));
        }
    };
    for_each([&](std::size_t i, index_type) { ++rows.offsets[i + 1]; });
    for (std::size_t i = 0; i < n_targets; ++i) rows.offsets[i + 1] += rows.offsets[i];
    rows.sources.resize(rows.offsets[n_targets]);
    std::vector<std::uint64_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
    for_each([&](std::size_t i, index_type j) { rows.sources[next[i]++] = j; });

    // a pair may be given twice, or both ways
    std::vector<std::size_t> last_target(n_sources, n_targets);
    std::uint64_t kept = 0, begin = 0;
    for (std::size_t i = 0; i < n_targets; ++i)
    {
      std::uint64_t const end = rows.offsets[i + 1];
      for (; begin < end; ++begin)
      {
        index_type const j = rows.sources[begin];
        if (last_target[j] == i) continue;
        last_target[j] = i;
        rows.sources[kept++] = j;
      }
      rows.offsets[i + 1] = kept;
    }
    rows.sources.resize(kept);
    return rows;
  }
}
