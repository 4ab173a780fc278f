#include <nearfield/search/slabs.hpp>

#include "coo.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

namespace nearfield::detail
{
  namespace
  {
    // all threads finish at about the same time
    constexpr int slabs_a_thread = 32;
    // searching fewer candidates takes less time than calling a thread
    constexpr std::uint64_t least_candidates = std::uint64_t(1) << 13;
    constexpr std::size_t spare_bytes = std::size_t(1) << 26; // that threads may need beside a list
  }

  template <class T, int Dim>
  std::vector<slab> slabs_for(executor& threads, cell_view<T, Dim> const& cells, pairs which,
                              std::uint64_t most)
  {
    check_pairs(cells, which);
    auto const before = candidates_before_boxes(threads, cells, which);
    auto const n = static_cast<std::uint64_t>(slabs_a_thread * workers_of(threads));
    return cut_slabs(before, std::min(most, std::max(least_candidates, before.back() / n)));
  }

  template <class T, int Dim>
  slab_search<T, Dim>::slab_search(executor& threads, isa where, cell_view<T, Dim> const& cells,
                                   pairs which, std::vector<slab> slabs)
      : threads_(threads), where_(where), cells_(cells), which_(which), slabs_(std::move(slabs))
  {}

  template <class T, int Dim>
  void slab_search<T, Dim>::run(
      std::function<void(search_job<T, Dim> const&, std::size_t)> const& f) const
  {
    for_each_item(threads_, slabs_.size(),
                  [&](std::size_t s) { f(job_of(cells_, which_, slabs_[s]), s); });
  }

  /// The number of pairs in each slab. If `per_point` is not null, also writes the number of each point, at the
  /// caller's index.
  template <class T, int Dim>
  std::vector<std::uint64_t> slab_search<T, Dim>::count(index_type* per_point) const
  {
    std::vector<std::uint64_t> found(slabs_.size());
    run([&](auto const& job, std::size_t s) { found[s] = count_rows(where_, job, per_point); });
    return found;
  }

  /// Calls row(sink, ...) for all rows, from several threads at once.
  template <class T, int Dim>
  void slab_search<T, Dim>::rows(row_content content, row_function<T, Dim> row, void* sink,
                                 bool images) const
  {
    run([&](auto const& job, std::size_t)
        { search_rows(where_, job, content, row, sink, images); });
  }

  /// Calls f(part, first, last) for blocks [first, last) of n rows.
  template <class T, int Dim>
  template <class F>
  void slab_search<T, Dim>::for_rows(std::size_t n, F const& f) const
  {
    for_each_part(threads_, cut(threads_, n, 1, slabs_a_thread), f);
  }

  template <class T, int Dim>
  void slab_search<T, Dim>::sort(csr<T, Dim>& list) const
  {
    for_rows(list.size(),
             [&](int, std::size_t first, std::size_t last) { sort_rows(list, first, last); });
  }

  template <class T, int Dim>
  void slab_search<T, Dim>::write(count_pairs const& what, pair_counts& result) const
  {
    result.per_point.resize(what.per_point ? cells_.target_order.size() : 0);
    auto const found = count(what.per_point ? result.per_point.data() : nullptr);
    result.total = std::accumulate(found.begin(), found.end(), std::uint64_t(0));
  }

  template <class T, int Dim>
  void slab_search<T, Dim>::write(to_table const& what, neighbour_table& result) const
  {
    std::size_t const n = cells_.target_order.size();
    check_table_size(what, n);
    result.width = what.width;
    result.counts.resize(n);
    result.columns.resize(n * what.width);
    auto const put_row = [](void* sink, search_row<T, Dim> const& hits)
    {
      neighbour_table& table = *static_cast<neighbour_table*>(sink);
      table.counts[hits.i] = hits.count;
      std::copy_n(hits.j, std::min(hits.count, table.width),
                  table.columns.data() + std::size_t(hits.i) * table.width);
    };
    rows(row_content::indices, put_row, &result);
    result.overflow = std::any_of(result.counts.begin(), result.counts.end(),
                                  [&](index_type count) { return count > result.width; });
  }

