// Which ranks a leaf touches, beside all cells of all ranks.

#include "clouds.hpp"

#include "runtime/mpi/src/touched_ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::detail;

  /// The key level is so large that ranks are far from some boxes of leaves.
  constexpr int key_level = 6;

  /// Calls visit(key) for the cells of the level of keys, or their images, in a box and beside it.
  template <int Dim, class Visit>
  void visit_around(leaf_cell<Dim> const& box, std::array<double, Dim> const& period,
                    Visit const& visit, std::array<std::uint32_t, Dim> cell = {}, int d = 0)
  {
    if (d == Dim) return visit(encode<leaf_order::morton, Dim>(cell, key_level));
    int const up = key_level - box.level, n = 1 << key_level;
    for (int at = (int(box.index[d]) << up) - 1; at <= int(box.index[d] + 1) << up; ++at)
    {
      if (period[d] == 0 && (at < 0 || at >= n)) continue;
      cell[d] = static_cast<std::uint32_t>((at + n) % n);
      visit_around<Dim>(box, period, visit, cell, d + 1);
    }
  }

  /// The ranks, but one, whose cells a box has or touches, ascending.
  template <int Dim>
  std::vector<int> ranks_around(leaf_cell<Dim> const& box, std::array<double, Dim> const& period,
                                std::vector<int> const& owner, int me)
  {
    std::vector<int> found;
    visit_around<Dim>(box, period,
                      [&](std::uint64_t key)
                      {
                        int const rank = owner[key];
                        if (rank >= 0 && rank != me && std::ranges::count(found, rank) == 0)
                          found.push_back(rank);
                      });
    std::ranges::sort(found);
    return found;
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
    std::vector<int> owner(end, -1);
    for (std::size_t r = 0; r < ranges.size(); ++r)
      for (std::uint64_t key = ranges[r].begin; key < ranges[r].end; ++key) owner[key] = int(r);
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
          leaf_cell<Dim> leaf{decode<Dim>(key, {leaf_order::morton, key_level}), level};
          for (std::uint32_t& index : leaf.index) index >>= key_level - level;
          auto expected = ranks_around<Dim>(leaf, period, owner, me);
          std::vector<int> found;
          if (!touched.is_inside(leaf)) found = touched.of(leaf);
          std::ranges::sort(found);
          // a leaf that touches none may be told the one rank that the box around it touches
          if (expected.empty() && found.size() == 1)
          {
            leaf_cell<Dim> box{leaf.index, std::max(0, level - 3)};
            for (std::uint32_t& index : box.index) index >>= level - box.level;
            expected = ranks_around<Dim>(box, period, owner, me);
          }
          EXPECT_EQ(found, expected) << "key " << key << " of level " << level << ", rank " << me;
          n_found += found.size();
        }
      }
    }
    return n_found;
  }

  // Keys of 63 and 62 bits, of which the largest boxes have all.
  template <int Dim>
  void expect_the_other_half(int level_of_keys)
  {
    std::uint64_t const end = std::uint64_t(1) << Dim * level_of_keys;
    std::vector<curve_range> const halves{{0, end / 2}, {end / 2, end}};
    for (int me = 0; me < 2; ++me)
    {
      auto const around = starpu_mpi::detail::ranges_around(me, halves);
      std::array<double, Dim> const period{};
      starpu_mpi::detail::touched_ranks<Dim> touched(around, level_of_keys, me, period);
      for (int level = 1; level <= 3; ++level)
      {
        leaf_cell<Dim> leaf{{}, level}; // beside the middle of the first axis
        leaf.index[0] = (1u << (level - 1)) - (me == 0);
        EXPECT_FALSE(touched.is_inside(leaf));
        EXPECT_EQ(touched.of(leaf), std::vector{1 - me});
      }
    }
  }

  TEST(touched_ranks, are_found_at_the_finest_level)
  {
    expect_the_other_half<2>(31);
    expect_the_other_half<3>(21);
  }

  TEST(touched_ranks, are_those_of_all_cells)
  {
    if (test::rank_of_world() > 0) GTEST_SKIP() << "the first rank does";
    std::size_t n_found = 0;
    for (unsigned seed = 1; seed <= 3; ++seed)
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
