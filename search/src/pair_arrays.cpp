#include "pair_columns.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/search/radius_search.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    /// Calls f(name, size, whether it is null) for each column.
    template <class T, int Dim, class F>
    void for_each_array(to_arrays<T, Dim> const& of, F const& f)
    {
      auto const column = [&](char const* name, auto const& view)
      {
        bool is_null = false;
        for (int a = 0; a < view.n_columns && view.size() > 0; ++a)
          is_null |= view[a].first == nullptr;
        f(name, view.size(), is_null);
      };
      f("i", of.i.size(), of.i.is_null());
      f("j", of.j.size(), of.j.is_null());
      column("r2", of.r2);
      column("r", of.r);
      column("displacements", of.displacements);
      column("to_j", of.to_j);
      column("images", of.images);
      column("packed_images", of.packed_images);
    }

    /// Writes rows from one place on, or each from a place of its own.
    template <class T, int Dim>
    struct array_writer
    {
      cell_view<T, Dim> const& cells;
      to_arrays<T, Dim> const& to;
      std::uint64_t size;
      std::uint64_t const* row_offsets; // by index; null: one after another
      std::uint64_t next = 0;
      std::vector<index_type> order = {}; // of the points of a row
      std::vector<image_counters<Dim>> images = {};

      static void row(void* self, search_row<T, Dim> const& hits)
      {
        array_writer& w = *static_cast<array_writer*>(self);
        std::uint64_t const at = w.row_offsets ? w.row_offsets[hits.i] : w.next;
        w.next += hits.count;
        if (at >= w.size || hits.count == 0) return;
        auto const n = static_cast<index_type>(std::min<std::uint64_t>(hits.count, w.size - at));
        if (w.to.order != pair_order::sorted)
          return w.put(hits, at, n, [](index_type k) { return k; });
        w.order.resize(hits.count);
        std::iota(w.order.begin(), w.order.end(), index_type(0));
        std::stable_sort(w.order.begin(), w.order.end(),
                         [&](index_type a, index_type b) { return hits.j[a] < hits.j[b]; });
        w.put(hits, at, n, [&](index_type k) { return w.order[k]; });
      }

    private:
      /// Points [0, n) of the row, of which point k is hits.j[from(k)], to places from `at` on.
      template <class From>
      void put(search_row<T, Dim> const& hits, std::uint64_t at, index_type n, From const& from)
      {
        auto const put_column = [&](auto const& column, auto const& value)
        {
          auto* const first = &column[at];
          if (column.stride == 1) // known to the compiler, which then takes registers
            for (index_type k = 0; k < n; ++k) first[k] = value(from(k));
          else
            for (index_type k = 0; k < n; ++k) column[at + k] = value(from(k));
        };
        to.i.with_values([&](auto const& column)
                         { put_column(column, [&](index_type) { return hits.i; }); });
        to.j.with_values([&](auto const& column)
                         { put_column(column, [&](index_type k) { return hits.j[k]; }); });
        if (to.r2.size() > 0) put_column(to.r2[0], [&](index_type k) { return hits.r2[k]; });
        if (to.r.size() > 0)
          put_column(to.r[0], [&](index_type k) { return std::sqrt(hits.r2[k]); });
        for (int a = 0; a < Dim; ++a)
        {
          T const* const d = hits.d[a];
          if (to.displacements.size() > 0)
            put_column(to.displacements[a], [&](index_type k) { return d[k]; });
          // 0 - d rather than -d: +0 if the two are equal
          if (to.to_j.size() > 0) put_column(to.to_j[a], [&](index_type k) { return T(0) - d[k]; });
        }
        if (hits.images) put_images(hits, at, n, from);
      }

      template <class From>
      void put_images(search_row<T, Dim> const& hits, std::uint64_t at, index_type n,
                      From const& from)
      {
        auto const put = [&](index_type begin, index_type end, image_counters<Dim> const& image)
        {
          auto const fill = [&](auto const& column, auto value)
          {
            for (index_type k = begin; k < end; ++k) column[at + k] = value;
          };
          for (int a = 0; a < Dim && to.images.size() > 0; ++a) fill(to.images[a], image[a]);
          if (to.packed_images.size() > 0) fill(to.packed_images[0], packed_image(image));
        };
        if (to.order != pair_order::sorted)
          return for_each_image(
              cells, hits,
              [&](index_type begin, index_type end, image_counters<Dim> const& image)
              {
                if (begin < n) put(begin, std::min(end, n), image);
              });
        images.resize(hits.count);
        for_each_image(cells, hits,
                       [&](index_type begin, index_type end, image_counters<Dim> const& image)
                       { std::fill_n(images.begin() + begin, end - begin, image); });
        for (index_type k = 0; k < n; ++k) put(k, k + 1, images[from(k)]);
      }
    };
  }

  template <class T, int Dim>
  std::uint64_t check_arrays(to_arrays<T, Dim> const& what, std::size_t n_rows)
  {
    if (what.which == pairs::half && what.order == pair_order::sorted)
      throw error("to_arrays: a half list has no rows to sort; ask for pairs::full, or to_coo with "
                  ".sorted");
    if (std::size_t const n = what.offsets.size(); n > 0)
    {
      if (what.order == pair_order::cells)
        throw error(
            "to_arrays: .offsets are those of rows, which the order `cells` has not; ask for "
            "pair_order::rows");
      if (n != n_rows + 1 || !what.offsets[0])
        throw error("to_arrays: .offsets is null or has " + std::to_string(n) + " values; give " +
                    std::to_string(n_rows + 1) + ", one more than rows");
    }
    std::uint64_t size = 0;
    std::string first;
    for_each_array(what,
                   [&](char const* name, std::size_t n, bool is_null)
                   {
                     std::string const column = std::string("to_arrays: .") + name;
                     if (is_null)
                       throw error(column + " is null; give a column of " + std::to_string(n) +
                                   " values");
                     if (n == 0) return;
                     if (first.empty()) first = name;
                     if (size != 0 && n != size)
                       throw error(column + " has " + std::to_string(n) + " values, ." + first +
                                   " has " + std::to_string(size) + "; give columns of one size");
                     size = n;
                   });
    return size;
  }

  template <class T, int Dim>
  std::uint64_t write_arrays(executor* threads, isa where, cell_view<T, Dim> const& cells,
                             to_arrays<T, Dim> const& what)
  {
    check_pairs(cells, what.which);
    bool const by_cells = what.order == pair_order::cells;
    std::uint64_t const size = check_arrays(what, cells.target_order.size());
    executor& on = threads_or_here(threads);
    std::vector<slab> slabs{{0, cells.targets.size(), 0}};
    if (threads) slabs = slabs_for(*threads, cells, what.which);
    auto const job = [&](std::size_t s)
    {
      return job_of(cells, what.which, slabs[s]);
    };

    // where slabs, or rows, begin; one slab begins at 0
    std::vector<index_type> counts(by_cells ? 0 : cells.target_order.size());
    std::vector<std::uint64_t> places(by_cells ? slabs.size() + 1 : counts.size() + 1);
    if (!by_cells || slabs.size() > 1)
      for_each_item(on, slabs.size(),
                    [&](std::size_t s)
                    {
                      auto const n = count_rows(where, job(s), by_cells ? nullptr : counts.data());
                      if (by_cells) places[s + 1] = n;
                    });
    if (!by_cells) std::copy(counts.begin(), counts.end(), places.begin() + 1);
    std::partial_sum(places.begin(), places.end(), places.begin());
    if (what.offsets.size() > 0) std::copy(places.begin(), places.end(), what.offsets[0]);

    auto const content = what.displacements.size() + what.to_j.size() > 0
                             ? row_content::displacements
                         : what.r2.size() + what.r.size() > 0 ? row_content::distances
                                                              : row_content::indices;
    bool const images = what.images.size() + what.packed_images.size() > 0;
    std::vector<std::uint64_t> found(slabs.size());
    for_each_item(
        on, slabs.size(),
        [&](std::size_t s)
        {
          std::uint64_t const first = by_cells ? places[s] : 0;
          array_writer<T, Dim> to{cells, what, size, by_cells ? nullptr : places.data(), first};
          search_rows<T, Dim>(where, job(s), content, &array_writer<T, Dim>::row, &to, images);
          found[s] = to.next - first;
        });
    return std::accumulate(found.begin(), found.end(), std::uint64_t(0));
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template std::uint64_t check_arrays(to_arrays<T, Dim> const&, std::size_t);                      \
  template std::uint64_t write_arrays(executor*, isa, cell_view<T, Dim> const&,                    \
                                      to_arrays<T, Dim> const&);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
#undef NEARFIELD_INSTANTIATE
}
