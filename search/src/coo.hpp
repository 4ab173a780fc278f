#pragma once

#include "pair_columns.hpp"
#include "stream.hpp"

#include <nearfield/search/slabs.hpp>

#include <algorithm>

/// \file
/// Lists of pairs in two columns.

namespace nearfield::detail
{
  /// Reserves room for n pairs in all columns; false if the system refuses.
  template <class T, int Dim>
  bool reserve(coo<T, Dim>& list, to_coo const& what, std::uint64_t n)
  {
    return list.i.try_reserve(n) && list.j.try_reserve(n) &&
           for_each_column(list, what, [&](auto& values) { return values.try_reserve(n); });
  }

  template <class T, int Dim>
  void resize(coo<T, Dim>& list, to_coo const& what, std::uint64_t n)
  {
    list.i.resize(n);
    list.j.resize(n);
    for_each_column(list, what,
                    [&](auto& values)
                    {
                      values.resize(n);
                      return true;
                    });
  }

  /// As resize(), and gives back address space where far fewer pairs were found than there is room for.
  template <class T, int Dim>
  void resize_to_found(coo<T, Dim>& list, to_coo const& what, std::uint64_t n)
  {
    resize(list, what, n);
    auto const give_back = [](auto& values)
    {
      constexpr std::size_t little = (std::size_t(1) << 20) / sizeof(values[0]);
      if (values.capacity() > 2 * values.size() + little) values.shrink_to_fit();
      return true;
    };
    give_back(list.i);
    give_back(list.j);
    for_each_column(list, what, give_back);
  }

  /// The single pass: appends rows.
  template <class T, int Dim>
  struct coo_writer
  {
    cell_view<T, Dim> const& cells;
    index_type* i;
    index_type* j;
    pair_geometry<T, Dim>* geometry; // null if there are no columns but i and j
    std::uint64_t size = 0;
    std::uint64_t first = size; // others may write before it
    pair_stream stream = {};

    static void row(void* self, search_row<T, Dim> const& hits)
    {
      coo_writer& to = *static_cast<coo_writer*>(self);
      if (to.stream.begun())
        to.stream.add(hits.i, hits.j, hits.count);
      else
      {
        std::fill_n(to.i + to.size, hits.count, hits.i);
        std::copy_n(hits.j, hits.count, to.j + to.size);
      }
      if (to.geometry) put_geometry(to.cells, *to.geometry, to.size, hits);
      to.size += hits.count;
      if (to.size - to.first >= cached_pairs && !to.stream.begun())
        to.stream.begin(to.i, to.j, to.size);
    }
  };

  /// Writes the rows of a job from place `at` of a list on that has room for them, and may write over places
  /// after them. Returns the place after the last pair.
  template <class T, int Dim>
  std::uint64_t write_pairs(isa where, search_job<T, Dim> const& job, to_coo const& what,
                            coo<T, Dim>& list, std::uint64_t at)
  {
    bool const only_indices = geometry_bytes<T, Dim>(what) == 0;
    coo_writer<T, Dim> sink{*job.cells, list.i.data(), list.j.data(),
                            only_indices ? nullptr : &list, at};
    search_rows(where, job, content_of(what), &coo_writer<T, Dim>::row, &sink, has_images(what));
    sink.stream.finish();
    return sink.size;
  }
}
