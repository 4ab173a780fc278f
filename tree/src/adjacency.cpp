#include "adjacency.hpp"

#include "instantiate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace nearfield::detail
{
  namespace
  {
    constexpr int power_of_3(int exponent)
    {
      return exponent == 0 ? 1 : 3 * power_of_3(exponent - 1);
    }

    /// Step n, with -1, 0 or +1 on each axis: n = 0 is -1 on all of them, and the last axis varies fastest.
    template <int Dim>
    constexpr std::array<int, Dim> steps(int n)
    {
      std::array<int, Dim> result{};
      for (int d = Dim - 1; d >= 0; --d, n /= 3) result[d] = n % 3 - 1;
      return result;
    }

    constexpr index_type none = std::numeric_limits<index_type>::max();

    /// The last leaf whose smallest key is not above `key`, or none. Most neighbours are near in Morton
    /// order, so the search doubles its distance from `start` until it has passed the key.
    index_type last_not_above(std::span<std::uint64_t const> keys, std::uint64_t key,
                              std::size_t start)
    {
      std::size_t first = start, last = start, stride = 1;
      if (keys[start] <= key)
        for (; last < keys.size() && keys[last] <= key; stride *= 2)
        {
          first = last;
          last = std::min(keys.size(), last + stride);
        }
      else
        for (; first > 0 && keys[first] > key; stride *= 2)
        {
          last = first;
          first -= std::min(first, stride);
        }
      // The comparisons are unpredictable, so no branch depends on them.
      for (std::size_t n = last - first; n > 0;)
      {
        std::size_t const half = (n + 1) / 2;
        first += keys[first + half - 1] <= key ? half : 0;
        n -= half;
      }
      return first == 0 ? none : static_cast<index_type>(first - 1);
    }

    /// Visits the neighbours of leaf b that are as large as b, or larger: those that hold one of the cells of
    /// its own size around it. Smaller ones find b.
    template <int Dim, class Visit>
    void visit_neighbours(leaf_set<Dim> const& leaves, int key_level, index_type b, Visit&& visit)
    {
      constexpr int n_cells = power_of_3(Dim);
      leaf_cell<Dim> const& cell = leaves.cells[b];
      std::uint32_t const n = std::uint32_t(1) << cell.level;

      std::array<index_type, n_cells> larger;
      auto larger_end = larger.begin();
      for (int c = 0; c < n_cells; ++c)
      {
        if (c == n_cells / 2) continue;
        std::array<int, Dim> const step = steps<Dim>(c);
        std::array<std::uint32_t, Dim> index;
        bool inside = true;
        for (int d = 0; d < Dim; ++d)
        {
          // Below zero wraps round to a large number.
          index[d] = cell.index[d] + static_cast<std::uint32_t>(step[d]);
          inside &= index[d] < n;
        }
        if (!inside) continue;

        std::uint64_t const key = encode<leaf_order::morton, Dim>(index, cell.level)
                                  << (Dim * (key_level - cell.level));
        index_type const found = last_not_above(leaves.keys, key, b);
        if (found == none) continue;
        int const found_level = leaves.cells[found].level;
        bool const holds_key = (key ^ leaves.keys[found]) >> (Dim * (key_level - found_level)) == 0;
        if (!holds_key || found_level > cell.level) continue;
        if (found_level < cell.level)
        {
          // A larger leaf holds up to 2^(Dim - 1) of the cells around b.
          if (std::find(larger.begin(), larger_end, found) != larger_end) continue;
          *larger_end++ = found;
        }
        visit(found);
      }
    }

    /// offsets[b + 1] holds the size of row b; on return, where row b starts.
    void counts_to_offsets(std::vector<std::size_t>& offsets)
    {
      for (std::size_t b = 1; b < offsets.size(); ++b) offsets[b] += offsets[b - 1];
    }

    /// The rows, each ascending. The relation is symmetric, so its transpose is itself, and writing the
    /// transpose row by row sorts it.
    adjacency sorted(adjacency const& rows)
    {
      adjacency result;
      result.offsets = rows.offsets;
      result.leaves.resize(rows.leaves.size());
      std::vector<std::size_t> next = rows.offsets;
      for (index_type b = 0; b + 1 < rows.offsets.size(); ++b)
        for (index_type const c : rows.of(b)) result.leaves[next[c]++] = b;
      return result;
    }
  }

  template <int Dim>
  adjacency row_major_adjacency(leaf_set<Dim> const& leaves, int level)
  {
    constexpr int n_rows = power_of_3(Dim - 1);
    std::uint32_t const n = std::uint32_t(1) << level;
    // The neighbours of b in the row at step r lie between two keys that never decrease with b.
    std::array<index_type, n_rows> first{};
    adjacency result;
    result.offsets.reserve(leaves.cells.size() + 1);
    for (index_type b = 0; b < leaves.size(); ++b)
    {
      std::array<std::uint32_t, Dim> const& index = leaves.cells[b].index;
      for (int r = 0; r < n_rows; ++r)
      {
        std::array<int, Dim - 1> const step = steps<Dim - 1>(r);
        std::array<std::uint32_t, Dim> low = index;
        bool inside = true;
        for (int d = 0; d < Dim - 1; ++d)
        {
          low[d] += static_cast<std::uint32_t>(step[d]);
          inside &= low[d] < n;
        }
        if (!inside) continue;
        std::array<std::uint32_t, Dim> high = low;
        low[Dim - 1] -= low[Dim - 1] > 0;
        high[Dim - 1] += high[Dim - 1] + 1 < n;
        std::uint64_t const low_key = encode<leaf_order::row_major, Dim>(low, level);
        std::uint64_t const high_key = encode<leaf_order::row_major, Dim>(high, level);

        while (first[r] < leaves.size() && leaves.keys[first[r]] < low_key) ++first[r];
        for (index_type c = first[r]; c < leaves.size() && leaves.keys[c] <= high_key; ++c)
          if (c != b) result.leaves.push_back(c);
      }
      result.offsets.push_back(result.leaves.size());
    }
    return result;
  }

  template <int Dim>
  adjacency morton_adjacency(leaf_set<Dim> const& leaves, int key_level)
  {
    std::vector<std::pair<index_type, index_type>> directed; // b -> c
    for (index_type b = 0; b < leaves.size(); ++b)
      visit_neighbours(leaves, key_level, b,
                       [&](index_type c)
                       {
                         directed.emplace_back(b, c);
                         // A leaf as large as b finds b by itself.
                         if (leaves.cells[c].level < leaves.cells[b].level)
                           directed.emplace_back(c, b);
                       });

    adjacency rows;
    rows.offsets.assign(leaves.cells.size() + 1, 0);
    for (auto const& [b, c] : directed) ++rows.offsets[b + 1];
    counts_to_offsets(rows.offsets);
    rows.leaves.resize(directed.size());
    std::vector<std::size_t> next = rows.offsets;
    for (auto const& [b, c] : directed) rows.leaves[next[b]++] = c;
    return sorted(rows);
  }

#define NEARFIELD_INSTANTIATE(Dim)                                                                 \
  template adjacency row_major_adjacency(leaf_set<Dim> const&, int);                               \
  template adjacency morton_adjacency(leaf_set<Dim> const&, int);
  NEARFIELD_FOR_EACH_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
