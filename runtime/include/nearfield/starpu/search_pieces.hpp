#pragma once

#include <nearfield/search/outputs.hpp>
#include <nearfield/starpu/search_slabs.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

/// \file
/// Lists of pairs by tasks: in one pass, though no task knows where its part of the list begins, and sorted.

namespace nearfield::starpu::detail
{
  /// The pairs found in one slab.
  template <class T, int Dim>
  struct pair_piece
  {
    coo<T, Dim> pairs;
    std::uint64_t size = 0;
    std::uint64_t place = 0; ///< index of its first pair in the list
  };

  /// Pieces for reuse. The one returned last is taken first, since it is still in cache.
  template <class T, int Dim>
  class piece_pool
  {
  public:
    using piece = std::unique_ptr<pair_piece<T, Dim>>;

    [[nodiscard]] piece take()
    {
      std::lock_guard const lock(mutex_);
      if (pieces_.empty()) return std::make_unique<pair_piece<T, Dim>>();
      piece last = std::move(pieces_.back());
      pieces_.pop_back();
      return last;
    }
    void give_back(piece p)
    {
      std::lock_guard const lock(mutex_);
      pieces_.push_back(std::move(p));
    }

  private:
    std::mutex mutex_;
    std::vector<piece> pieces_;
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
      if (piece.place < nearfield::detail::cached_pairs)
        copy(from, to);
      else
        nearfield::detail::stream_copy(from.data(), piece.size, to.data() + piece.place);
    };
    copy_indices(piece.pairs.i, list.i);
    copy_indices(piece.pairs.j, list.j);
    copy(piece.pairs.r2, list.r2);
    for (int a = 0; a < Dim; ++a) copy(piece.pairs.displacements[a], list.displacements[a]);
  }

  /// One pass into a list with room for all candidates. The pairs of a slab go to a piece that stays in the
  /// worker's cache, and are copied after those of the slabs before it as soon as these are known. So memory
  /// traffic is that of one thread, whereas counting first would search twice. Returns the number of pairs.
  template <class T, int Dim>
  std::uint64_t fill_by_pieces(slab_search<T, Dim> const& search, to_coo const& what,
                               coo<T, Dim>& list)
  {
    using piece = typename piece_pool<T, Dim>::piece;
    piece_pool<T, Dim> pool;
    in_order<piece> pieces;
    std::uint64_t size = 0;
    search.run(search_work::fill,
               [&](auto const& job, std::size_t s)
               {
                 piece mine = pool.take();
                 nearfield::detail::resize(mine->pairs, what, search.slabs()[s].candidates);
                 mine->size = nearfield::detail::write_pairs(isa::best, job, what, mine->pairs, 0);
                 std::vector<piece> placed;
                 pieces.put(s, std::move(mine),
                            [&](piece next)
                            {
                              next->place = size;
                              size += next->size;
                              placed.push_back(std::move(next));
                            });
                 for (piece& p : placed)
                 {
                   copy_piece(*p, list);
                   pool.give_back(std::move(p));
                 }
               });
    return size;
  }

  /// Fills a list of the right size, given the number of pairs in each slab.
  template <class T, int Dim>
  void fill_counted(slab_search<T, Dim> const& search, to_coo const& what,
                    std::vector<std::uint64_t> const& counts, coo<T, Dim>& list)
  {
    std::vector<std::uint64_t> places(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), std::uint64_t(0));
    search.run(search_work::fill, [&](auto const& job, std::size_t s)
               { nearfield::detail::write_pairs(isa::best, job, what, list, places[s]); });
  }

  /// Pairs (i, j > i) as rows of i. They are taken from the full list, whose row i holds all of them; the
  /// half list has some in row j, so two tasks would write to one row. This doubles the distance tests,
  /// but sorting takes longer than these.
  template <class T, int Dim>
  struct upper_rows
  {
    csr<T, Dim>* list = nullptr;
    index_type* counts = nullptr;

    static void count(void* self, nearfield::detail::search_row<T, Dim> const& hits)
    {
      static_cast<upper_rows*>(self)->counts[hits.i] = static_cast<index_type>(
          std::count_if(hits.j, hits.j + hits.count, [&](index_type j) { return j > hits.i; }));
    }

    static void put(void* self, nearfield::detail::search_row<T, Dim> const& hits)
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

  template <class T, int Dim>
  void search_upper(runtime const& starpu, cell_view<T, Dim> const& cells, to_csr const& what,
                    csr<T, Dim>& rows, radius_search_options const& options)
  {
    slab_search const search(starpu, cells, pairs::full, options);
    std::vector<index_type> counts(cells.target_order.size());
    upper_rows<T, Dim> sink{&rows, counts.data()};
    search.rows(nearfield::detail::row_content::indices, &upper_rows<T, Dim>::count, &sink);
    nearfield::detail::size_rows(rows, what, counts);
    search.rows(nearfield::detail::content_of(what), &upper_rows<T, Dim>::put, &sink);
    run_rows(starpu, rows.size(), rows.columns.size(),
             [&](std::size_t first, std::size_t last)
             { nearfield::detail::sort_rows(rows, first, last); });
  }
}
