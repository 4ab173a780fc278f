#include <nearfield/starpu/radius_search.hpp>

#include "environment.hpp"
#include "search_tasks.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

namespace nearfield::starpu::detail
{
  namespace serial = nearfield::detail;

  isa isa_of(radius_search_options const& options)
  {
    if (options.backend == backend::cuda)
      throw error("radius_search: backend cuda, but its tasks run on CPU workers; take simd, "
                  "radius_search(cuda, ...) or pair_slabs");
    return serial::isa_of(options.backend);
  }

  template <class T, int Dim>
  slab_search<T, Dim>::slab_search(runtime const& starpu, cell_view<T, Dim> const& cells,
                                   pairs which, radius_search_options const& options,
                                   std::uint64_t most)
      : starpu_(starpu), cells_(cells), which_(which), options_(options), where_(isa_of(options))
  {
    serial::check_pairs(cells, which);
    auto const before = serial::candidates_before_boxes(cells, which);
    candidates_ = before.back();
    slabs_ = serial::cut_slabs(before, slab_size(options, candidates_, most));
  }

  template <class T, int Dim>
  void
  slab_search<T, Dim>::run(search_work what,
                           std::function<void(isa, job_type const&, std::size_t)> const& f) const
  {
    run_in_tasks(starpu_, what, where_, slabs_.size(), candidates_,
                 [&](std::size_t s) { f(where_, serial::job_of(cells_, which_, slabs_[s]), s); });
  }

  /// The number of pairs in each slab. If `per_point` is not null, also writes the number of each point, at the
  /// caller's index.
  template <class T, int Dim>
  std::vector<std::uint64_t> slab_search<T, Dim>::count(index_type* per_point) const
  {
    std::vector<std::uint64_t> found(slabs_.size());
    run(search_work::count, [&](isa where, job_type const& job, std::size_t s)
        { found[s] = serial::count_rows(where, job, per_point); });
    return found;
  }

  /// Calls row(sink, ...) for all rows, from several threads at once.
  template <class T, int Dim>
  void slab_search<T, Dim>::rows(serial::row_content content, serial::row_function<T, Dim> row,
                                 void* sink) const
  {
    run(search_work::fill, [&](isa where, job_type const& job, std::size_t)
        { serial::search_rows(where, job, content, row, sink); });
  }

  template <class T, int Dim>
  void slab_search<T, Dim>::sort(csr<T, Dim>& list) const
  {
    run_rows(starpu_, list.size(), list.columns.size(),
             [&](std::size_t first, std::size_t last) { serial::sort_rows(list, first, last); });
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
    serial::size_rows(result, what, cells_.target_order.size());
    rows(serial::row_content::indices, &serial::put_table_row<T, Dim>, &result);
    serial::find_overflow(result);
  }

  template <class T, int Dim>
  void slab_search<T, Dim>::write(to_csr const& what, csr<T, Dim>& result) const
  {
    std::vector<index_type> counts(cells_.target_order.size());
    static_cast<void>(count(counts.data()));
    serial::size_rows(result, what, counts);
    rows(serial::content_of(what), &serial::put_row<T, Dim>, &result);
    if (what.sorted) sort(result);
  }

  namespace
  {
    /// Pairs (i, j > i) as rows of i. They are taken from the full list, whose row i holds all of them; the
    /// half list has some in row j, so two tasks would write to one row. This doubles the distance tests,
    /// but sorting takes longer than these.
    template <class T, int Dim>
    struct upper_rows
    {
      csr<T, Dim>* list = nullptr;
      index_type* counts = nullptr;

      static void count(void* self, serial::search_row<T, Dim> const& hits)
      {
        static_cast<upper_rows*>(self)->counts[hits.i] = static_cast<index_type>(
            std::count_if(hits.j, hits.j + hits.count, [&](index_type j) { return j > hits.i; }));
      }

      static void put(void* self, serial::search_row<T, Dim> const& hits)
      {
        csr<T, Dim>& list = *static_cast<upper_rows*>(self)->list;
        std::uint64_t at = list.offsets[hits.i];
        for (index_type k = 0; k < hits.count; ++k)
        {
          if (hits.j[k] < hits.i) continue;
          list.columns[at] = hits.j[k];
          if (!list.r2.empty()) list.r2[at] = hits.r2[k];
          for (int a = 0; a < Dim; ++a)
            if (!list.displacements[a].empty()) list.displacements[a][at] = hits.d[a][k];
          ++at;
        }
      }
    };
  }

