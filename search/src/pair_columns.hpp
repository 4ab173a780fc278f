#pragma once

#include <nearfield/search/outputs.hpp>
#include <nearfield/search/rows.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

/// \file
/// The optional columns of a list: r2, x_i - x_j, and which image of j it is.

namespace nearfield::detail
{
  /// Calls f(column) for the columns that are asked for, until it returns false,
  /// and empties the others.
  template <class T, int Dim, class Options, class F>
  bool for_each_column(pair_geometry<T, Dim>& geometry, Options const& what, F&& f)
  {
    bool all = true;
    auto const column = [&](auto& values, bool wanted)
    {
      if (wanted)
        all = all && f(values);
      else
        values.resize(0);
    };
    column(geometry.r2, what.distances);
    for (auto& values : geometry.displacements) column(values, what.displacements);
    for (auto& values : geometry.images) column(values, what.images == image_columns::counters);
    column(geometry.packed_images, what.images == image_columns::packed);
    return all;
  }

  /// Calls f(columns...) for each column and the same of the other lists.
  template <class F, class T, int Dim, class... More>
  void for_each_of(F const& f, pair_geometry<T, Dim>& list, More&... others)
  {
    f(list.r2, others.r2...);
    for (int a = 0; a < Dim; ++a) f(list.displacements[a], others.displacements[a]...);
    for (int a = 0; a < Dim; ++a) f(list.images[a], others.images[a]...);
    f(list.packed_images, others.packed_images...);
  }

  /// Calls f(begin, end, S) for all points of a row, in order, those [begin, end) at once; S = 0 if their images are not
  /// known.
  template <class T, int Dim, class F>
  void for_each_image(cell_view<T, Dim> const& cells, search_row<T, Dim> const& hits, F const& f)
  {
    index_type k = 0;
    for (image_run const* at = hits.images; at && k < hits.count; ++at)
    {
      image_run const run = *at;
      image_counters<Dim> image{};
      if (hits.of_shift) image = hits.of_shift[run.shift];
      if (!cells.target_images.empty())
        for (int a = 0; a < Dim; ++a) image[a] += cells.target_images[hits.i][a];
      if (cells.source_images.empty())
      {
        f(k, run.end, image);
        k = run.end;
      }
      for (; k < run.end; ++k)
      {
        image_counters<Dim> of_pair = image;
        for (int a = 0; a < Dim; ++a) of_pair[a] -= cells.source_images[hits.j[k]][a];
        f(k, k + 1, of_pair);
      }
    }
    f(k, hits.count, image_counters<Dim>());
  }

  /// The values of a column; null if it is not asked for.
  template <class V>
  V* values_of(page_array<V>& column)
  {
    return column.empty() ? nullptr : column.data();
  }
  template <class V>
  V* values_of(V* column)
  {
    return column;
  }

  /// Writes the same S to n places from `at` on, of a pair_geometry or slab_columns.
  template <class Geometry, std::size_t Dim>
  void put_images(Geometry& geometry, std::uint64_t at, index_type n,
                  std::array<std::int32_t, Dim> const& image)
  {
    if (n == 0) return;
    if (auto* const packed = values_of(geometry.packed_images))
      std::fill_n(packed + at, n, packed_image(image));
    else if (values_of(geometry.images[0]))
      for (std::size_t a = 0; a < Dim; ++a)
        std::fill_n(values_of(geometry.images[a]) + at, n, image[a]);
  }

  /// Writes the values of a row from place `at` on, in the order of the row.
  template <class T, int Dim, class Geometry>
  void put_geometry(cell_view<T, Dim> const& cells, Geometry& geometry, std::uint64_t at,
                    search_row<T, Dim> const& hits)
  {
    if (T* const r2 = values_of(geometry.r2)) std::copy_n(hits.r2, hits.count, r2 + at);
    for (int a = 0; a < Dim; ++a)
      if (T* const d = values_of(geometry.displacements[a]))
        std::copy_n(hits.d[a], hits.count, d + at);
    if (hits.images)
      for_each_image(cells, hits,
                     [&](index_type begin, index_type end, image_counters<Dim> const& image)
                     { put_images(geometry, at + begin, end - begin, image); });
  }

  /// Sorts parts of a list by index, and the other columns with them.
  template <class T, int Dim>
  class row_sorter
  {
  public:
    explicit row_sorter(pair_geometry<T, Dim>& geometry) : geometry_(geometry)
    {
      for_each_of([&](auto const& column) { only_j_ &= column.empty(); }, geometry);
    }

    void operator()(index_type* j, std::uint64_t begin, std::uint64_t end)
    {
      if (only_j_)
      {
        std::sort(j + begin, j + end);
        return;
      }
      std::size_t const n = end - begin;
      order_.resize(n);
      for (std::size_t k = 0; k < n; ++k) order_[k] = {j[begin + k], static_cast<index_type>(k)};
      std::sort(order_.begin(), order_.end()); // images of one j by place
      auto const permute = [&]<class V>(page_array<V>& column)
      {
        if (column.empty()) return;
        auto& values = std::get<std::vector<V>>(values_);
        values.resize(n);
        for (std::size_t k = 0; k < n; ++k) values[k] = column[begin + order_[k].second];
        std::copy_n(values.begin(), n, column.data() + begin);
      };
      for_each_of(permute, geometry_);
      for (std::size_t k = 0; k < n; ++k) j[begin + k] = order_[k].first;
    }

  private:
    pair_geometry<T, Dim>& geometry_;
    bool only_j_ = true; // no other columns
    std::vector<std::pair<index_type, index_type>> order_;
    std::tuple<std::vector<T>, std::vector<std::int32_t>, std::vector<std::uint32_t>> values_;
  };
}
