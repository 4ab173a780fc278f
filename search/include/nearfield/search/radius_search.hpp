#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/core/linear_map.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/search/outputs.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/search/rows.hpp>
#include <nearfield/search/slabs.hpp>
#include <nearfield/tree/cell_grid.hpp>
#include <type_traits>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// \file
/// All outputs of a radius search.
///
///     nearfield::cell_list const cells{nearfield::soa{x, y, z}, cutoff};   // <nearfield/tree/cell_list.hpp>
///     auto const counts = nearfield::radius_search(nearfield::simd, cells, nearfield::count_pairs{});
///     nearfield::csr const list = nearfield::radius_search(nearfield::simd, cells, nearfield::to_csr{});
///
/// With `simd.with(threads)` the threads of an executor search slabs of cells of about equal work, among them the CPU
/// workers of StarPU (starpu::cpu_workers). What they throw comes back as one of the exceptions.
///
/// A pair (i, j, S) is listed if r2 < R^2, or r2 <= R^2 in a closed cell list. d is the difference of the points inside
/// the box minus the shift of the image, in the precision of the points; r2 = (d_x d_x + d_y d_y) + d_z d_z with every
/// operation rounded; R^2 is rounded once. Two points at the same place are a pair. In one set (i, i) is a pair only
/// with S other than 0. Lists are the same, in the same order, on every back-end, instruction set and number of
/// threads. If a search throws, a result passed to it is unchanged or empty.

namespace nearfield
{
  namespace detail
  {
    /// Whether f also takes the displacement of a pair, after the other arguments.
    // clang-format off
    template <class F, class T, int Dim, class... Before>
    concept takes_displacement =
        std::invocable<F&, Before..., index_type, index_type, T, vec<T, Dim> const&>;
    // clang-format on

    template <class F, class T, int Dim, class... Before>
    constexpr row_content content_for =
        takes_displacement<F, T, Dim, Before...> ? row_content::displacements
                                                 : row_content::distances;

    /// Calls f(before..., i, j, r2), or f(before..., i, j, r2, d), for the pairs of a row.
    template <class F, class T, int Dim, class... Before>
    void visit_row(F& f, search_row<T, Dim> const& hits, Before&... before)
    {
      for (index_type k = 0; k < hits.count; ++k)
        if constexpr (takes_displacement<F, T, Dim, Before&...>)
        {
          vec<T, Dim> d;
          for (int a = 0; a < Dim; ++a) d[a] = hits.d[a][k];
          f(before..., hits.i, hits.j[k], hits.r2[k], d);
        }
        else
          f(before..., hits.i, hits.j[k], hits.r2[k]);
    }

    /// Calls f for the rows of a job.
    template <class T, int Dim, class F>
    void visit_rows_of(isa where, search_job<T, Dim> const& job, visit_rows<F> const& what)
    {
      auto const row = [](void* self, search_row<T, Dim> const& hits)
      {
        auto& [f, which, displacements] = *static_cast<visit_rows<F> const*>(self);
        neighbour_row<T, Dim> given{hits.i, {hits.j, hits.count}, {hits.r2, hits.count}, {}};
        if (displacements)
          for (int a = 0; a < Dim; ++a) given.d[a] = {hits.d[a], hits.count};
        f(std::as_const(given));
      };
      search_rows<T, Dim>(where, job,
                          what.displacements ? row_content::displacements : row_content::distances,
                          row, const_cast<visit_rows<F>*>(&what));
    }
  }

  /// Calls f for every pair closer than the cutoff, in the order of a COO list, on the calling thread;
  /// makes no list. An exception from f ends the search and passes through. Throws nearfield::error for
  /// a half list of two sets.
  template <detail::cpu_backend Backend, detail::has_cell_view Cells, class F>
  void radius_search(Backend where, Cells const& cells, visit<F> what)
  {
    auto const view = cells.view();
    detail::check_pairs(view, what.which);
    auto const search = [&]<class T, int Dim>(detail::cell_view<T, Dim> const& of)
    {
      auto const row = [](void* f, detail::search_row<T, Dim> const& hits)
      {
        detail::visit_row(*static_cast<std::remove_reference_t<F>*>(f), hits);
      };
      detail::search_rows<T, Dim>(detail::isa_of(where), detail::whole(of, what.which),
                                  detail::content_for<std::remove_reference_t<F>, T, Dim>, row,
                                  &what.f);
    };
    search(view);
  }

