#pragma once

#include "clouds.hpp"
#include "points.hpp"

#include <nearfield/starpu_mpi/radius_search.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

/// \file
/// Searches over ranks against the list of one rank.

namespace nearfield::test
{
  inline constexpr std::uint64_t far_number =
      3'000'000'000'000; // global numbers do not fit 32 bits

  inline std::uint64_t sum_of_ranks(std::uint64_t value)
  {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return value;
  }

  /// A pair with r2, x_i - x_j and the image of j.
  template <class T, int Dim>
  using entry = std::tuple<std::uint64_t, std::uint64_t, T, std::array<T, Dim>,
                           nearfield::detail::image_counters<Dim>>;

  template <class T, int Dim>
  entry<T, Dim> entry_at(nearfield::detail::pair_geometry<T, Dim> const& geometry, std::size_t at,
                         std::uint64_t i, std::uint64_t j)
  {
    std::array<T, Dim> d;
    nearfield::detail::image_counters<Dim> image;
    for (int a = 0; a < Dim; ++a)
    {
      d[a] = geometry.displacements[a][at];
      image[a] = geometry.images[a][at];
    }
    return {i, j, geometry.r2[at], d, image};
  }

  /// Which of n points are this rank's own.
  template <class T, int Dim>
  std::vector<bool> own_points(std::size_t n, starpu_mpi::distributed_cells<T, Dim> const& cells)
  {
    std::vector<bool> is_own(n, false);
    for (std::size_t p = 0; p < cells.n_points(); ++p)
      is_own[cells.numbers()[p] - far_number] = true;
    return is_own;
  }

  /// As (smaller, larger).
  template <class Entry>
  void turn_upwards(Entry& pair)
  {
    auto& [i, j, r2, d, image] = pair;
    if (i <= j) return;
    std::swap(i, j);
    for (auto& x : d) x = 0 - x;
    for (auto& n : image) n = -n;
  }

  /// The pairs of `whole`, the list of one rank, that belong to this one, in lexicographic order.
  template <class T, int Dim, class Whole>
  std::vector<entry<T, Dim>> expected_pairs(Whole const& whole,
                                            starpu_mpi::distributed_cells<T, Dim> const& cells,
                                            pairs which)
  {
    std::vector<bool> const is_own = own_points(cells.total_points(), cells);
    auto const list =
        radius_search(scalar, whole, to_coo{which, false, true, true, image_columns::counters});
    std::vector<entry<T, Dim>> expected;
    for (std::size_t p = 0; p < list.size(); ++p)
    {
      auto pair = entry_at(list, p, far_number + list.i[p], far_number + list.j[p]);
      if (which == pairs::half) turn_upwards(pair);
      if (is_own[std::get<0>(pair) - far_number]) expected.push_back(pair);
    }
    std::ranges::sort(expected);
    return expected;
  }

