#include "adjacency.hpp"

#include "instantiate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

namespace nearfield::detail
{
  namespace
  {
    constexpr int power_of_3(int exponent)
    {
      return exponent == 0 ? 1 : 3 * power_of_3(exponent - 1);
    }

    /// Step n on one axis, -1, 0 or +1; step 0 of them all comes first, the last axis is fastest.
    template <int Dim>
    constexpr std::array<int, Dim> steps(int n)
    {
      std::array<int, Dim> result{};
      for (int d = Dim - 1; d >= 0; --d, n /= 3) result[d] = n % 3 - 1;
      return result;
    }

    /// Finds the leaf that holds a Morton key.
    class leaf_finder
    {
    public:
      static constexpr index_type none = std::numeric_limits<index_type>::max();

      leaf_finder(std::span<std::uint64_t const> keys, int key_bits) : keys_(keys)
      {
        // About two buckets a leaf, so that a search rarely looks at more than a few keys.
        int const bucket_bits = std::min(key_bits, static_cast<int>(std::bit_width(keys.size())));
        shift_ = key_bits - bucket_bits;
        first_.resize((std::size_t(1) << bucket_bits) + 1);
        std::size_t bucket = 0;
        for (std::size_t b = 0; b < keys.size(); ++b)
          while (bucket <= keys[b] >> shift_) first_[bucket++] = static_cast<index_type>(b);
        while (bucket < first_.size()) first_[bucket++] = static_cast<index_type>(keys.size());
      }

      /// The last leaf whose smallest key is not above `key`, or none.
      [[nodiscard]] index_type last_not_above(std::uint64_t key) const
      {
        std::uint64_t const bucket = key >> shift_;
        auto const after = std::upper_bound(keys_.begin() + first_[bucket],
                                            keys_.begin() + first_[bucket + 1], key);
        return after == keys_.begin() ? none : static_cast<index_type>(after - keys_.begin() - 1);
      }

    private:
      std::span<std::uint64_t const> keys_;
      int shift_;
      std::vector<index_type> first_;
    };

    /// Neighbours of leaf b that are as large as b, or larger: those that hold one of the cells of
    /// its own size around it. Smaller ones find b.
    template <int Dim>
    class neighbour_finder
    {
    public:
      neighbour_finder(leaf_set<Dim> const& leaves, int key_level)
          : leaves_(leaves), key_level_(key_level), finder_(leaves.keys, Dim * key_level)
      {}

      template <class Visit>
      void visit(index_type b, Visit&& visit) const
      {
        constexpr int n_cells = power_of_3(Dim);
        leaf_cell<Dim> const& cell = leaves_.cells[b];
        int const finer = key_level_ - cell.level;
        std::uint32_t const n = std::uint32_t(1) << cell.level;

        std::array<index_type, n_cells> larger;
        int n_larger = 0;
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
                                    << (Dim * finer);
          index_type const found = finder_.last_not_above(key);
          if (found == leaf_finder::none || leaves_.cells[found].level > cell.level) continue;
          int const found_bits = Dim * (key_level_ - leaves_.cells[found].level);
          if ((key ^ leaves_.keys[found]) >> found_bits != 0) continue;

          if (leaves_.cells[found].level < cell.level)
          {
            // A larger leaf holds up to 2^(Dim - 1) of the cells around b.
            if (std::find(larger.begin(), larger.begin() + n_larger, found) !=
                larger.begin() + n_larger)
              continue;
            larger[n_larger++] = found;
          }
          visit(found);
        }
      }

    private:
      leaf_set<Dim> const& leaves_;
      int key_level_;
      leaf_finder finder_;
    };

    /// offsets[b + 1] holds the size of row b; on return, where row b starts.
    void counts_to_offsets(std::vector<std::size_t>& offsets)
    {
      for (std::size_t b = 1; b < offsets.size(); ++b) offsets[b] += offsets[b - 1];
    }

    /// Rows that ascend. The relation is symmetric, so that its transpose is itself, and writing the
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
    neighbour_finder<Dim> const finder(leaves, key_level);
    std::vector<std::pair<index_type, index_type>> directed; // b -> c
    for (index_type b = 0; b < leaves.size(); ++b)
      finder.visit(b,
                   [&](index_type c)
                   {
                     directed.emplace_back(b, c);
                     // One as large as b finds b by itself.
                     if (leaves.cells[c].level < leaves.cells[b].level) directed.emplace_back(c, b);
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
}
