// Which ranks a leaf touches, beside all cells of all ranks.

#include "runtime/mpi/src/touched_ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::detail;

  constexpr int key_level = 3;

  template <int Dim>
  using indices = std::array<std::uint32_t, Dim>;

  template <int Dim>
  indices<Dim> cell_of(std::uint64_t key)
  {
    return decode<Dim>(key, {leaf_order::morton, key_level});
  }

  /// Whether a leaf, or an image of it, has a corner in common with a cell of the level of keys.
  template <int Dim>
  bool touch(leaf_cell<Dim> const& leaf, indices<Dim> const& cell,
             std::array<double, Dim> const& period)
  {
    int const up = key_level - leaf.level, n = 1 << key_level;
    for (int d = 0; d < Dim; ++d)
    {
      int const begin = int(leaf.index[d]) << up, end = int(leaf.index[d] + 1) << up;
      bool is_beside = false;
      for (int const shift : {0, -n, n})
        if (shift == 0 || period[d] > 0)
          is_beside |= int(cell[d]) + shift + 1 >= begin && int(cell[d]) + shift <= end;
      if (!is_beside) return false;
    }
    return true;
  }

  /// Ranges of keys as some ranks have them, with gaps between them and ranks without leaves.
  std::vector<curve_range> make_ranges(std::uint64_t end, std::mt19937& random)
  {
    std::vector<std::uint64_t> ends(14);
    for (std::uint64_t& key : ends) key = random() % (end + 1);
    std::ranges::sort(ends);
    std::vector<curve_range> ranges;
    for (std::size_t i = 0; i < ends.size(); i += 2)
    {
      bool const is_empty = random() % 4 == 0;
      ranges.push_back(is_empty ? curve_range{0, 0} : curve_range{ends[i], ends[i + 1]});
    }
    return ranges;
  }

  /// Returns how many it found.
  template <int Dim>
  std::size_t expect_those_of_all_cells(std::array<double, Dim> const& period, unsigned seed)
  {
    std::uint64_t const end = std::uint64_t(1) << Dim * key_level;
    std::mt19937 random(seed);
    auto const ranges = make_ranges(end, random);
    std::size_t n_found = 0;
    for (int me = 0; me < int(ranges.size()); ++me)
    {
      auto const around = starpu_mpi::detail::ranges_around(me, ranges);
      starpu_mpi::detail::touched_ranks<Dim> touched(around, key_level, me, period);
      for (int level = 0; level <= key_level; ++level)
      {
        std::uint64_t const cells = std::uint64_t(1) << Dim * (key_level - level);
        for (std::uint64_t key = 0; key < end; key += cells)
        {
          if (key < ranges[me].begin || key + cells > ranges[me].end) continue;
          leaf_cell<Dim> leaf{cell_of<Dim>(key), level};
          for (std::uint32_t& index : leaf.index) index >>= key_level - level;
          std::vector<int> expected;
          for (int r = 0; r < int(ranges.size()); ++r)
            for (std::uint64_t k = ranges[r].begin; r != me && k < ranges[r].end; ++k)
              if (touch<Dim>(leaf, cell_of<Dim>(k), period))
              {
                expected.push_back(r);
                break;
              }
          auto found = touched.of(leaf);
          std::ranges::sort(found);
          EXPECT_EQ(found, expected) << "key " << key << " of level " << level << ", rank " << me;
          n_found += found.size();
        }
      }
    }
    return n_found;
  }

  TEST(touched_ranks, are_those_of_all_cells)
  {
    std::size_t n_found = 0;
    for (unsigned seed = 1; seed <= 20; ++seed)
    {
      SCOPED_TRACE(seed);
      n_found += expect_those_of_all_cells<2>({}, seed);
      n_found += expect_those_of_all_cells<2>({1, 0}, seed);
      n_found += expect_those_of_all_cells<3>({}, seed);
      n_found += expect_those_of_all_cells<3>({1, 1, 1}, seed);
      n_found += expect_those_of_all_cells<3>({0, 0, 1}, seed);
    }
    EXPECT_GT(n_found, 1000u);
  }
}
