#pragma once

#include <nearfield/search/rows.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

/// \file
/// The optional columns r2 and x_i - x_j of a list.

namespace nearfield::detail
{
  /// Calls f(column) for the columns that are asked for, until it returns false,
  /// and empties the others.
  template <class T, int Dim, class Options, class F>
  bool for_each_column(pair_geometry<T, Dim>& geometry, Options const& what, F&& f)
  {
    bool all = true;
    auto const column = [&](page_array<T>& values, bool wanted)
    {
      if (wanted)
        all = all && f(values);
      else
        values.resize(0);
    };
    column(geometry.r2, what.distances);
    for (auto& values : geometry.displacements) column(values, what.displacements);
    return all;
  }

  /// Writes the values of a row from place `at` on, in the order of the row.
  template <class T, int Dim>
  void put_geometry(pair_geometry<T, Dim>& geometry, std::uint64_t at,
                    search_row<T, Dim> const& hits)
  {
    if (!geometry.r2.empty()) std::copy_n(hits.r2, hits.count, geometry.r2.data() + at);
    for (int a = 0; a < Dim; ++a)
      if (!geometry.displacements[a].empty())
        std::copy_n(hits.d[a], hits.count, geometry.displacements[a].data() + at);
  }

  /// Sorts parts of a list by index, and the other columns with them.
  template <class T, int Dim>
  class row_sorter
  {
  public:
    explicit row_sorter(pair_geometry<T, Dim>& geometry)
    {
      if (!geometry.r2.empty()) columns_.push_back(geometry.r2.data());
      for (auto& values : geometry.displacements)
        if (!values.empty()) columns_.push_back(values.data());
    }

    void operator()(index_type* j, std::uint64_t begin, std::uint64_t end)
    {
      if (columns_.empty())
      {
        std::sort(j + begin, j + end);
        return;
      }
      std::size_t const n = end - begin;
      order_.resize(n);
      for (std::size_t k = 0; k < n; ++k) order_[k] = {j[begin + k], static_cast<index_type>(k)};
      std::sort(order_.begin(), order_.end()); // the indices of a row are distinct
      values_.resize(n);
      for (T* const column : columns_)
      {
        for (std::size_t k = 0; k < n; ++k) values_[k] = column[begin + order_[k].second];
        std::copy_n(values_.begin(), n, column + begin);
      }
      for (std::size_t k = 0; k < n; ++k) j[begin + k] = order_[k].first;
    }

  private:
    std::vector<T*> columns_;
    std::vector<std::pair<index_type, index_type>> order_;
    std::vector<T> values_;
  };
}