  /// Calls f for every point of the cell list, or every query, by position, also for those without neighbours; from
  /// several threads at once if they are given. An exception from f ends the search and passes through. Throws
  /// nearfield::error for half lists of two sets.
  template <detail::cpu_place On, detail::has_cell_view Cells, class F>
  void radius_search(On const& where, Cells const& cells, visit_rows<F> const& what)
  {
    auto const view = cells.view();
    detail::check_pairs(view, what.which);
    detail::for_each_slab(where, view, what.which, [&](auto const& job)
                          { detail::visit_rows_of(detail::isa_of(where), job, what); });
  }

  namespace detail
  {
    // what a search for `what` gives
    template <class T, int Dim>
    pair_counts result_of(cell_view<T, Dim> const&, count_pairs const& what);
    template <class T, int Dim>
    coo<T, Dim> result_of(cell_view<T, Dim> const&, to_coo const& what);
    template <class T, int Dim>
    csr<T, Dim> result_of(cell_view<T, Dim> const&, to_csr const& what);
    template <class T, int Dim>
    neighbour_table result_of(cell_view<T, Dim> const&, to_table const& what);

    template <class Cells, class What>
    using search_result =
        decltype(result_of(std::declval<Cells const&>().view(), std::declval<What const&>()));
  }

  /// All pairs closer than the cutoff: `what` is count_pairs, to_coo, to_csr or to_table, and the result is pair_counts,
  /// coo, csr or neighbour_table. Pass the same result again to reuse its memory: the page faults of a new list take a
  /// third of the time or more. Throws nearfield::error for a half list of two sets, a result larger than max_bytes, a
  /// table of width 0, and memory that the system refuses.
  ///
  /// * count_pairs: the number of pairs in total and, if asked for, per point. The fastest output; it takes no memory but
  ///   the counts.
  /// * to_coo writes the pairs to columns i and j, in one pass, into address space for as many pairs as the cells can
  ///   have; what is not written takes no memory, and is given back if it is much. The pairs are counted first if that
  ///   many would exceed max_bytes, if the system refuses the address space, and for sorted lists.
  /// * to_csr writes a list with one row per point, or per query, in the order of the arrays that were given. It takes two
  ///   passes: counts give the places of rows, which are not in order of position, and exact sizes.
  /// * to_table writes a table of fixed width: the first `width` points of every row, and the number that it really has.
  ///   One pass.
  template <detail::cpu_place On, detail::has_cell_view Cells, class What>
  void radius_search(On const& where, Cells const& cells, What const& what,
                     detail::search_result<Cells, What>& result)
  {
    detail::search_list(where, cells.view(), what, result);
  }

  /// As above, returning a new result.
  template <detail::cpu_place On, detail::has_cell_view Cells, class What>
  [[nodiscard]] detail::search_result<Cells, What>
  radius_search(On const& where, Cells const& cells, What const& what)
  {
    detail::search_result<Cells, What> result;
    radius_search(where, cells, what, result);
    return result;
  }

  namespace detail
  {
    template <class List>
    NEARFIELD_API List pairs_within(executor* threads, List const& list, double cutoff,
                                    bool closed);
  }

  /// The pairs of a list, made with .distances, that are closer than a smaller cutoff (length^1), in the same order and with
  /// the same columns: two cutoffs from one search. With `closed`, those at the cutoff count too.
  ///
  ///     auto const list = nearfield::radius_search(nearfield::simd, cells, nearfield::to_csr{.distances = true});
  ///     auto const inner = nearfield::within(nearfield::simd, list, cutoff / 2);
  ///
  /// Throws nearfield::error for a list without distances, and a cutoff that is not positive and finite.
  template <detail::cpu_place On, class T, int Dim>
  [[nodiscard]] csr<T, Dim> within(On const& where, csr<T, Dim> const& list, double cutoff,
                                   bool closed = false)
  {
    return detail::pairs_within(detail::threads_of(where), list, cutoff, closed);
  }
  /// The same of pairs in two columns.
  template <detail::cpu_place On, class T, int Dim>
  [[nodiscard]] coo<T, Dim> within(On const& where, coo<T, Dim> const& list, double cutoff,
                                   bool closed = false)
  {
    return detail::pairs_within(detail::threads_of(where), list, cutoff, closed);
  }

