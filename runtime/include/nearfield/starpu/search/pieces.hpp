#pragma once

#include <nearfield/runtime/in_order.hpp>
#include <nearfield/search/lists.hpp>
#include <nearfield/starpu/search/slab_options.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

/// \file
/// A list of pairs in one pass of tasks, though no task knows where its part of the list begins.

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
  /// traffic is that of one thread, while counting first would take half as long again. Returns the number
  /// of pairs.
  template <class T, int Dim>
  std::uint64_t fill_by_pieces(slab_search<T, Dim> const& search, to_coo const& what,
                               coo<T, Dim>& list)
  {
    using piece = typename piece_pool<T, Dim>::piece;
    piece_pool<T, Dim> pool;
    nearfield::detail::in_order<piece> in_order;
    std::uint64_t size = 0;
    search.run(slab_work::fill,
               [&](auto const& job, std::size_t s)
               {
                 piece mine = pool.take();
                 nearfield::detail::resize(mine->pairs, what, search.slabs()[s].candidates);
                 mine->size = nearfield::detail::write_pairs(isa::best, job, what, mine->pairs, 0);
                 std::vector<piece> placed;
                 in_order.put(s, std::move(mine),
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
    search.run(slab_work::fill, [&](auto const& job, std::size_t s)
               { nearfield::detail::write_pairs(isa::best, job, what, list, places[s]); });
  }
}
