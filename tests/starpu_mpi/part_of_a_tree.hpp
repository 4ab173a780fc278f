#pragma once

#include "clouds.hpp"
#include "tree/same_tree.hpp"

#include <nearfield/starpu_mpi/distributed_tree.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/leaf_size.hpp>

#include <gtest/gtest.h>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

/// \file
/// What each rank holds of a tree beside the tree of one rank.

namespace nearfield::test
{
  inline constexpr std::uint64_t far_number = 3'000'000'000'000; // does not fit 32 bits

  /// The leaf with a point at this position.
  inline index_type leaf_at(boxes const& leaves, index_type point)
  {
    return static_cast<index_type>(std::ranges::upper_bound(leaves.offsets, point) -
                                   leaves.offsets.begin() - 1);
  }

  inline std::uint64_t sum_of_ranks(std::uint64_t value)
  {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return value;
  }
  inline std::uint64_t sum_before(std::uint64_t value)
  {
    std::uint64_t before = 0;
    MPI_Exscan(&value, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return rank_of_world() == 0 ? 0 : before;
  }

  /// Own points are those of the tree of one rank from a place in its order on.
  template <class T, int Dim>
  void expect_points(std::span<index_type const> order, points<T, Dim> const& all,
                     std::span<std::uint64_t const> numbers, soa<T const, Dim> const& positions)
  {
    ASSERT_EQ(positions.size(), numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
    {
      ASSERT_EQ(numbers[i], far_number + order[i]);
      for (int d = 0; d < Dim; ++d) ASSERT_EQ(positions[d][i], all.columns[d][order[i]]);
    }
  }

  /// What this rank holds is its part of the tree of one rank, and it knows the leaves that touch it and no others. The
  /// sources of one set are the targets.
  template <class T, int Dim>
  void expect_part_of(tree<Dim> const& one, points<T, Dim> const& targets,
                      points<T, Dim> const& sources,
                      starpu_mpi::distributed_tree<T, Dim> const& mine)
  {
    boxes const of_targets = one.targets(), of_sources = one.sources();
    boxes const known = mine.known_leaves(), known_sources = mine.known_sources();
    auto const first_leaf = static_cast<index_type>(sum_before(mine.size()));
    EXPECT_EQ(mine.has_one_set(), one.has_one_set());
    ASSERT_EQ(mine.total_leaves(), one.size());
    ASSERT_EQ(sum_of_ranks(mine.size()), one.size());
    EXPECT_EQ(mine.total_points(), targets.size());
    EXPECT_EQ(mine.total_sources(), sources.size());
    EXPECT_EQ(mine.root(), one.root());
    for (int d = 0; d < Dim; ++d) EXPECT_TRUE(std::ranges::equal(mine.pieces(d), one.pieces(d)));
    EXPECT_EQ(mine.period(), one.period());
    EXPECT_TRUE(std::ranges::equal(mine.interactions().shifts, one.interactions().shifts));
    EXPECT_EQ(sum_of_ranks(mine.interaction_count()), one.interaction_count());

    std::map<std::pair<int, std::array<std::uint32_t, Dim>>, index_type> places;
    for (index_type b = 0; b < one.size(); ++b) places[{one.cell(b).level, one.cell(b).index}] = b;
    // known leaves are leaves of the tree of one rank, in its order
    std::vector<index_type> leaf_of_known;
    for (index_type b = 0; b < known.size(); ++b)
    {
      auto const place = places.find({mine.cell(b).level, mine.cell(b).index});
      ASSERT_NE(place, places.end()) << "leaf " << b;
      leaf_of_known.push_back(place->second);
      EXPECT_EQ(known.count(b), of_targets.count(place->second));
      EXPECT_EQ(known_sources.count(b), of_sources.count(place->second));
    }
    EXPECT_TRUE(std::ranges::is_sorted(leaf_of_known));
    std::vector<bool> is_met(known.size(), false);
    for (index_type b = 0; b < mine.size(); ++b)
    {
      index_type const own = mine.first_leaf() + b;
      ASSERT_EQ(leaf_of_known[own], first_leaf + b);
      is_met[own] = true;
      // lists: the same leaves in the same order
      std::vector<std::pair<index_type, std::uint16_t>> found, expected;
      for (interaction_list::range const& range : mine.interactions().neighbours(b))
        for (index_type j = range.begin; j < range.end; ++j)
        {
          index_type const leaf = leaf_at(known_sources, j);
          is_met[leaf] = true;
          found.emplace_back(of_sources.begin(leaf_of_known[leaf]) + j - known_sources.begin(leaf),
                             range.shift);
        }
      for (interaction_list::range const& range : one.interactions().neighbours(first_leaf + b))
        for (index_type j = range.begin; j < range.end; ++j) expected.emplace_back(j, range.shift);
      ASSERT_EQ(found, expected);
      EXPECT_EQ(mine.interactions().own[b].begin, known_sources.begin(own));
      EXPECT_EQ(mine.interactions().own[b].end, known_sources.end(own));
    }
    // other ranks need to know of leaves that they meet
    auto const first_of = [&](boxes const& leaves)
    {
      return leaves.offsets.empty() ? 0 : leaves.offsets[first_leaf];
    };
    index_type const first_source = first_of(of_sources);
    for (index_type b = 0; b < known.size(); ++b)
      for (interaction_list::range const& range : one.interactions().neighbours(leaf_of_known[b]))
        if (range.begin < first_source + mine.n_sources() && range.end > first_source)
          is_met[b] = true;
    EXPECT_TRUE(std::ranges::find(is_met, false) == is_met.end()) << "knows a leaf too many";

    // points: the same ones in the same order
    expect_points(one.target_order().subspan(first_of(of_targets)), targets, mine.numbers(),
                  mine.positions());
    expect_points(one.source_order().subspan(first_source), sources, mine.source_numbers(),
                  mine.source_positions());
  }
  template <class T, int Dim>
  void expect_part_of(tree<Dim> const& one, points<T, Dim> const& all,
                      starpu_mpi::distributed_tree<T, Dim> const& mine)
  {
    expect_part_of(one, all, all, mine);
  }

  /// What a rank says that it sends is what the other one expects.
  template <class T, int Dim>
  void expect_matching_layers(starpu_mpi::distributed_tree<T, Dim> const& mine)
  {
    auto const n = static_cast<std::size_t>(size_of_world());
    std::vector<std::uint64_t> sent(n, 0), expected(n, 0), received(n, 0);
    auto const mark = [&](index_type b)
    {
      return mine.known_leaves().count(b) * 1000003 + mine.known_sources().count(b) * 1009 +
             mine.cell(b).index[0] + 1;
    };
    for (auto const& layer : mine.layers())
    {
      auto const rank = static_cast<std::size_t>(layer.rank);
      EXPECT_NE(layer.rank, rank_of_world());
      EXPECT_TRUE(std::ranges::is_sorted(layer.sent));
      for (index_type const b : layer.sent) sent[rank] += mark(mine.first_leaf() + b);
      for (index_type b = layer.first_leaf; b < layer.last_leaf; ++b) expected[rank] += mark(b);
    }
    MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, received.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    EXPECT_EQ(received, expected);
  }

  /// A leaf size that ranks have chosen. Leaves end at those of the trial's ranges, so it may be another than one rank's;
  /// what it costs may not.
  inline void expect_as_good(int chosen, leaf_costs::choice const& of_one_rank, bool has_far_field)
  {
    if (size_of_world() == 1)
    {
      EXPECT_EQ(chosen, of_one_rank.max_leaf_size);
    }
    auto const with = [&](int size)
    {
      return std::ranges::find(of_one_rank.tried, size,
                               &leaf_costs::choice::candidate::max_leaf_size);
    };
    auto const best = with(of_one_rank.max_leaf_size), taken = with(chosen);
    ASSERT_NE(taken, of_one_rank.tried.end());
    if (has_far_field)
      EXPECT_LE(taken->seconds(), 1.1 * best->seconds());
    else
      EXPECT_GE(taken->rate(), 0.9 * best->rate());
  }

  /// Every one of the caller's n points went somewhere, once; what came are own points.
  template <class Journey>
  void expect_way_back(Journey const& way, std::size_t n, std::size_t n_own)
  {
    std::vector<int> times(n, 0), own(n_own, 0);
    for (index_type const i : way.sent) ++times.at(i);
    for (index_type const i : way.received) ++own.at(i);
    EXPECT_EQ(std::ranges::count(times, 1), static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(std::ranges::count(own, 1), static_cast<std::ptrdiff_t>(n_own));
    EXPECT_EQ(way.received_offsets.back(), n_own);
  }

  /// Two trees over ranks are equal to the bit, as far as that does not depend on where the points come from.
  template <class T, int Dim>
  void expect_equal_parts(starpu_mpi::distributed_tree<T, Dim> const& one,
                          starpu_mpi::distributed_tree<T, Dim> const& other)
  {
    ASSERT_EQ(one.size(), other.size());
    EXPECT_EQ(one.root(), other.root());
    EXPECT_EQ(one.first_leaf(), other.first_leaf());
    EXPECT_EQ(one.interaction_count(), other.interaction_count());
    EXPECT_EQ(one.total_leaves(), other.total_leaves());
    ASSERT_TRUE(std::ranges::equal(one.known_leaves().offsets, other.known_leaves().offsets));
    ASSERT_TRUE(std::ranges::equal(one.known_sources().offsets, other.known_sources().offsets));
    for (index_type b = 0; b < one.known_leaves().size(); ++b)
      EXPECT_EQ(one.cell(b), other.cell(b));
    expect_same_list(one.interactions(), other.interactions());
    for (int d = 0; d < Dim; ++d)
    {
      EXPECT_TRUE(std::equal(one.positions()[d], one.positions()[d] + one.n_points(),
                             other.positions()[d]));
      EXPECT_TRUE(std::equal(one.source_positions()[d], one.source_positions()[d] + one.n_sources(),
                             other.source_positions()[d]));
    }
    ASSERT_EQ(one.layers().size(), other.layers().size());
    for (std::size_t l = 0; l < one.layers().size(); ++l)
    {
      auto const &a = one.layers()[l], &b = other.layers()[l];
      EXPECT_EQ(a.rank, b.rank);
      EXPECT_EQ(a.first_leaf, b.first_leaf);
      EXPECT_EQ(a.last_leaf, b.last_leaf);
      EXPECT_EQ(a.sent, b.sent);
    }
  }
}
