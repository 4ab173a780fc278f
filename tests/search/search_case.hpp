#pragma once

#include "backends.hpp"
#include "point_kinds.hpp"
#include "points.hpp"
#include "search/search_checks.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>
#if defined(NEARFIELD_TEST_CUDA)
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#endif

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

/// \file
/// The types of typed search tests, and one search on every back-end of the test program: those of the CPU or,
/// with NEARFIELD_TEST_CUDA, that of the GPU.

namespace nearfield::test
{
  using search_kinds = point_kinds;

  /// A search: points, or queries and points; cutoff and options.
  template <class T, int Dim>
  struct search_case
  {
    points<T, Dim> x{};
    points<T, Dim> y{}; // two sets only
    bool one_set = true;
    double cutoff = 0.1;
    cell_list_options<T, Dim> options{};
    outputs how_many = outputs::lists;

    [[nodiscard]] brute_force<T, Dim> expected() const
    {
      T const radius = static_cast<T>(cutoff);
      return one_set ? brute_force<T, Dim>(x.view(), radius, options)
                     : brute_force<T, Dim>(x.view(), y.view(), radius, options);
    }
  };

  /// The cutoff at which n uniform points in the unit cube have about `neighbours` neighbours each.
  template <int Dim>
  double cutoff_for(double neighbours, std::size_t n)
  {
    double const volume = Dim == 3 ? 4.18879 : 3.14159;
    return std::pow(neighbours / volume / double(n), 1. / Dim);
  }

  template <class T, int Dim>
  void stretch(points<T, Dim>& set, std::array<double, Dim> const& by)
  {
    for (int a = 0; a < Dim; ++a)
      for (T& x : set.columns[a]) x = static_cast<T>(double(x) * by[a]);
  }

  /// Moves points into [0, period) on the axes that have one.
  template <class T, int Dim>
  void wrap(points<T, Dim>& set, std::array<T, Dim> const& period)
  {
    for (int a = 0; a < Dim; ++a)
      for (T& x : set.columns[a])
        if (period[a] > 0)
        {
          x = x - period[a] * std::floor(x / period[a]);
          if (!(x < period[a])) x = 0;
        }
  }

  template <class T, int Dim>
  void expect_grid(brute_force<T, Dim> const& reference, detail::cell_grid<T, Dim> const& found)
  {
    EXPECT_EQ(found.lower, reference.grid.lower);
    EXPECT_EQ(found.inverse_width, reference.grid.inverse_width);
    EXPECT_EQ(found.cells, reference.grid.cells);
    EXPECT_EQ(found.reach, reference.grid.reach);
  }

  inline void expect_order(std::vector<index_type> const& expected, auto const& found)
  {
    ASSERT_EQ(found.size(), expected.size());
    auto const differ = std::mismatch(found.begin(), found.end(), expected.begin());
    if (differ.first != found.end())
      ADD_FAILURE() << "position " << differ.first - found.begin() << " holds point "
                    << *differ.first << ", expected " << *differ.second;
  }

#if defined(NEARFIELD_TEST_CUDA)
  /// A copy of device memory on the host.
  inline std::vector<index_type> on_host(std::span<index_type const> on_device)
  {
    synchronize(nullptr);
    std::vector<index_type> result(on_device.size());
    detail::device_copy(result.data(), on_device.data(), on_device.size_bytes(), nullptr);
    return result;
  }

  /// Compares counts and full lists, then, for one set and after a rebuild, half lists.
  template <class T, int Dim>
  void expect_case(search_case<T, Dim> const& search, brute_force<T, Dim> const& reference)
  {
    T const cutoff = static_cast<T>(search.cutoff);
    device_columns<T, Dim> const x(search.x.view()), y(search.y.view());
    cuda_cell_list<T, Dim> cells =
        search.one_set ? cuda_cell_list<T, Dim>(cuda, x.view(), cutoff, search.options)
                       : cuda_cell_list<T, Dim>(cuda, x.view(), y.view(), cutoff, search.options);
    auto const find = [&](auto const& what)
    {
      return radius_search(cuda, cells, what).to_host();
    };
    expect_grid(reference, cells.grid());
    if (search.how_many == outputs::every && search.one_set)
    {
      // before the points inside cells are sorted
      EXPECT_EQ(radius_search(cuda, cells, count_pairs{}).total,
                reference.list(pairs::half).size());
    }
    expect_order(reference.target_order, on_host(cells.target_order()));
    expect_order(reference.source_order, on_host(cells.source_order()));
    expect_outputs(reference, pairs::full, search.how_many, find);
    if (!search.one_set) return;
    cells.rebuild(x.view());
    expect_outputs(reference, pairs::half, search.how_many, find);
  }
#else
  /// Compares counts, lists with all options, and visits on every instruction set.
  template <class T, int Dim>
  void expect_case(search_case<T, Dim> const& search, brute_force<T, Dim> const& reference)
  {
    auto const cells =
        search.one_set
            ? cell_list<T, Dim>(search.x.view(), search.cutoff, search.options)
            : cell_list<T, Dim>(search.x.view(), search.y.view(), search.cutoff, search.options);
    expect_grid(reference, cells.grid());
    expect_order(reference.target_order, cells.target_order());
    expect_order(reference.source_order, cells.source_order());
    for (tested_backend const& backend : tested_backends())
      backend.run(
          [&](auto where)
          {
            SCOPED_TRACE(backend.name);
            auto const find = [&](auto const& what)
            {
              return radius_search(where, cells, what);
            };
            for (pairs const which : {pairs::full, pairs::half})
            {
              if (which == pairs::half && !search.one_set) continue;
              expect_outputs(reference, which, outputs::every, find);
              pair_list visited;
              bool same_r2 = true;
              find(visit{[&](index_type i, index_type j, T r2)
                         {
                           visited.emplace_back(i, j);
                           same_r2 = same_r2 && r2 == reference.definition.r2(i, j);
                         },
                         which});
              EXPECT_EQ(visited, reference.list(which)) << "visit";
              EXPECT_TRUE(same_r2) << "visit";
            }
          });
  }
#endif

  /// Compares one search with brute force. Returns the number of entries of the full list.
  template <class T, int Dim>
  std::size_t check_search(search_case<T, Dim> const& search)
  {
    brute_force<T, Dim> const reference = search.expected();
    expect_case(search, reference);
    return reference.list(pairs::full).size();
  }
}