  namespace
  {
    /// Offsets from the lengths of rows, and room for all columns. Throws nearfield::error beyond max_bytes.
    template <class T, int Dim>
    void size_rows(executor& on, csr<T, Dim>& list, to_csr const& what,
                   std::vector<index_type> const& counts)
    {
      std::size_t const n = counts.size();
      std::uint64_t const per_pair = sizeof(index_type) + geometry_bytes<T, Dim>(what);
      std::uint64_t const total = std::accumulate(counts.begin(), counts.end(), std::uint64_t(0));
      check_bytes(total, (n + 1) * sizeof(std::uint64_t) + total * per_pair, what.max_bytes);
      list.offsets.resize(n + 1);
      sum_before(on, std::span(list.offsets.begin(), n + 1),
                 [&](std::size_t i) { return counts[i]; });
      list.columns.resize(total);
      for_each_column(list, what,
                      [&](auto& values)
                      {
                        values.resize(total);
                        return true;
                      });
    }
  }

  template <class T, int Dim>
  void slab_search<T, Dim>::write(to_csr const& what, csr<T, Dim>& result) const
  {
    std::vector<index_type> counts(cells_.target_order.size());
    static_cast<void>(count(counts.data()));
    size_rows(threads_, result, what, counts);
    struct row_writer
    {
      cell_view<T, Dim> const& cells;
      csr<T, Dim>& list;
      bool only_indices;

      static void row(void* self, search_row<T, Dim> const& hits)
      {
        row_writer const& to = *static_cast<row_writer*>(self);
        std::uint64_t const at = to.list.offsets[hits.i];
        std::copy_n(hits.j, hits.count, to.list.columns.data() + at);
        if (!to.only_indices) put_geometry<T, Dim>(to.cells, to.list, at, hits);
      }
    } sink{cells_, result, geometry_bytes<T, Dim>(what) == 0};
    rows(content_of(what), &row_writer::row, &sink, has_images(what));
    if (what.sorted) sort(result);
  }

  namespace
  {
    /// Pairs (i, j >= i) as rows of i. Several threads take them from the full list, whose row i holds all of them; the
    /// half list has some in row j, so two threads would write to one row. This doubles the distance tests,
    /// but sorting takes longer than these. One thread takes the half list, also where points meet in several images: a row
    /// of the full list has those of an earlier j backwards, and opposite ones of i.
    template <class T, int Dim>
    struct upper_rows
    {
      cell_view<T, Dim> const& cells;
      csr<T, Dim>* list = nullptr;
      index_type* counts = nullptr;
      std::vector<std::uint64_t> next =
          {}; // with a half list: the place of the next pair of each row

      static void count(void* self, search_row<T, Dim> const& hits)
      {
        static_cast<upper_rows*>(self)->counts[hits.i] = static_cast<index_type>(
            std::count_if(hits.j, hits.j + hits.count, [&](index_type j) { return j > hits.i; }));
      }
      static void put(void* self, search_row<T, Dim> const& hits)
      {
        upper_rows const& to = *static_cast<upper_rows*>(self);
        std::uint64_t at = to.list->offsets[hits.i];
        for_each_image(to.cells, hits,
                       [&](index_type begin, index_type end, image_counters<Dim> const& image)
                       {
                         for (index_type k = begin; k < end; ++k)
                           if (hits.j[k] > hits.i) put_pair(*to.list, at++, hits, k, image, false);
                       });
      }

      static void count_half(void* self, search_row<T, Dim> const& hits)
      {
        index_type* const counts = static_cast<upper_rows*>(self)->counts;
        for (index_type k = 0; k < hits.count; ++k) ++counts[std::min(hits.i, hits.j[k])];
      }
      static void put_half(void* self, search_row<T, Dim> const& hits)
      {
        upper_rows& to = *static_cast<upper_rows*>(self);
        for_each_image(to.cells, hits,
                       [&](index_type begin, index_type end, image_counters<Dim> const& image)
                       {
                         for (index_type k = begin; k < end; ++k)
                         {
                           bool const turned = hits.j[k] < hits.i;
                           put_pair(*to.list, to.next[turned ? hits.j[k] : hits.i]++, hits, k,
                                    image, turned);
                         }
                       });
      }

