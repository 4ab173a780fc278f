#include "sort.hpp"

#include <array>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

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
          if (ends[d] - begin > few) std::sort(sorted.data() + begin, sorted.data() + ends[d]);
      insertion_sort(sorted.data(), n);
      std::copy_n(sorted.begin(), n, values);
    }

    /// Keys and their indices, in two places between which passes move them. In place 0 they are as the caller
    /// gave them, at first without indices; sorted, they are in place 1.
    class key_sorter
    {
    public:
      key_sorter(executor& on, page_vector<std::uint64_t>& keys, std::span<index_type> order,
                 sort_scratch& scratch)
          : on_(on), total_(keys.size()),
            indices_(scratch.indices.data()), places_{{{keys.data(), nullptr},
                                                       {scratch.keys_too.data(), order.data()}}}
      {}

      void run()
      {
        divide(0, 0, total_);
        for_each_part(on_, cut(on_, total_),
                      [&](int, std::size_t begin, std::size_t end)
                      {
                        auto range =
                            std::ranges::lower_bound(ranges_, begin, {}, &key_range::begin);
                        for (; range != ranges_.end() && range->begin < end; ++range)
                          sort(range->from, range->begin, range->n);
                      });
      }

    private:
      struct place
      {
        std::uint64_t* keys;
        index_type* indices;
      };

      /// Keys [begin, begin + n) of a place, which precede all that follow.
      struct key_range
      {
        int from;
        std::size_t begin, n;
      };

      /// All workers move keys until there are ranges enough for each of them.
      void divide(int from, std::size_t begin, std::size_t n)
      {
        loop_parts const loop = cut(on_, n);
        int bits = 0;
        if (loop.parts > 1 && n > total_ / (4 * static_cast<std::size_t>(loop.parts)))
        {
          std::vector<std::uint64_t> differing(static_cast<std::size_t>(loop.parts));
          for_each_part(on_, loop,
                        [&](int part, std::size_t first, std::size_t last)
                        { differing[part] = differing_bits(from, begin, first, last); });
          for (std::uint64_t const part : differing) bits = std::max(bits, bit_width(part));
        }
        if (bits == 0)
          ranges_.push_back({from, begin, n});
        else
          spread(on_, from, begin, n, bits,
                 [&](std::size_t first, std::size_t count) { divide(1 - from, first, count); });
      }

      void sort(int from, std::size_t begin, std::size_t n)
      {
        this_thread here;
        int const bits = bit_width(differing_bits(from, begin, 0, n));
        if (bits == 0)
          copy(from, begin, n);
        else if (n <= most_at_once && bits + bit_width(n - 1) <= 64)
          sort_at_once(from, begin, n, bits);
        else
          spread(here, from, begin, n, bits,
                 [&](std::size_t first, std::size_t count) { sort(1 - from, first, count); });
      }

      /// The bits in which keys [first, last) behind `begin` differ from the one there.
      [[nodiscard]] std::uint64_t differing_bits(int from, std::size_t begin, std::size_t first,
                                                 std::size_t last) const
      {
        std::uint64_t const* const keys = places_[from].keys + begin;
        std::uint64_t bits = 0;
        for (std::size_t i = first; i < last; ++i) bits |= keys[0] ^ keys[i];
        return bits;
      }

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

      /// Moves keys to the other place by the highest bits that differ, and calls then(begin, n) for each value of these.
      template <class Then>
      void spread(executor& on, int from, std::size_t begin, std::size_t n, int bits,
                  Then const& then)
      {
        int const digit_bits = std::min({bits, pass_bits, std::max(6, bit_width(n) - 8)});
        int const shift = bits - digit_bits;
        std::uint64_t const mask = low_bits(digit_bits);
        std::size_t const n_digits = std::size_t(1) << digit_bits;
        place const source = places_[from], target = places_[1 - from];
        loop_parts const loop = cut(on, n, 4 * n_digits);
        // of part p from p * n_digits
        std::vector<index_type> ends(n_digits * static_cast<std::size_t>(loop.parts), 0);
        auto const ends_of = [&](int part)
        {
          return ends.data() + n_digits * static_cast<std::size_t>(part);
        };
        for_each_part(on, loop,
                      [&](int part, std::size_t first, std::size_t last)
                      {
                        index_type* const counts = ends_of(part);
                        for (std::size_t i = begin + first; i < begin + last; ++i)
                          ++counts[source.keys[i] >> shift & mask];
                      });
        auto sum = static_cast<index_type>(begin);
        for (std::size_t digit = 0; digit < n_digits; ++digit)
          for (int part = 0; part < loop.parts; ++part)
            sum += std::exchange(ends_of(part)[digit], sum);
        for_each_part(on, loop,
                      [&](int part, std::size_t first, std::size_t last)
                      {
                        index_type* const next = ends_of(part);
                        auto const move = [&](auto const& index_of)
                        {
                          for (std::size_t i = begin + first; i < begin + last; ++i)
                          {
                            std::uint64_t const key = source.keys[i];
                            index_type const at = next[key >> shift & mask]++;
                            target.keys[at] = key;
                            target.indices[at] = index_of(i);
                          }
                        };
                        if (source.indices)
                          move([&](std::size_t i) { return source.indices[i]; });
                        else
                          move([](std::size_t i) { return static_cast<index_type>(i); });
                      });
        // Only the first pass finds keys without indices, and it moves all.
        if (!source.indices) places_[0].indices = indices_;

        std::size_t first = begin;
        for (std::size_t digit = 0; digit < n_digits; ++digit)
        {
          index_type const end = ends_of(loop.parts - 1)[digit];
          if (end > first) then(first, end - first);
          first = end;
        }
      }

      executor& on_;
      std::size_t total_;
      index_type* indices_; // of place 0
      std::array<place, 2> places_;
      std::vector<key_range> ranges_;
    };
  }

  void sort_keys(executor& on, page_vector<std::uint64_t>& keys, std::span<index_type> order,
                 sort_scratch& scratch)
  {
    renew(scratch.keys_too, keys.size());
    renew(scratch.indices, keys.size());
    if (keys.size() > 0) key_sorter(on, keys, order, scratch).run();
    std::swap(keys, scratch.keys_too);
  }

  void order_by_counting(executor& on, std::size_t n_cells, std::span<index_type> order,
                         occupied_cells& cells, sort_scratch& scratch)
  {
    // as many counters as four times the points, at most
    loop_parts const loop = cut(on, order.size(), std::max(std::size_t(1024), n_cells / 4));
    renew(scratch.indices, n_cells * static_cast<std::size_t>(loop.parts));
    std::uint32_t const* const cell_of = scratch.cells.data();
    auto const cursors_of = [&](int part)
    {
      return scratch.indices.data() + n_cells * static_cast<std::size_t>(part);
    };
    for_each_part(on, loop,
                  [&](int part, std::size_t begin, std::size_t end)
                  {
                    index_type* const counts = cursors_of(part);
                    std::fill_n(counts, n_cells, index_type(0));
                    for (std::size_t i = begin; i < end; ++i) ++counts[cell_of[i]];
                  });
    // Counters become the places of points: sums of ranges of cells first, then the cells in each.
    loop_parts const ranges = cut(on, n_cells);
    std::vector<index_type> first_point(ranges.parts + std::size_t(1), 0);
    std::vector<std::size_t> first_cell(first_point.size(), 0);
    for_each_part(on, ranges,
                  [&](int range, std::size_t begin, std::size_t end)
                  {
                    index_type points = 0;
                    std::size_t occupied = 0;
                    for (std::size_t c = begin; c < end; ++c)
                    {
                      index_type const before = points;
                      for (int part = 0; part < loop.parts; ++part) points += cursors_of(part)[c];
                      occupied += points > before;
                    }
                    first_point[range + std::size_t(1)] = points;
                    first_cell[range + std::size_t(1)] = occupied;
                  });
    std::partial_sum(first_point.begin(), first_point.end(), first_point.begin());
    std::partial_sum(first_cell.begin(), first_cell.end(), first_cell.begin());
    cells.keys.resize(first_cell.back());
    cells.offsets.resize(first_cell.back() + 1);
    cells.offsets.back() = first_point.back();
    for_each_part(on, ranges,
                  [&](int range, std::size_t begin, std::size_t end)
                  {
                    index_type points = first_point[range];
                    std::size_t occupied = first_cell[range];
                    for (std::size_t c = begin; c < end; ++c)
                    {
                      index_type const before = points;
                      for (int part = 0; part < loop.parts; ++part)
                        points += std::exchange(cursors_of(part)[c], points);
                      if (points == before) continue;
                      cells.keys[occupied] = c;
                      cells.offsets[occupied++] = before;
                    }
                  });
    for_each_part(on, loop,
                  [&](int part, std::size_t begin, std::size_t end)
                  {
                    index_type* const cursors = cursors_of(part);
                    for (std::size_t i = begin; i < end; ++i)
                      order[cursors[cell_of[i]]++] = static_cast<index_type>(i);
                  });
  }

  void order_by_sorting(executor& on, std::span<index_type> order, occupied_cells& cells,
                        sort_scratch& scratch)
  {
    cells.keys.clear();
    cells.offsets.clear();
    sort_keys(on, scratch.keys, order, scratch);
    std::uint64_t const* const keys = scratch.keys.data();
    for (std::size_t p = 0; p < order.size(); ++p)
      if (p == 0 || keys[p] != keys[p - 1])
      {
        cells.keys.push_back(keys[p]);
        cells.offsets.push_back(static_cast<index_type>(p));
      }
    cells.offsets.push_back(static_cast<index_type>(order.size()));
  }

  void unite(occupied_cells const& a, occupied_cells const& b, page_vector<std::uint64_t>& keys,
             page_vector<index_type>& a_offsets, page_vector<index_type>& b_offsets)
  {
    keys.resize(a.keys.size() + b.keys.size());
    keys.erase(std::ranges::set_union(a.keys, b.keys, keys.begin()).out, keys.end());
    auto const spread = [&](occupied_cells const& set, page_vector<index_type>& offsets)
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
