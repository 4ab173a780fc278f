#pragma once

#include "one_runtime.hpp"
#include "points.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/starpu/pair_slabs.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace nearfield::test
{
  /// Points, their cells and handles of their columns, and the list that slabs of them must make.
  struct slab_problem
  {
    points<double, 3> x;
    double cutoff;
    cell_list_options<double, 3> grid;
    cell_list<double, 3> cells;
    std::vector<starpu::handle> columns;

    slab_problem(points<double, 3>&& of, double r, cell_list_options<double, 3> const& how = {})
        : x(std::move(of)), cutoff(r), grid(how), cells(x.view(), cutoff, grid)
    {
      for (auto const& column : x.columns)
        columns.push_back(starpu::handle::of(column.data(), column.size()));
    }
    [[nodiscard]] starpu::pair_slabs<double, 3> list(backend where, std::size_t slabs) const
    {
      return {one_runtime(),
              {columns[0], columns[1], columns[2]},
              cutoff,
              {.grid = grid, .backend = where, .slabs = slabs}};
    }
    void expect_list(starpu::pair_slabs<double, 3>& list) const
    {
      auto const expected = radius_search(simd, cells, to_coo{});
      coo<double, 3> found;
      list.to_host(found);
      ASSERT_EQ(found.size(), expected.size());
      EXPECT_TRUE(std::equal(found.i.begin(), found.i.end(), expected.i.begin()));
      EXPECT_TRUE(std::equal(found.j.begin(), found.j.end(), expected.j.begin()));
    }
  };
}