    private:
      static void put_pair(csr<T, Dim>& list, std::uint64_t at, search_row<T, Dim> const& hits,
                           index_type k, image_counters<Dim> image, bool turned)
      {
        list.columns[at] = turned ? hits.i : hits.j[k];
        if (!list.r2.empty()) list.r2[at] = hits.r2[k];
        for (int a = 0; a < Dim; ++a)
          if (!list.displacements[a].empty())
            // 0 - d rather than -d: x_j - x_i is +0 if the two are equal
            list.displacements[a][at] = turned ? T(0) - hits.d[a][k] : hits.d[a][k];
        if (turned)
          for (auto& counter : image) counter = -counter;
        put_images(list, at, 1, image);
      }
    };
  }

  /// Sorted CSR rows with i written out.
  template <class T, int Dim>
  void slab_search<T, Dim>::write_sorted(to_coo const& what, coo<T, Dim>& result) const
  {
    using geometry = pair_geometry<T, Dim>;
    csr<T, Dim> list;
    list.columns = std::move(result.j); // their memory serves again
    static_cast<geometry&>(list) = std::move(static_cast<geometry&>(result));
    to_csr const as_rows{pairs::full, true, what.distances, what.displacements, what.images};
    if (which_ == pairs::full)
      write(as_rows, list);
    else
    {
      using sink_type = upper_rows<T, Dim>;
      bool const from_half = slabs_.size() == 1 || cells_.meets_several_images();
      slab_search const search(threads_, where_, cells_, from_half ? pairs::half : pairs::full,
                               from_half ? std::vector{slab{0, cells_.targets.size()}}
                                         : slabs_for(threads_, cells_, pairs::full));
      std::vector<index_type> counts(cells_.target_order.size());
      sink_type sink{cells_, &list, counts.data()};
      search.rows(row_content::indices, from_half ? &sink_type::count_half : &sink_type::count,
                  &sink);
      size_rows(threads_, list, as_rows, counts);
      if (from_half) sink.next.assign(list.offsets.begin(), list.offsets.end() - 1);
      search.rows(content_of(as_rows), from_half ? &sink_type::put_half : &sink_type::put, &sink,
                  has_images(as_rows));
      sort(list);
    }
    result.i.resize(list.columns.size());
    for_rows(list.size(),
             [&](int, std::size_t first, std::size_t last)
             {
               for (std::size_t i = first; i < last; ++i)
                 std::fill(result.i.data() + list.offsets[i], result.i.data() + list.offsets[i + 1],
                           static_cast<index_type>(i));
             });
    result.j = std::move(list.columns);
    static_cast<geometry&>(result) = std::move(static_cast<geometry&>(list));
  }

  namespace
  {
    /// The pairs found in one slab.
    template <class T, int Dim>
    struct pair_piece
    {
      coo<T, Dim> pairs;
      std::uint64_t size = 0;
      std::uint64_t place = 0; ///< index of its first pair in the list
    };

    template <class T, int Dim>
    void copy_piece(pair_piece<T, Dim> const& piece, coo<T, Dim>& list)
    {
      auto const copy = [&](auto& to, auto const& from)
      {
        if (!to.empty()) std::copy_n(from.data(), piece.size, to.data() + piece.place);
      };
      auto const copy_indices = [&](auto& to, auto const& from)
      {
        if (piece.place < cached_pairs)
          copy(to, from);
        else
          stream_copy(from.data(), piece.size, to.data() + piece.place);
      };
      copy_indices(list.i, piece.pairs.i);
      copy_indices(list.j, piece.pairs.j);
      for_each_of(copy, list, piece.pairs);
    }
  }