  /// Searches over ranks, of points or of those that are filtered, give the pairs of `whole`.
  template <class Cells, class Whole>
  void expect_every_output(Whole const& whole, Cells const& cells, pairs which)
  {
    using T = typename Cells::value_type;
    constexpr int Dim = Cells::dim;
    auto const& distributed = starpu_mpi::detail::points_of(cells);
    auto const numbers = distributed.numbers();
    std::size_t const n_own = distributed.n_points();
    auto const expected = expected_pairs(whole, distributed, which);
    std::vector<entry<T, Dim>> found;
    auto const add = [&](entry<T, Dim> pair, bool is_sorted)
    {
      auto& [i, j, r2, d, image] = pair;
      EXPECT_LT(i, n_own);
      i = numbers[i];
      j = numbers[j];
      if (which == pairs::half && !is_sorted) turn_upwards(pair);
      found.push_back(pair);
    };
    auto const expect_found = [&](char const* what, bool is_sorted = false)
    {
      EXPECT_TRUE(!is_sorted || std::ranges::is_sorted(
                                    found, {}, [](auto const& pair)
                                    { return std::pair(std::get<0>(pair), std::get<1>(pair)); }));
      std::ranges::sort(found);
      EXPECT_TRUE(found == expected)
          << what << ", " << found.size() << " pairs, expected " << expected.size();
      found.clear();
    };
    for (bool const is_sorted : {false, true})
    {
      auto const list = starpu_mpi::radius_search(
          simd, cells, to_coo{which, is_sorted, true, true, image_columns::counters});
      ASSERT_EQ(list.j.size(), list.size());
      for (std::size_t p = 0; p < list.size(); ++p)
        add(entry_at(list, p, list.i[p], list.j[p]), is_sorted);
      expect_found("COO", is_sorted);

      auto const rows = starpu_mpi::radius_search(
          scalar, cells, to_csr{which, is_sorted, true, true, image_columns::counters});
      ASSERT_EQ(rows.size(), n_own);
      for (std::size_t r = 0; r < rows.size(); ++r)
      {
        ASSERT_TRUE(!is_sorted || std::ranges::is_sorted(rows.row(r), {},
                                                         [&](index_type j) { return numbers[j]; }));
        for (std::uint64_t p = rows.offsets[r]; p < rows.offsets[r + 1]; ++p)
          add(entry_at(rows, p, r, rows.columns[p]), false);
      }
      expect_found("CSR");
    }
    EXPECT_TRUE(starpu_mpi::radius_search(simd, cells, to_coo{which, true}).images[0].empty());
    if (std::ranges::all_of(expected,
                            [](auto const& pair)
                            {
                              return std::ranges::all_of(std::get<4>(pair), [](std::int32_t n)
                                                         { return n > -512 && n < 512; });
                            }))
    {
      std::vector<std::array<std::uint64_t, 3>> packed, expected_packed;
      auto const list = starpu_mpi::radius_search(
          simd, cells, to_coo{.which = which, .sorted = true, .images = image_columns::packed});
      EXPECT_TRUE(list.images[0].empty());
      for (std::size_t p = 0; p < list.size(); ++p)
        packed.push_back({numbers[list.i[p]], numbers[list.j[p]], list.packed_images[p]});
      for (auto const& pair : expected)
        expected_packed.push_back({std::get<0>(pair), std::get<1>(pair),
                                   nearfield::detail::packed_image(std::get<4>(pair))});
      std::ranges::sort(packed);
      std::ranges::sort(expected_packed);
      EXPECT_TRUE(packed == expected_packed);
    }
    auto const bare = starpu_mpi::radius_search(simd, cells, to_csr{which});
    ASSERT_EQ(bare.columns.size(), expected.size());
    ASSERT_TRUE(bare.r2.empty() && bare.displacements[0].empty());

    EXPECT_EQ(starpu_mpi::radius_search(simd, cells, count_pairs{which}).total, expected.size());
    auto const counts = starpu_mpi::radius_search(simd, cells, count_pairs{which, true});
    EXPECT_EQ(counts.total, expected.size());
    ASSERT_EQ(counts.per_point.size(), n_own);
    for (std::size_t r = 0; r < bare.size(); ++r)
      ASSERT_EQ(counts.per_point[r], bare.row(r).size());

    auto const take = [&](auto i, auto j, T r2, vec<T, Dim> const& d)
    {
      std::array<T, Dim> values;
      for (int a = 0; a < Dim; ++a) values[a] = d[a];
      add({i, j, r2, values, {}}, false);
    };
    starpu_mpi::radius_search(simd, cells, visit{take, which});
    auto const same_image = [](auto const& of)
    {
      auto entries = of;
      for (auto& pair : entries) std::get<4>(pair) = {};
      std::ranges::sort(entries);
      return entries;
    };
    EXPECT_TRUE(same_image(found) == same_image(expected)) << "visit";
    auto const of_all_parts = starpu_mpi::radius_search(
        simd, cells,
        reduce{std::vector<std::pair<index_type, index_type>>{},
               [](auto& sum, index_type i, index_type j, T) { sum.emplace_back(i, j); },
               [](auto& sum, auto&& part) { sum.insert(sum.end(), part.begin(), part.end()); },
               which, 5});
    ASSERT_EQ(of_all_parts.size(), expected.size());
    std::vector<std::pair<std::uint64_t, std::uint64_t>> reduced, expected_of_parts;
    for (auto const& [i, j] : of_all_parts)
      if (which == pairs::half)
        reduced.emplace_back(std::minmax(numbers[i], numbers[j]));
      else
        reduced.emplace_back(numbers[i], numbers[j]);
    for (auto const& pair : expected)
      expected_of_parts.emplace_back(std::get<0>(pair), std::get<1>(pair));
    std::ranges::sort(reduced);
    EXPECT_TRUE(reduced == expected_of_parts);
  }

  /// Every point is one rank's own, in its range of the curve, and its position is the caller's.
  template <class T, int Dim>
  void expect_every_point_once(points<T, Dim> const& all, owners who, std::uint64_t seed,
                               starpu_mpi::distributed_cells<T, Dim> const& cells)
  {
    auto const n = all.size();
    std::vector<std::uint64_t> times(n + 1, 0);
    auto const first = first_points(who, n, seed);
    auto const rank = static_cast<std::size_t>(rank_of_world());
    std::vector<float> given;
    for (std::size_t i = first[rank]; i < first[rank + 1]; ++i) given.push_back(0.5f * float(i));
    auto const values = cells.known_values(given);
    EXPECT_EQ(values.size(), cells.numbers().size());
    for (std::size_t p = 0; p < cells.numbers().size(); ++p)
    {
      auto const i = static_cast<std::size_t>(cells.numbers()[p] - far_number);
      EXPECT_LT(i, n);
      if (i >= n) continue;
      if (p < cells.n_points()) ++times[i];
      for (int a = 0; a < Dim; ++a) EXPECT_EQ(cells.positions()[a][p], all.columns[a][i]);
      EXPECT_EQ(values[p], 0.5f * float(i));
    }
    MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    times.pop_back();
    EXPECT_EQ(std::ranges::count(times, 1u), std::ptrdiff_t(times.size()));
    EXPECT_EQ(cells.total_points(), n);
  }
}