  /// One value computed from all pairs, without a list: f(sum, i, j, r2) adds a pair to a sum, or
  /// f(sum, i, j, r2, d) if it takes d = x_i - (x_j + sum_a S_a vectors[a]) too (a vec).
  ///
  ///     double const result = nearfield::radius_search(nearfield::simd, cells, nearfield::reduce{
  ///         0.0, [](double& sum, auto, auto, double r2) { sum += 1 / r2; },
  ///         [](double& sum, double part) { sum += part; }});
  ///
  /// The boxes are cut into `parts` of about equal work. Each part starts from a copy of `init` and
  /// visits its pairs in the order of a COO list. The parts are combined in order, the first with
  /// `init`, so `init` must be neutral (0, an empty histogram). The cut depends on the cells alone:
  /// one thread and any number of workers give the same bits.
  template <std::copy_constructible R, class F, class Combine>
    requires std::invocable<Combine const&, R&, R&&>
  struct reduce
  {
    R init;                    ///< the neutral value
    F f;                       ///< several threads may call it at once, each with its own sum
    Combine combine;           ///< combine(sum, part)
    pairs which = pairs::half; ///< which pairs are added
    /// more parts serve more workers; each costs a copy of R
    int parts = 64;
  };
  /// Half lists.
  template <class R, class F, class Combine>
  reduce(R, F, Combine) -> reduce<R, F, Combine>;
  /// Half or full lists.
  template <class R, class F, class Combine>
  reduce(R, F, Combine, pairs) -> reduce<R, F, Combine>;
  /// Half or full lists, in the given number of parts.
  template <class R, class F, class Combine>
  reduce(R, F, Combine, pairs, int) -> reduce<R, F, Combine>;

  namespace detail
  {
    /// Cuts the boxes into about `parts` slabs. Throws nearfield::error for parts < 1.
    template <class T, int Dim>
    std::vector<slab> cut_parts(executor& on, cell_view<T, Dim> const& cells, pairs which,
                                int parts)
    {
      if (parts < 1) throw error("reduce: parts is " + std::to_string(parts) + "; give 1 or more");
      auto const before = candidates_before_boxes(on, cells, which);
      std::uint64_t const all = before.back();
      std::uint64_t const n = static_cast<std::uint64_t>(parts);
      return cut_slabs(before, all / n + (all % n != 0));
    }

    /// The sum over the pairs of one part.
    template <class T, int Dim, class R, class F, class Combine>
    R reduce_part(isa where, search_job<T, Dim> const& job, reduce<R, F, Combine> const& what)
    {
      struct sink
      {
        F const& f;
        R sum;

        static void row(void* self, search_row<T, Dim> const& hits)
        {
          auto& [f, sum] = *static_cast<sink*>(self);
          visit_row(f, hits, sum);
        }
      } to{what.f, what.init};
      search_rows(where, job, content_for<F const, T, Dim, R&>, &sink::row, &to);
      return std::move(to.sum);
    }
  }

  /// The sum over all pairs, on one thread or on several: then parts are combined while others are computed, so few
  /// are kept. An exception from f or combine ends the search and passes through. Throws nearfield::error for a half
  /// list of two sets and for parts < 1.
  template <detail::cpu_place On, detail::has_cell_view Cells, class R, class F, class Combine>
  [[nodiscard]] R radius_search(On const& where, Cells const& cells,
                                reduce<R, F, Combine> const& what)
  {
    auto const view = cells.view();
    detail::check_pairs(view, what.which);
    executor& on = detail::threads_or_here(detail::threads_of(where));
    auto const parts = detail::cut_parts(on, view, what.which, what.parts);
    R result = what.init;
    std::vector<std::unique_ptr<R>> sums(parts.size());
    detail::in_order combined;
    detail::for_each_item(on, parts.size(),
                          [&](std::size_t p)
                          {
                            auto const job = detail::job_of(view, what.which, parts[p]);
                            sums[p] = std::make_unique<R>(
                                detail::reduce_part(detail::isa_of(where), job, what));
                            combined.put(p,
                                         [&](std::size_t next)
                                         {
                                           what.combine(result, std::move(*sums[next]));
                                           sums[next].reset();
                                         });
                          });
    return result;
  }

  namespace detail
  {
    /// The body of radius_search(). Returns the number of pairs.
    template <class T, int Dim>
    NEARFIELD_API std::uint64_t write_arrays(executor* threads, isa where,
                                             cell_view<T, Dim> const& cells,
                                             to_arrays<T, Dim> const& what);
  }