  /// One pass into a list with room for all candidates. The pairs of a slab go to a piece that stays in the
  /// core's cache, and are copied after those of the slabs before it as soon as these are known. So memory
  /// traffic is that of one thread, whereas counting first would search twice. Returns the number of pairs.
  template <class T, int Dim>
  std::uint64_t slab_search<T, Dim>::write_by_pieces(to_coo const& what, coo<T, Dim>& result) const
  {
    using piece = std::unique_ptr<pair_piece<T, Dim>>;
    std::vector<piece> found(slabs_.size());
    // Room for all slabs but those of a few huge boxes, so that the memory of a piece need not grow.
    std::uint64_t room = 0;
    for (slab const& s : slabs_) room = std::max(room, s.candidates);
    room = std::min(room, cached_candidates / 4 * 5);
    // For reuse. The one returned last is taken first, since it is still in cache.
    std::vector<piece> unused;
    std::mutex mutex;
    in_order done;
    std::uint64_t size = 0;
    auto const take_unused = [&]
    {
      std::lock_guard const lock(mutex);
      if (unused.empty()) return std::make_unique<pair_piece<T, Dim>>();
      piece last = std::move(unused.back());
      unused.pop_back();
      return last;
    };
    auto const work = [&](search_job<T, Dim> const& job, std::size_t s)
    {
      found[s] = take_unused();
      resize(found[s]->pairs, what, std::max(room, slabs_[s].candidates));
      found[s]->size = write_pairs(where_, job, what, found[s]->pairs, 0);
      std::vector<piece> placed;
      done.put(s,
               [&](std::size_t next)
               {
                 found[next]->place = size;
                 size += found[next]->size;
                 placed.push_back(std::move(found[next]));
               });
      for (piece& p : placed)
      {
        copy_piece(*p, result);
        std::lock_guard const lock(mutex);
        unused.push_back(std::move(p));
      }
    };
    run(work);
    return size;
  }

  template <class T, int Dim>
  void slab_search<T, Dim>::write(to_coo const& what, coo<T, Dim>& result) const
  {
    std::uint64_t const per_pair = 2 * sizeof(index_type) + geometry_bytes<T, Dim>(what);
    std::uint64_t const candidates =
        std::accumulate(slabs_.begin(), slabs_.end(), std::uint64_t(0),
                        [](std::uint64_t sum, slab const& s) { return sum + s.candidates; });
    bool one_pass = candidates <= what.max_bytes / per_pair;
    std::vector<std::uint64_t> places; // of the pairs of each slab, if these are counted
    std::uint64_t size = candidates;
    auto const count_first = [&]
    {
      places = count(nullptr);
      size = std::accumulate(places.begin(), places.end(), std::uint64_t(0));
      check_bytes(size, size * per_pair, what.max_bytes);
      std::exclusive_scan(places.begin(), places.end(), places.begin(), std::uint64_t(0));
    };
    if (!one_pass) count_first();
    if (what.sorted) return write_sorted(what, result);
    // threads need address space too
    if (one_pass && !(reserve(result, what, size) &&
                      (slabs_.size() == 1 || page_array<std::byte>().try_reserve(spare_bytes))))
    {
      one_pass = false;
      result = {}; // before the count, since some columns may hold much of what the system has
      count_first();
    }
    // full size in one pass, so that the writers see which columns are present
    resize(result, what, size);
    if (!one_pass)
      run([&](auto const& job, std::size_t s)
          { write_pairs(where_, job, what, result, places[s]); });
    else if (slabs_.size() == 1)
      resize_to_found(result, what,
                      write_pairs(where_, job_of(cells_, which_, slabs_[0]), what, result, 0));
    else
      resize_to_found(result, what, write_by_pieces(what, result));
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template class slab_search<T, Dim>;                                                              \
  template std::vector<slab> slabs_for(executor&, cell_view<T, Dim> const&, pairs, std::uint64_t);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
#undef NEARFIELD_INSTANTIATE
}
