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
    // The least number of keys that workers share out, for each counter and in all.
    constexpr std::size_t least_share = 4, least_piece = 4096;
    // Insertion sort beats std::sort below.
    constexpr std::ptrdiff_t few = 16;

    int bit_width(std::uint64_t value)
    {
      return static_cast<int>(std::bit_width(value)); // its return type was T before LWG 3656
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

    /// The most bits by which one pass tells n keys apart.
    int most_digit_bits(std::size_t n)
    {
      return std::min(pass_bits, std::max(6, bit_width(n) - 8));
    }

    /// Keys [begin, begin + n) of a place, which precede all that follow.
    struct key_range
    {
      int from;
      std::size_t begin, n;
      bool are_equal = false;
    };

    /// Moves a range to the other place by the highest bits in which keys differ, in pieces.
    struct sort_pass
    {
      key_range range;
      loop_parts pieces;
      std::vector<std::uint64_t> differing; ///< bits, found by each piece
      int bits = 0;                         ///< keys differ in these lowest ones only
      int shift = 0;
      std::size_t n_digits = 1;
      bool stays = false;                ///< all keys are equal, and in place 1
      page_vector<index_type> ends = {}; ///< of piece p from p * n_digits

      void choose_digits()
      {
        for (std::uint64_t const some : differing) bits = std::max(bits, bit_width(some));
        stays = bits == 0 && range.from == 1;
        if (stays) return;
        int const digit_bits = std::min(bits, most_digit_bits(range.n));
        shift = bits - digit_bits;
        n_digits = std::size_t(1) << digit_bits;
        ends.resize(n_digits * static_cast<std::size_t>(pieces.parts));
      }
      [[nodiscard]] index_type* ends_of(int piece)
      {
        return ends.data() + n_digits * static_cast<std::size_t>(piece);
      }

      /// Counts become places, digit by digit and in each digit piece by piece.
      void add_up()
      {
        if (stays) return;
        std::vector<index_type> next(n_digits, 0);
        auto const for_each_count = [&](auto const& f)
        {
          for (int piece = 0; piece < pieces.parts; ++piece)
            for (std::size_t d = 0; d < n_digits; ++d) f(ends_of(piece)[d], next[d]);
        };
        for_each_count([](index_type const count, index_type& sum) { sum += count; });
        std::exclusive_scan(next.begin(), next.end(), next.begin(),
                            static_cast<index_type>(range.begin));
        for_each_count([](index_type& count, index_type& sum)
                       { sum += std::exchange(count, sum); });
      }

      /// Calls f(range) for each digit that keys have, when all have moved.
      template <class F>
      void for_each_range(F const& f)
      {
        if (stays) return f(key_range{1, range.begin, range.n, true});
        std::size_t begin = range.begin;
        for (std::size_t d = 0; d < n_digits; ++d)
        {
          std::size_t const end = ends_of(pieces.parts - 1)[d];
          if (end > begin) f(key_range{1 - range.from, begin, end - begin, bits == 0});
          begin = end;
        }
      }
    };

    /// Passes whose pieces all workers share, since a loop costs as much as thousands of keys.
    struct pass_list
    {
      struct place
      {
        std::size_t pass;
        int piece;
      };
      std::vector<sort_pass> passes;
      std::vector<place> pieces;

      void add(key_range const& range, std::size_t n_pieces)
      {
        for (std::size_t piece = 0; piece < n_pieces; ++piece)
          pieces.push_back({passes.size(), static_cast<int>(piece)});
        passes.push_back(
            {range, {range.n, static_cast<int>(n_pieces)}, std::vector<std::uint64_t>(n_pieces)});
      }

      /// Calls f(pass, piece) for each piece of the passes that move keys.
      template <class F>
      void for_each_piece(executor& on, F const& f)
      {
        on.run(static_cast<int>(pieces.size()),
               [&](int i)
               {
                 sort_pass& pass = passes[pieces[i].pass];
                 if (!pass.stays) f(pass, pieces[i].piece);
               });
      }
    };

    /// Keys and their indices, in two places between which passes move them. In place 0 they are as the caller
    /// gave them, at first without indices; sorted, they are in place 1.
    class key_sorter
    {
    public:
      key_sorter(executor& on, page_vector<std::uint64_t>& keys, std::span<index_type> order,
                 sort_scratch& scratch)
          : on_(on), total_(keys.size()), indices_(scratch.indices.data()),
            places_{{{keys.data(), nullptr}, {scratch.keys_too.data(), order.data()}}}
      {}

      void run()
      {
        divide();
        for_each_part(on_, cut(on_, total_, 1024, 4),
                      [&](int, std::size_t begin, std::size_t end)
                      {
                        auto range =
                            std::ranges::lower_bound(ranges_, begin, {}, &key_range::begin);
                        for (; range != ranges_.end() && range->begin < end; ++range) sort(*range);
                      });
      }

    private:
      struct place
      {
        std::uint64_t* keys;
        index_type* indices;
      };

      /// All workers move keys until there are ranges enough for each of them.
      void divide()
      {
        auto const workers = static_cast<std::size_t>(cut(on_, total_).parts);
        std::size_t const most = total_ / (4 * workers);
        ranges_ = {{0, 0, total_}};
        while (workers > 1)
        {
          pass_list list;
          for (key_range const& range : ranges_)
          {
            if (range.n <= most || range.are_equal) continue;
            std::size_t const share =
                std::max({2 * most, least_piece, least_share << most_digit_bits(range.n)});
            list.add(range, (range.n + share - 1) / share);
          }
          if (list.passes.empty()) return;
          list.for_each_piece(
              on_, [&](sort_pass& pass, int piece)
              { pass.differing[piece] = differing_bits(pass.range, pass.pieces, piece); });
          for (sort_pass& pass : list.passes) pass.choose_digits();
          list.for_each_piece(on_, [&](sort_pass& pass, int piece) { count(pass, piece); });
          for (sort_pass& pass : list.passes) pass.add_up();
          list.for_each_piece(on_, [&](sort_pass& pass, int piece) { move(pass, piece); });
          places_[0].indices = indices_;

          std::vector<key_range> smaller;
          auto pass = list.passes.begin();
          for (key_range const& range : ranges_)
            if (pass != list.passes.end() && range.begin == pass->range.begin)
              (pass++)->for_each_range([&](key_range const& part) { smaller.push_back(part); });
            else
              smaller.push_back(range);
          ranges_.swap(smaller);
        }
      }

      void sort(key_range const& range)
      {
        if (range.are_equal) return copy(range);
        loop_parts const whole{range.n, 1};
        std::uint64_t const differing = differing_bits(range, whole, 0);
        int const bits = bit_width(differing);
        if (bits == 0) return copy(range);
        if (range.n <= most_at_once && bits + bit_width(range.n - 1) <= 64)
          return sort_at_once(range, bits);
        sort_pass pass{range, whole, {differing}};
        pass.choose_digits();
        count(pass, 0);
        pass.add_up();
        move(pass, 0);
        if (!places_[0].indices) places_[0].indices = indices_; // the first pass moves all keys
        pass.for_each_range([&](key_range const& part) { sort(part); });
      }

      /// The bits in which the keys of a piece differ from the first one of the range.
      [[nodiscard]] std::uint64_t differing_bits(key_range const& range, loop_parts const& pieces,
                                                 int piece) const
      {
        std::uint64_t const* const keys = places_[range.from].keys + range.begin;
        std::uint64_t bits = 0;
        for (std::size_t i = pieces.begin(piece); i < pieces.begin(piece + 1); ++i)
          bits |= keys[0] ^ keys[i];
        return bits;
      }

      [[nodiscard]] index_type index(int from, std::size_t i) const
      {
        index_type const* const indices = places_[from].indices;
        return indices ? indices[i] : static_cast<index_type>(i);
      }

      void copy(key_range const& range)
      {
        if (range.from == 1) return;
        for (std::size_t i = range.begin; i < range.begin + range.n; ++i)
        {
          places_[1].keys[i] = places_[0].keys[i];
          places_[1].indices[i] = index(0, i);
        }
      }

      /// Keys differ in the lowest `bits` bits only. With the place of a key in the bits below, no two are equal,
      /// and nothing else needs to move.
      void sort_at_once(key_range const& range, int bits)
      {
        int const from = range.from;
        std::size_t const begin = range.begin, n = range.n;
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

      void count(sort_pass& pass, int piece) const
      {
        std::uint64_t const* const keys = places_[pass.range.from].keys + pass.range.begin;
        index_type* const counts = pass.ends_of(piece);
        std::fill_n(counts, pass.n_digits, index_type(0));
        std::size_t const end = pass.pieces.begin(piece + 1);
        int const shift = pass.shift;
        std::uint64_t const mask = pass.n_digits - 1;
        for (std::size_t i = pass.pieces.begin(piece); i < end; ++i)
          ++counts[keys[i] >> shift & mask];
      }

      void move(sort_pass& pass, int piece) const
      {
        place const source = places_[pass.range.from], target = places_[1 - pass.range.from];
        index_type* const next = pass.ends_of(piece);
        std::size_t const begin = pass.range.begin + pass.pieces.begin(piece),
                          end = pass.range.begin + pass.pieces.begin(piece + 1);
        int const shift = pass.shift;
        std::uint64_t const mask = pass.n_digits - 1;
        auto const move_all = [&](auto const& index_of)
        {
          for (std::size_t i = begin; i < end; ++i)
          {
            std::uint64_t const key = source.keys[i];
            index_type const at = next[key >> shift & mask]++;
            target.keys[at] = key;
            target.indices[at] = index_of(i);
          }
        };
        if (source.indices)
          move_all([&](std::size_t i) { return source.indices[i]; });
        else
          move_all([](std::size_t i) { return static_cast<index_type>(i); });
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
    // Counters become the places of points: sums of ranges of cells first, then the cells in each.
    loop_parts const ranges = cut(on, n_cells);
    auto const n_ranges = static_cast<std::size_t>(ranges.parts);
    std::size_t const n_counters = n_cells * static_cast<std::size_t>(loop.parts);
    renew(scratch.indices, n_counters + 2 * n_ranges);
    std::span const first_point = std::span(scratch.indices).subspan(n_counters, n_ranges);
    std::span const first_cell = std::span(scratch.indices).last(n_ranges);
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
    auto const add_up = [&](int range, std::size_t begin, std::size_t end)
    {
      index_type points = 0, occupied = 0;
      for (std::size_t c = begin; c < end; ++c)
      {
        index_type const before = points;
        for (int part = 0; part < loop.parts; ++part) points += cursors_of(part)[c];
        occupied += points > before;
      }
      first_point[range] = points;
      first_cell[range] = occupied;
    };
    first_point[0] = first_cell[0] = 0;
    if (ranges.parts > 1) for_each_part(on, ranges, add_up);
    std::exclusive_scan(first_point.begin(), first_point.end(), first_point.begin(), 0u);
    std::exclusive_scan(first_cell.begin(), first_cell.end(), first_cell.begin(), 0u);
    std::size_t const most_occupied = std::min(n_cells, order.size());
    renew(cells.keys, most_occupied);
    renew(cells.offsets, most_occupied + 1);
    std::size_t n_occupied = 0;
    for_each_part(on, ranges,
                  [&](int range, std::size_t begin, std::size_t end)
                  {
                    index_type points = first_point[range];
                    index_type occupied = first_cell[range];
                    for (std::size_t c = begin; c < end; ++c)
                    {
                      index_type const before = points;
                      for (int part = 0; part < loop.parts; ++part)
                        points += std::exchange(cursors_of(part)[c], points);
                      if (points == before) continue;
                      cells.keys[occupied] = c;
                      cells.offsets[occupied++] = before;
                    }
                    if (range + 1 == ranges.parts) n_occupied = occupied;
                  });
    cells.keys.resize(n_occupied);
    cells.offsets.resize(n_occupied + 1);
    cells.offsets.back() = static_cast<index_type>(order.size());
    for_each_part(on, loop,
                  [&](int part, std::size_t begin, std::size_t end)
                  {
                    index_type* const cursors = cursors_of(part);
                    for (std::size_t i = begin; i < end; ++i)
                      order[cursors[cell_of[i]]++] = static_cast<index_type>(i);
                  });
  }

  occupied_cells cells_of(executor& on, std::span<std::uint64_t const> keys)
  {
    auto const begins = [&](std::size_t p)
    {
      return p == 0 || keys[p] != keys[p - 1];
    };
    loop_parts const loop = cut(on, keys.size());
    std::vector<std::size_t> first(loop.parts + std::size_t(1), 0);
    for_each_part(on, loop,
                  [&](int part, std::size_t begin, std::size_t end)
                  {
                    std::size_t n = 0;
                    for (std::size_t p = begin; p < end; ++p) n += begins(p);
                    first[part + std::size_t(1)] = n;
                  });
    std::partial_sum(first.begin(), first.end(), first.begin());
    occupied_cells cells;
    cells.keys.resize(first.back());
    cells.offsets.resize(first.back() + 1);
    cells.offsets.back() = static_cast<index_type>(keys.size());
    for_each_part(on, loop,
                  [&](int part, std::size_t begin, std::size_t end)
                  {
                    std::size_t c = first[part];
                    for (std::size_t p = begin; p < end; ++p)
                    {
                      if (!begins(p)) continue;
                      cells.keys[c] = keys[p];
                      cells.offsets[c++] = static_cast<index_type>(p);
                    }
                  });
    return cells;
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
