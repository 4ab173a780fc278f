#pragma once

#include "search/brute_force.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// \file
/// Comparison of any back-end with brute force: the same pairs in the same order, bit for bit. A search is a
/// function `find(what)` that returns its result in host memory.

namespace nearfield::test
{
  /// Succeeds if both lists are equal. Otherwise reports the first difference, the numbers of missing and of
  /// unexpected pairs with examples, or that only the order differs.
  template <class T, int Dim>
  testing::AssertionResult same_pairs(brute_force<T, Dim> const& reference,
                                      pair_list const& expected, std::span<index_type const> i,
                                      std::span<index_type const> j)
  {
    std::size_t first = 0;
    while (first < expected.size() && first < i.size() && first < j.size() &&
           expected[first] == std::pair{i[first], j[first]})
      ++first;
    if (first == expected.size() && i.size() == first && j.size() == first)
      return testing::AssertionSuccess();

    pair_list wanted = expected, found;
    for (std::size_t p = 0; p < std::min(i.size(), j.size()); ++p) found.emplace_back(i[p], j[p]);
    auto failure = testing::AssertionFailure()
                   << found.size() << " pairs, expected " << wanted.size()
                   << "; the first difference is at " << first << ": ";
    if (first < found.size())
      failure << "found " << reference.about(found[first].first, found[first].second);
    if (first < wanted.size())
      failure << "\n  expected " << reference.about(wanted[first].first, wanted[first].second);
    std::sort(wanted.begin(), wanted.end());
    std::sort(found.begin(), found.end());
    bool same = true;
    auto const tell = [&](char const* what, pair_list const& those, pair_list const& lack)
    {
      pair_list difference;
      std::set_difference(those.begin(), those.end(), lack.begin(), lack.end(),
                          std::back_inserter(difference));
      failure << "\n  " << difference.size() << " " << what;
      for (std::size_t k = 0; k < std::min<std::size_t>(3, difference.size()); ++k)
        failure << "\n    " << reference.about(difference[k].first, difference[k].second);
      same = same && difference.empty();
    };
    tell("missing", wanted, found);
    tell("that should not be", found, wanted);
    if (same) failure << ": only the order differs";
    return failure;
  }

  /// The same for rows.
  template <class T, int Dim>
  testing::AssertionResult same_rows(brute_force<T, Dim> const& reference,
                                     neighbour_rows const& expected, csr<T, Dim> const& found)
  {
    auto const& offsets = found.offsets;
    if (offsets.size() != expected.size() + 1)
      return testing::AssertionFailure()
             << offsets.size() << " offsets, expected " << expected.size() + 1;
    bool const ascending = std::is_sorted(offsets.begin(), offsets.end());
    if (offsets[0] != 0 || offsets[expected.size()] != found.columns.size() || !ascending)
      return testing::AssertionFailure()
             << "offsets from " << offsets[0] << " to " << offsets[expected.size()] << ", "
             << (ascending ? "" : "not ") << "ascending, for " << found.columns.size()
             << " columns";
    std::vector<index_type> rows;
    for (index_type i = 0; i < expected.size(); ++i)
      rows.insert(rows.end(), offsets[i + 1] - offsets[i], i);
    return same_pairs(reference, entries_of(expected), rows,
                      {found.columns.data(), found.columns.size()});
  }

  template <class T, int Dim>
  testing::AssertionResult same_pairs(brute_force<T, Dim> const& reference,
                                      pair_list const& expected, coo<T, Dim> const& found)
  {
    return same_pairs(reference, expected, {found.i.data(), found.i.size()},
                      {found.j.data(), found.j.size()});
  }

  /// Compares the displacement and r2 of every entry.
  template <class T, int Dim>
  void expect_geometry(brute_force<T, Dim> const& reference,
                       nearfield::detail::pair_geometry<T, Dim> const& found, pair_list const& list)
  {
    ASSERT_EQ(found.r2.size(), list.size());
    for (int a = 0; a < Dim; ++a) ASSERT_EQ(found.displacements[a].size(), list.size());
    for (std::size_t p = 0; p < list.size(); ++p)
    {
      auto const [i, j] = list[p];
      ASSERT_EQ(found.r2[p], reference.definition.r2(i, j))
          << "entry " << p << ", " << reference.about(i, j);
      for (int a = 0; a < Dim; ++a)
      {
        T const d = found.displacements[a][p], expected = reference.definition.difference(a, i, j);
        ASSERT_EQ(d, expected) << "entry " << p << ", axis " << a << ", " << reference.about(i, j);
        ASSERT_EQ(std::signbit(d), std::signbit(expected))
            << "entry " << p << ", axis " << a << ", " << reference.about(i, j);
      }
    }
  }