  /// Sorted CSR rows with i written out.
  template <class T, int Dim>
  void slab_search<T, Dim>::write_sorted(to_coo const& what, coo<T, Dim>& result) const
  {
    csr<T, Dim> list;
    to_csr const as_rows{pairs::full, true, what.distances, what.displacements};
    if (which_ == pairs::full)
      write(as_rows, list);
    else
    {
      slab_search const full(starpu_, cells_, pairs::full, options_);
      std::vector<index_type> counts(cells_.target_order.size());
      upper_rows<T, Dim> sink{&list, counts.data()};
      full.rows(serial::row_content::indices, &upper_rows<T, Dim>::count, &sink);
      serial::size_rows(list, as_rows, counts);
      full.rows(serial::content_of(as_rows), &upper_rows<T, Dim>::put, &sink);
      sort(list);
    }
    result.i.resize(list.columns.size());
    run_rows(starpu_, list.size(), list.columns.size(),
             [&](std::size_t first, std::size_t last)
             {
               for (std::size_t i = first; i < last; ++i)
                 std::fill(result.i.data() + list.offsets[i], result.i.data() + list.offsets[i + 1],
                           static_cast<index_type>(i));
             });
    result.j = std::move(list.columns);
    static_cast<pair_geometry<T, Dim>&>(result) =
        std::move(static_cast<pair_geometry<T, Dim>&>(list));
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
      auto const copy = [&](auto const& from, auto& to)
      {
        if (!to.empty()) std::copy_n(from.data(), piece.size, to.data() + piece.place);
      };
      auto const copy_indices = [&](auto const& from, auto& to)
      {
        if (piece.place < serial::cached_pairs)
          copy(from, to);
        else
          serial::stream_copy(from.data(), piece.size, to.data() + piece.place);
      };
      copy_indices(piece.pairs.i, list.i);
      copy_indices(piece.pairs.j, list.j);
      copy(piece.pairs.r2, list.r2);
      for (int a = 0; a < Dim; ++a) copy(piece.pairs.displacements[a], list.displacements[a]);
    }
  }

  /// One pass into a list with room for all candidates. The pairs of a slab go to a piece that stays in the
  /// worker's cache, and are copied after those of the slabs before it as soon as these are known. So memory
  /// traffic is that of one thread, whereas counting first would search twice. Returns the number of pairs.
  template <class T, int Dim>
  std::uint64_t slab_search<T, Dim>::write_by_pieces(to_coo const& what, coo<T, Dim>& result) const
  {
    using piece = std::unique_ptr<pair_piece<T, Dim>>;
    std::vector<piece> found(slabs_.size());
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
    auto const work = [&](isa where, job_type const& job, std::size_t s)
    {
      found[s] = take_unused();
      serial::resize(found[s]->pairs, what, slabs_[s].candidates);
      found[s]->size = serial::write_pairs(where, job, what, found[s]->pairs, 0);
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
    run(search_work::fill, work);
    return size;
  }

  template <class T, int Dim>
  void slab_search<T, Dim>::write(to_coo const& what, coo<T, Dim>& result) const
  {
    std::uint64_t const per_pair = 2 * sizeof(index_type) + serial::geometry_bytes<T, Dim>(what);
    bool one_pass = candidates_ <= what.max_bytes / per_pair;
    std::vector<std::uint64_t> places; // of the pairs of each slab, if these are counted
    std::uint64_t size = candidates_;
    auto const count_first = [&]
    {
      places = count(nullptr);
      size = std::accumulate(places.begin(), places.end(), std::uint64_t(0));
      serial::check_bytes(size, size * per_pair, what.max_bytes);
      std::exclusive_scan(places.begin(), places.end(), places.begin(), std::uint64_t(0));
    };
    if (!one_pass) count_first();
    if (what.sorted) return write_sorted(what, result);
    if (one_pass && !(serial::reserve(result, what, size) && has_address_space(4, most_tasks())))
    {
      one_pass = false;
      result = {}; // before the count, since some columns may hold much of what the system has
      count_first();
    }
    // full size in one pass, so that the writers see which columns are present
    serial::resize(result, what, size);
    if (one_pass)
      serial::resize_to_found(result, what, write_by_pieces(what, result));
    else
      run(search_work::fill, [&](isa where, job_type const& job, std::size_t s)
          { serial::write_pairs(where, job, what, result, places[s]); });
  }

  template class slab_search<float, 2>;
  template class slab_search<float, 3>;
  template class slab_search<double, 2>;
  template class slab_search<double, 3>;
}
