#pragma once

#include "backends.hpp"
#include "search_reference.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

/// \file
/// Every output of a search against the pairs of the definition.

namespace nearfield::test
{
  /// One search: points (queries and points), cutoff and options.
  template <class T, int Dim>
  struct search_case
  {
    points<T, Dim> x{};
    points<T, Dim> y{}; // two sets only
    bool one_set = true;
    double cutoff = 0.1;
    cell_list_options<T, Dim> options{};

    [[nodiscard]] cell_list<T, Dim> cells() const
    {
      return one_set ? cell_list<T, Dim>(x.view(), cutoff, options)
                     : cell_list<T, Dim>(x.view(), y.view(), cutoff, options);
    }
    [[nodiscard]] points<T, Dim> const& sources() const { return one_set ? x : y; }
    [[nodiscard]] pair_map<T, Dim> expected() const
    {
      return all_pairs<T, Dim>(x, sources(), one_set, cutoff, options.period);
    }
  };

  template <class T, int Dim>
  struct listed_pair
  {
    index_type i, j;
    geometry_of_pair<T, Dim> g;

    friend bool operator==(listed_pair const&, listed_pair const&) = default;
    friend std::ostream& operator<<(std::ostream& out, listed_pair const& p)
    {
      out << "(" << p.i << ", " << p.j << ": " << p.g.r2 << ";";
      for (T const d : p.g.d) out << " " << d;
      return out << ")";
    }
  };

  /// The expected list by row and position.
  template <class T, int Dim>
  class expected_lists
  {
  public:
    using list = std::vector<listed_pair<T, Dim>>;

    expected_lists(pair_map<T, Dim> const& found, cell_list<T, Dim> const& cells)
        : row_(places(cells.target_order())), column_(places(cells.source_order()))
    {
      for (auto const& [ij, g] : found) all_.push_back({ij.first, ij.second, g});
    }

    [[nodiscard]] list coo(pairs which) const
    {
      return sorted(which, [&](auto const& p) { return std::tuple(row_[p.i], column_[p.j]); });
    }
    [[nodiscard]] list csr(pairs which) const
    {
      return sorted(which, [&](auto const& p) { return std::tuple(p.i, column_[p.j]); });
    }
    [[nodiscard]] list sorted_csr(pairs which) const
    {
      return sorted(which, [&](auto const& p) { return std::tuple(p.i, p.j); });
    }
    [[nodiscard]] list sorted_coo(pairs which) const
    {
      list result;
      for (auto const& p : all_)
        if (which == pairs::full || p.i < p.j) result.push_back(p);
      return result; // as the map has them
    }

  private:
    static std::vector<index_type> places(std::span<index_type const> order)
    {
      std::vector<index_type> place(order.size());
      for (std::size_t p = 0; p < order.size(); ++p) place[order[p]] = static_cast<index_type>(p);
      return place;
    }

    list sorted(pairs which, auto key) const
    {
      list result;
      for (auto const& p : all_)
        if (which == pairs::full || row_[p.i] < row_[p.j]) result.push_back(p);
      std::ranges::sort(result, {}, key);
      return result;
    }

    std::vector<index_type> row_, column_;
    list all_;
  };

  template <class T, int Dim>
  geometry_of_pair<T, Dim> geometry_at(pair_geometry<T, Dim> const& list, std::size_t p)
  {
    geometry_of_pair<T, Dim> g{list.r2[p], {}};
    for (int a = 0; a < Dim; ++a) g.d[a] = list.displacements[a][p];
    return g;
  }

  template <class T, int Dim>
  std::vector<listed_pair<T, Dim>> listed(coo<T, Dim> const& list)
  {
    std::vector<listed_pair<T, Dim>> result;
    for (std::size_t p = 0; p < list.size(); ++p)
      result.push_back({list.i[p], list.j[p], geometry_at(list, p)});
    return result;
  }

  template <class T, int Dim>
  std::vector<listed_pair<T, Dim>> listed(csr<T, Dim> const& list)
  {
    std::vector<listed_pair<T, Dim>> result;
    for (std::size_t i = 0; i < list.size(); ++i)
      for (std::uint64_t p = list.offsets[i]; p < list.offsets[i + 1]; ++p)
        result.push_back({static_cast<index_type>(i), list.columns[p], geometry_at(list, p)});
    return result;
  }