  template <class T, int Dim>
  void expect_no_geometry(nearfield::detail::pair_geometry<T, Dim> const& found)
  {
    EXPECT_EQ(found.r2.size(), 0u);
    for (int a = 0; a < Dim; ++a) EXPECT_EQ(found.displacements[a].size(), 0u);
  }

  template <class T, int Dim>
  void expect_counts(brute_force<T, Dim> const& reference, pairs which, auto const& find)
  {
    auto const rows = reference.lists(which);
    pair_counts const counts = find(count_pairs{which, true});
    EXPECT_EQ(counts.total, reference.list(which).size());
    ASSERT_EQ(counts.per_point.size(), rows.size());
    int told = 0;
    for (std::size_t i = 0; i < rows.size() && told < 5; ++i)
      if (counts.per_point[i] != rows[i].size())
      {
        ++told;
        ADD_FAILURE() << "point " << i << " has " << rows[i].size() << " pairs, counted "
                      << counts.per_point[i] << "; " << reference.about(i, i);
      }
  }

  template <class T, int Dim>
  void expect_table(brute_force<T, Dim> const& reference, pairs which, index_type width,
                    auto const& find)
  {
    SCOPED_TRACE(testing::Message() << "table of width " << width);
    auto const rows = reference.lists(which);
    neighbour_table const table = find(to_table{which, width});
    ASSERT_EQ(table.size(), rows.size());
    bool overflow = false;
    for (std::size_t i = 0; i < rows.size(); ++i)
    {
      overflow = overflow || rows[i].size() > width;
      ASSERT_EQ(table.counts[i], rows[i].size()) << "row " << i;
      auto const row = table.row(i);
      ASSERT_EQ(row.size(), std::min<std::size_t>(rows[i].size(), width)) << "row " << i;
      ASSERT_TRUE(std::equal(row.begin(), row.end(), rows[i].begin())) << "row " << i;
    }
    EXPECT_EQ(table.overflow, overflow);
  }

  /// Compares tables with and without overflow, r2 and displacements, and sorted lists.
  template <class T, int Dim>
  void expect_options(brute_force<T, Dim> const& reference, pairs which, auto const& find)
  {
    auto const by_position = reference.lists(which);
    std::size_t longest = 1;
    for (auto const& row : by_position) longest = std::max(longest, row.size());
    expect_table(reference, which, 5, find);
    expect_table(reference, which, static_cast<index_type>(longest), find);
    EXPECT_EQ(find(count_pairs{which}).total, reference.list(which).size());

    auto list = reference.list(which);
    expect_geometry(reference,
                    find(to_coo{.which = which, .distances = true, .displacements = true}), list);
    if (which == pairs::half)
      for (auto& [i, j] : list)
        if (j < i) std::swap(i, j);
    std::sort(list.begin(), list.end());
    coo<T, Dim> const sorted =
        find(to_coo{.which = which, .sorted = true, .distances = true, .displacements = true});
    EXPECT_TRUE(same_pairs(reference, list, sorted)) << "sorted COO";
    expect_geometry(reference, sorted, list);
    EXPECT_TRUE(same_pairs(reference, list, find(to_coo{which, true}))) << "COO, only sorted";

    auto rows = by_position;
    for (bool const is_sorted : {false, true})
    {
      if (is_sorted)
        for (auto& row : rows) std::sort(row.begin(), row.end());
      csr<T, Dim> const found = find(
          to_csr{.which = which, .sorted = is_sorted, .distances = true, .displacements = true});
      EXPECT_TRUE(same_rows(reference, rows, found)) << "CSR with geometry, sorted " << is_sorted;
      expect_geometry(reference, found, entries_of(rows));
    }
    EXPECT_TRUE(same_rows(reference, rows, find(to_csr{which, true}))) << "CSR, only sorted";
  }

  /// How much of a search is compared: counts and lists, or also all of their options.
  enum class outputs
  {
    lists,
    every
  };

  template <class T, int Dim>
  void expect_outputs(brute_force<T, Dim> const& reference, pairs which, outputs how_many,
                      auto const& find)
  {
    SCOPED_TRACE(which == pairs::half ? "half" : "full");
    expect_counts(reference, which, find);
    coo<T, Dim> const list = find(to_coo{.which = which});
    EXPECT_TRUE(same_pairs(reference, reference.list(which), list)) << "COO";
    expect_no_geometry(list);
    csr<T, Dim> const rows = find(to_csr{.which = which});
    EXPECT_TRUE(same_rows(reference, reference.lists(which), rows)) << "CSR";
    expect_no_geometry(rows);
    if (how_many == outputs::every) expect_options(reference, which, find);
  }
}
