#pragma once

#include <nearfield/starpu/pair_slabs.hpp>

#include "one_runtime.hpp"
#include "points.hpp"

#include <nearfield/search/radius_search.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

/// \file
/// What the tests of lists of pairs share. The search on one thread is tested against the definition; here
/// tasks are tested against it.

namespace nearfield::test
{
  using starpu::handle;
  using starpu::pair_slabs;

  /// Where slabs are searched, and the implementations that may run there.
#if defined(NEARFIELD_TEST_CUDA)
  inline std::vector<backend> const backends = {backend::cuda, backend::automatic, backend::simd};
#else
  inline std::vector<backend> const backends = {backend::automatic, backend::scalar};
#endif

  /// Handles of columns; the columns must outlive them.
  template <class T, int Dim>
  struct column_handles
  {
    std::vector<handle> columns;

    explicit column_handles(points<T, Dim> const& x)
    {
      for (auto const& column : x.columns)
        columns.push_back(handle::of(column.data(), column.size()));
    }
    [[nodiscard]] std::array<starpu_data_handle_t, Dim> view() const
    {
      std::array<starpu_data_handle_t, Dim> result;
      for (int a = 0; a < Dim; ++a) result[a] = columns[static_cast<std::size_t>(a)];
      return result;
    }
  };

  /// A copy of the values of a vector handle. Waits for the task that writes them.
  template <class V>
  std::vector<V> values_of(starpu_data_handle_t data)
  {
    starpu_data_acquire(data, STARPU_R);
    auto const* const first = reinterpret_cast<V const*>(starpu_vector_get_local_ptr(data));
    std::vector<V> const values(first, first + starpu_vector_get_nx(data));
    starpu_data_release(data);
    return values;
  }

  inline void expect_equal(auto const& found, auto const& expected, std::string const& what)
  {
    ASSERT_EQ(found.size(), expected.size()) << what;
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin())) << what;
  }

  template <class T, int Dim>
  void expect_lists(pair_slabs<T, Dim>& list, cell_list<T, Dim> const& cells, pairs which)
  {
    EXPECT_EQ(list.n_pairs(), radius_search(simd, cells, count_pairs{which}).total);
    coo<T, Dim> pairs_found;
    list.to_host(pairs_found);
    auto const expected_pairs = radius_search(simd, cells, to_coo{which});
    expect_equal(pairs_found.i, expected_pairs.i, "COO i");
    expect_equal(pairs_found.j, expected_pairs.j, "COO j");
    csr<T, Dim> rows_found;
    list.to_host(rows_found);
    auto const expected_rows = radius_search(simd, cells, to_csr{which});
    expect_equal(rows_found.offsets, expected_rows.offsets, "CSR offsets");
    expect_equal(rows_found.columns, expected_rows.columns, "CSR columns");
  }
}