  template <class List>
  void expect_same(List const& found, List const& expected, std::string const& what)
  {
    ASSERT_EQ(found.size(), expected.size()) << what;
    auto const [f, e] = std::ranges::mismatch(found, expected);
    EXPECT_TRUE(f == found.end()) << what << ": at " << f - found.begin() << " found " << *f
                                  << ", expected " << *e;
  }

  /// The outputs of one back-end.
  template <class T, int Dim>
  void check_outputs(auto backend, cell_list<T, Dim> const& cells,
                     expected_lists<T, Dim> const& expected, pairs which, std::string const& name)
  {
    auto const by_row = expected.csr(which);
    std::vector<index_type> counts(cells.target_order().size());
    for (auto const& p : by_row) ++counts[p.i];

    pair_counts const counted = radius_search(backend, cells, count_pairs{which, true});
    EXPECT_EQ(counted.total, by_row.size()) << name;
    EXPECT_TRUE(std::ranges::equal(counted.per_point, counts)) << name;
    EXPECT_EQ(radius_search(backend, cells, count_pairs{which}).total, by_row.size()) << name;

    coo<T, Dim> pairs_found;
    csr<T, Dim> rows_found;
    for (bool const sorted : {false, true})
    {
      std::string const text = name + (sorted ? ", sorted" : "");
      to_coo const as_coo{
          .which = which, .sorted = sorted, .distances = true, .displacements = true};
      radius_search(backend, cells, as_coo, pairs_found);
      expect_same(listed(pairs_found), sorted ? expected.sorted_coo(which) : expected.coo(which),
                  text + ", COO");
      to_csr const as_csr{
          .which = which, .sorted = sorted, .distances = true, .displacements = true};
      radius_search(backend, cells, as_csr, rows_found);
      expect_same(listed(rows_found), sorted ? expected.sorted_csr(which) : by_row, text + ", CSR");

      coo<T, Dim> const plain = radius_search(backend, cells, to_coo{which, sorted});
      EXPECT_TRUE(std::ranges::equal(plain.i, pairs_found.i)) << text;
      EXPECT_TRUE(std::ranges::equal(plain.j, pairs_found.j)) << text;
      EXPECT_TRUE(plain.r2.empty() && plain.displacements[0].empty());
      csr<T, Dim> const plain_rows = radius_search(backend, cells, to_csr{which, sorted});
      EXPECT_TRUE(std::ranges::equal(plain_rows.offsets, rows_found.offsets)) << text;
      EXPECT_TRUE(std::ranges::equal(plain_rows.columns, rows_found.columns)) << text;
    }

    typename expected_lists<T, Dim>::list visited;
    radius_search(backend, cells,
                  visit{[&](index_type i, index_type j, T r2) {
                          visited.push_back({i, j, {r2, {}}});
                        },
                        which});
    auto in_order = expected.coo(which);
    for (auto& p : in_order) p.g.d = {};
    expect_same(visited, in_order, name + ", visit");

    neighbour_table const table = radius_search(backend, cells, to_table{which, 5});
    EXPECT_TRUE(std::ranges::equal(table.counts, counts)) << name;
    EXPECT_EQ(table.overflow, std::ranges::any_of(counts, [](index_type n) { return n > 5; }));
    std::size_t first = 0;
    for (std::size_t i = 0; i < counts.size(); first += counts[i++])
    {
      ASSERT_EQ(table.row(i).size(), std::min<std::size_t>(counts[i], 5)) << name;
      for (std::size_t k = 0; k < table.row(i).size(); ++k)
        EXPECT_EQ(table.row(i)[k], by_row[first + k].j) << name << ", row " << i;
    }
  }

  /// All outputs on all back-ends. Returns the number of pairs, both ways.
  template <class T, int Dim>
  std::size_t check_search(search_case<T, Dim> const& search)
  {
    cell_list<T, Dim> const cells = search.cells();
    auto const found = search.expected();
    expected_lists<T, Dim> const expected(found, cells);
    for (tested_backend const& backend : tested_backends())
      backend.run(
          [&](auto where)
          {
            check_outputs(where, cells, expected, pairs::full, backend.name + ", full");
            if (search.one_set)
              check_outputs(where, cells, expected, pairs::half, backend.name + ", half");
          });
    return found.size();
  }
}
