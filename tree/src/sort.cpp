#include "sort.hpp"

#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace nearfield::detail
{
  namespace
  {
    // One pass into 2^12 streams, whose last cache lines fit the second-level cache, leaves 250 of 10^6 keys to each.
    constexpr int pass_bits = 12;
    // So many keys and their scratch fit there too.
    constexpr std::size_t most_at_once = 4096;
    // Insertion sort beats std::sort below.
    constexpr std::ptrdiff_t few = 16;

    int bit_width(std::uint64_t value)
    {
      return static_cast<int>(std::bit_width(value)); // in C++20 it was of the type of the value
    }

    std::uint64_t low_bits(int n)
    {
      return n == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << n) - 1;
    }

    void insertion_sort(std::uint64_t* values, std::size_t n)
    {
      for (std::size_t i = 1; i < n; ++i)
      {
        std::uint64_t const value = values[i];
        std::size_t j = i;
        for (; j > 0 && values[j - 1] > value; --j) values[j] = values[j - 1];
        values[j] = value;
      }
    }

    /// Sorts at most most_at_once values below 2^bits, by one counting pass and insertion.
    void sort_values(std::uint64_t* values, std::size_t n, int bits)
    {
      if (n <= few) return insertion_sort(values, n);
      int const digit_bits = std::min(bits, bit_width(n - 1));
      int const shift = bits - digit_bits;
      std::array<std::uint16_t, most_at_once> ends;
      std::array<std::uint64_t, most_at_once> sorted;
      std::size_t const n_digits = std::size_t(1) << digit_bits;
      std::fill_n(ends.begin(), n_digits, std::uint16_t(0));
      for (std::size_t i = 0; i < n; ++i) ++ends[values[i] >> shift];
      std::uint16_t sum = 0;
      bool is_crowded = false;
      for (std::size_t d = 0; d < n_digits; ++d)
      {
        is_crowded |= ends[d] > few;
        sum = static_cast<std::uint16_t>(sum + std::exchange(ends[d], sum));
      }
      for (std::size_t i = 0; i < n; ++i) sorted[ends[values[i] >> shift]++] = values[i];
      if (is_crowded)
        for (std::size_t d = 0, begin = 0; d < n_digits; begin = ends[d++])
          if (ends[d] - begin > few) std::sort(&sorted[begin], &sorted[ends[d]]);
      insertion_sort(sorted.data(), n);
      std::copy_n(sorted.begin(), n, values);
    }

    /// Keys and their indices, in two places between which passes move them. In place 0 they are as the caller
    /// gave them, at first without indices; sorted, they are in place 1.
    class key_sorter
    {
    public:
      key_sorter(std::vector<std::uint64_t>& keys, std::span<index_type> order,
                 sort_scratch& scratch)
          : scratch_(scratch), places_{{{keys.data(), nullptr},
                                        {scratch.keys_too.data(), order.data()}}}
      {}

      /// Sorts the keys [begin, begin + n) of a place.
      void sort(int from, std::size_t begin, std::size_t n)
      {
        std::uint64_t const* const keys = places_[from].keys + begin;
        std::uint64_t differing = 0;
        for (std::size_t i = 1; i < n; ++i) differing |= keys[0] ^ keys[i];
        int const bits = bit_width(differing);
        if (bits == 0)
          copy(from, begin, n);
        else if (n <= most_at_once && bits + bit_width(n - 1) <= 64)
          sort_at_once(from, begin, n, bits);
        else
          sort_by_digit(from, begin, n, bits);
      }

    private:
      struct place
      {
        std::uint64_t* keys;
        index_type* indices;
      };

      [[nodiscard]] index_type index(int from, std::size_t i) const
      {
        index_type const* const indices = places_[from].indices;
        return indices ? indices[i] : static_cast<index_type>(i);
      }

      void copy(int from, std::size_t begin, std::size_t n)
      {
        if (from == 1) return;
        for (std::size_t i = begin; i < begin + n; ++i)
        {
          places_[1].keys[i] = places_[0].keys[i];
          places_[1].indices[i] = index(0, i);
        }
      }

      /// Keys differ in the lowest `bits` bits only. With the place of a key in the bits below, no two are equal,
      /// and nothing else needs to move.
      void sort_at_once(int from, std::size_t begin, std::size_t n, int bits)
      {
        std::array<std::uint64_t, most_at_once> values;
        std::array<index_type, most_at_once> indices;
        std::uint64_t const* const keys = places_[from].keys + begin;
        int const place_bits = bit_width(n - 1);
        std::uint64_t const mask = low_bits(bits), common = keys[0] & ~mask;
        for (std::size_t i = 0; i < n; ++i)
        {
          values[i] = (keys[i] & mask) << place_bits | i;
          indices[i] = index(from, begin + i);
        }
        sort_values(values.data(), n, bits + place_bits);
        for (std::size_t i = 0; i < n; ++i)
        {
          places_[1].keys[begin + i] = common | values[i] >> place_bits;
          places_[1].indices[begin + i] = indices[values[i] & low_bits(place_bits)];
        }
      }

      /// The highest bits that differ first, then each digit by itself.
      void sort_by_digit(int from, std::size_t begin, std::size_t n, int bits)
      {
        int const digit_bits = std::min({bits, pass_bits, std::max(6, bit_width(n) - 8)});
        int const shift = bits - digit_bits;
        std::uint64_t const mask = low_bits(digit_bits);
        std::vector<index_type> ends(std::size_t(1) << digit_bits, 0);
        place const source = places_[from];
        for (std::size_t i = begin; i < begin + n; ++i) ++ends[source.keys[i] >> shift & mask];
        auto sum = static_cast<index_type>(begin);
        for (index_type& end : ends) sum += std::exchange(end, sum);

        if (from == 1 && places_[0].indices == nullptr)
        {
          resize_scratch(scratch_.indices, total_);
          places_[0].indices = scratch_.indices.data();
        }
        place const target = places_[1 - from];
        auto const scatter = [&](auto const& index_of)
        {
          for (std::size_t i = begin; i < begin + n; ++i)
          {
            std::uint64_t const key = source.keys[i];
            index_type const at = ends[key >> shift & mask]++;
            target.keys[at] = key;
            target.indices[at] = index_of(i);
          }
        };
        if (source.indices)
          scatter([&](std::size_t i) { return source.indices[i]; });
        else
          scatter([](std::size_t i) { return static_cast<index_type>(i); });

        std::size_t first = begin;
        for (index_type const end : ends)
        {
          if (end > first) sort(1 - from, first, end - first);
          first = end;
        }
      }

      sort_scratch& scratch_;
      std::array<place, 2> places_;
      std::size_t total_ = scratch_.keys_too.size();
    };
  }

  void sort_keys(std::vector<std::uint64_t>& keys, std::span<index_type> order,
                 sort_scratch& scratch)
  {
    resize_scratch(scratch.keys_too, keys.size());
    if (!keys.empty()) key_sorter(keys, order, scratch).sort(0, 0, keys.size());
    keys.swap(scratch.keys_too);
  }

  void order_by_counting(std::size_t n_cells, std::span<index_type> order, occupied_cells& cells,
                         sort_scratch& scratch)
  {
    cells.keys.clear();
    cells.offsets.clear();
    std::size_t const n = order.size();
    std::uint32_t const* const cell_of = scratch.cells.data();
    scratch.indices.assign(n_cells, 0);
    index_type* const cursors = scratch.indices.data();
    for (std::size_t i = 0; i < n; ++i) ++cursors[cell_of[i]];
    index_type sum = 0;
    for (std::size_t c = 0; c < n_cells; ++c)
    {
      index_type const count = cursors[c];
      if (count > 0)
      {
        cells.keys.push_back(c);
        cells.offsets.push_back(sum);
      }
      cursors[c] = sum;
      sum += count;
    }
    cells.offsets.push_back(sum);
    for (std::size_t i = 0; i < n; ++i) order[cursors[cell_of[i]]++] = static_cast<index_type>(i);
  }

  void order_by_sorting(std::span<index_type> order, occupied_cells& cells, sort_scratch& scratch)
  {
    cells.keys.clear();
    cells.offsets.clear();
    sort_keys(scratch.keys, order, scratch);
    std::vector<std::uint64_t> const& keys = scratch.keys;
    for (std::size_t p = 0; p < keys.size(); ++p)
      if (p == 0 || keys[p] != keys[p - 1])
      {
        cells.keys.push_back(keys[p]);
        cells.offsets.push_back(static_cast<index_type>(p));
      }
    cells.offsets.push_back(static_cast<index_type>(keys.size()));
  }

  void unite(occupied_cells const& a, occupied_cells const& b, std::vector<std::uint64_t>& keys,
             std::vector<index_type>& a_offsets, std::vector<index_type>& b_offsets)
  {
    keys.resize(a.keys.size() + b.keys.size());
    keys.erase(std::ranges::set_union(a.keys, b.keys, keys.begin()).out, keys.end());
    auto const spread = [&](occupied_cells const& set, std::vector<index_type>& offsets)
    {
      offsets.clear();
      std::size_t c = 0;
      for (std::uint64_t const key : keys)
      {
        offsets.push_back(set.offsets[c]);
        c += c < set.keys.size() && set.keys[c] == key;
      }
      offsets.push_back(set.offsets.back());
    };
    spread(a, a_offsets);
    spread(b, b_offsets);
  }
}