  /// Returns the number of pairs. Writes the first of them, as many as the columns have room for. Throws
  /// nearfield::error for columns that differ in size or are null, offsets of other rows, a half list of two sets, a half list
  /// in the order `sorted`, and an S that packed_images cannot hold. The columns then hold some of the pairs.
  template <detail::cpu_place On, detail::has_cell_view Cells, class T, int Dim>
  std::uint64_t radius_search(On const& where, Cells const& cells, to_arrays<T, Dim> const& what)
  {
    return detail::write_arrays<T, Dim>(detail::threads_of(where), detail::isa_of(where),
                                        cells.view(), what);
  }

  /// Where the pairs of each system are in a list of the batch: system s has the pairs [offsets[s], offsets[s + 1]).
  ///
  /// Takes a pass over the pairs. Throws nearfield::error for points that are not of the batch, and a sorted list of mixed
  /// systems, of which pairs are not together.
  template <class T, int Dim>
  [[nodiscard]] std::vector<std::uint64_t>
  pair_offsets(coo<T, Dim> const& list, std::type_identity_t<systems<Dim>> const& batch)
  {
    bool const one_set = batch.query_offsets.empty();
    auto const& offsets = one_set ? batch.offsets : batch.query_offsets;
    auto const& order = one_set ? batch.order : batch.query_order;
    std::size_t const n = offsets.empty() ? 0 : offsets.back();
    std::vector<index_type> system_of(n);
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
      for (index_type k = offsets[s]; k < offsets[s + 1]; ++k)
        system_of[order.empty() ? k : order[k]] = static_cast<index_type>(s);
    std::vector<std::uint64_t> found(offsets.empty() ? 1 : offsets.size(), 0);
    index_type before = 0;
    for (index_type const i : list.i)
    {
      if (i >= n)
        throw error("pair_offsets: the list has point " + std::to_string(i) + " of a batch of " +
                    std::to_string(n) + "; give the systems that it was made with");
      index_type const s = system_of[i];
      if (s < before)
        throw error("pair_offsets: pairs of systems " + std::to_string(s) + " and " +
                    std::to_string(before) + " are mixed; give a list that is not sorted");
      before = s;
      ++found[std::size_t(s) + 1];
    }
    for (std::size_t s = 1; s < found.size(); ++s) found[s] += found[s - 1];
    return found;
  }

  /// A cell list of which only some pairs count; every search takes it for the list.
  ///
  ///     std::array<double, 4> const by_type{3.0, 2.5, 2.5, 0};   // pairs of two points of type 1 never count
  ///     nearfield::filtered const some{cells, {.types = type, .type_cutoffs = by_type}};
  ///     nearfield::csr const list = nearfield::radius_search(nearfield::simd, some, nearfield::to_csr{});
  ///
  /// It holds after cells.rebuild() too, for as many points. The constructor throws nearfield::error for arrays of the
  /// wrong size, types and points that are not there, a matrix that is not symmetric, cutoffs that are negative, not
  /// finite, larger than that of the list, or so small that their square underflows; a search, if the list has other points
  /// than before, and for a half list if the filter has `rows`, or radii that are the cutoffs of their own point.
  template <detail::has_cell_view Cells>
  class filtered
  {
  public:
    using value_type = typename Cells::value_type; ///< of coordinates and cutoffs

    /// Refers to the cells and to the arrays of the filter.
    filtered(Cells const& cells, pair_filter<value_type> const& which)
        : cells_(&cells), filter_(of(cells.view(), which))
    {}
    /// Deleted: the temporary ends before the filter.
    filtered(Cells const&& give_the_list_a_name, pair_filter<value_type> const&) = delete;

    /// As that of the cell list.
    [[nodiscard]] auto view() const&
    {
      auto cells = cells_->view();
      cells.filter = &filter_;
      return cells;
    }
    /// \cond
    void view() const&& = delete; // give it a name
    /// \endcond

  private:
    template <int Dim>
    static detail::row_filter<value_type> of(detail::cell_view<value_type, Dim> const& cells,
                                             pair_filter<value_type> const& which)
    {
      return {which, cells.target_order.size(), cells.source_order.size(), cells.one_set,
              detail::limit_of_view(cells)};
    }

    Cells const* cells_;
    detail::row_filter<value_type> filter_;
  };
}
