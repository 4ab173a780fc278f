#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/search/outputs.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

/// \file
/// The radius search as StarPU tasks.
///
///     nearfield::starpu::runtime starpu;
///     nearfield::cell_list const cells{nearfield::soa{x, y, z}, cutoff};
///     nearfield::coo const list =
///         nearfield::starpu::radius_search(starpu, cells, nearfield::to_coo{});
///
/// The cells are cut into slabs of about equal work. Results equal those of nearfield::radius_search, bit for
/// bit and in the same order, whatever the slabs and the workers. A call returns when its tasks have
/// ended, so a task must not make it; several threads may search one cell list at once. The first
/// exception of a task is rethrown; the result is then unspecified.
///
/// Tasks run on CPU workers only: results are in host memory, and copying a list from a GPU takes longer
/// than finding it there (a list of 437 MB: 0.6 ms). nearfield::radius_search(cuda, ...) searches a whole
/// cell list in the memory of a GPU. <nearfield/starpu/pair_slabs.hpp> has pairs that tasks on
/// GPUs and CPUs find and other tasks read.

namespace nearfield::starpu
{
  /// How a radius search is cut into tasks, and what these run. Results do not depend on it.
  struct radius_search_options
  {
    /// Approximate number of candidate pairs per slab; 0: up to 32 slabs per worker, and for to_coo
    /// small enough that the pairs of a slab stay in the second-level cache
    std::uint64_t candidates = 0;
    /// scalar or simd; automatic means simd. cuda is an error: tasks run on CPU workers only.
    nearfield::backend backend = nearfield::backend::automatic;
  };
}

namespace nearfield::starpu::detail
{
  /// The kinds of search tasks. Each has a codelet and a performance model.
  enum class search_work
  {
    count,
    fill,
    sort,
    reduce
  };

  /// What the tasks run. Throws nearfield::error for backend cuda.
  NEARFIELD_API isa isa_of(radius_search_options const& options);

  // About 50,000 pairs per slab of a uniform cloud: 400 kB of indices.
  inline constexpr std::uint64_t cached_candidates = std::uint64_t(1) << 18;

  /// A view cut into slabs, and the tasks that search them. What the view shows must outlive it.
  template <class T, int Dim>
  class NEARFIELD_API slab_search
  {
  public:
    using job_type = nearfield::detail::search_job<T, Dim>;

    /// Slabs of at most `most` candidates, unless options say how many. Throws nearfield::error for a half list of
    /// two sets, and for backend cuda.
    slab_search(runtime const& starpu, cell_view<T, Dim> const& cells, pairs which,
                radius_search_options const& options, std::uint64_t most = no_limit);

    // the bodies of radius_search
    void write(count_pairs const& what, pair_counts& result) const;
    void write(to_csr const& what, csr<T, Dim>& result) const;
    void write(to_coo const& what, coo<T, Dim>& result) const;
    void write(to_table const& what, neighbour_table& result) const;

    /// Calls f(where, job, s) in tasks for every slab s.
    void run(search_work what,
             std::function<void(isa, job_type const&, std::size_t)> const& f) const;

  private:
    [[nodiscard]] std::vector<std::uint64_t> count(index_type* per_point) const;
    void rows(nearfield::detail::row_content content, nearfield::detail::row_function<T, Dim> row,
              void* sink) const;
    void sort(csr<T, Dim>& list) const;
    void write_sorted(to_coo const& what, coo<T, Dim>& result) const;
    std::uint64_t write_by_pieces(to_coo const& what, coo<T, Dim>& result) const;

    runtime const& starpu_;
    cell_view<T, Dim> cells_;
    pairs which_;
    radius_search_options options_;
    isa where_;
    std::uint64_t candidates_ = 0;
    std::vector<nearfield::detail::slab> slabs_;
  };

  extern template class slab_search<float, 2>;
  extern template class slab_search<float, 3>;
  extern template class slab_search<double, 2>;
  extern template class slab_search<double, 3>;

  /// Calls work(p) in tasks for every p in [0, n), and take(p) in ascending order, for one p after the other, once
  /// the work up to p is done.
  NEARFIELD_API void reduce_in_tasks(runtime const& starpu, isa where, std::size_t n,
                                     std::uint64_t candidates,
                                     std::function<void(std::size_t)> const& work,
                                     std::function<void(std::size_t)> const& take);
}

namespace nearfield::starpu
{
  /// Counts pairs, one slab of cells at a time, in tasks. Throws nearfield::error, as do all overloads, for a half
  /// list of two sets, for backend cuda, if StarPU has no CPU worker, and if a worker calls it.
  template <has_cell_view Cells>
  void radius_search(runtime const& starpu, Cells const& cells, count_pairs const& what,
                     pair_counts& result, radius_search_options const& options = {})
  {
    detail::slab_search(starpu, cells.view(), what.which, options).write(what, result);
  }

  /// The number of pairs and, if asked for, of each point's pairs.
  template <has_cell_view Cells>
  [[nodiscard]] pair_counts radius_search(runtime const& starpu, Cells const& cells,
                                          count_pairs const& what,
                                          radius_search_options const& options = {})
  {
    pair_counts result;
    radius_search(starpu, cells, what, result, options);
    return result;
  }

  /// A CSR list with a row per point. Tasks count the slabs, then fill them after the list has its size, and
  /// sort blocks of rows if that is asked for. Throws nearfield::error for a result larger than max_bytes.
  template <has_cell_view Cells, class T, int Dim>
  void radius_search(runtime const& starpu, Cells const& cells, to_csr const& what,
                     csr<T, Dim>& result, radius_search_options const& options = {})
  {
    detail::slab_search(starpu, cells.view(), what.which, options).write(what, result);
  }

  /// A CSR list with one row per point.
  template <has_cell_view Cells>
  [[nodiscard]] auto radius_search(runtime const& starpu, Cells const& cells, to_csr const& what,
                                   radius_search_options const& options = {})
  {
    auto result = nearfield::detail::list_for<csr>(cells.view());
    radius_search(starpu, cells, what, result, options);
    return result;
  }

  /// A COO list of pairs, found in one pass of tasks into address space reserved for all candidate pairs.
  /// If that would exceed max_bytes, or the system refuses the address space, slabs are counted first and
  /// filled into a list of the right size. Throws nearfield::error if the list itself exceeds max_bytes.
  ///
  /// Besides the list, each worker needs some hundred kilobytes for the slab it searches.
  template <has_cell_view Cells, class T, int Dim>
  void radius_search(runtime const& starpu, Cells const& cells, to_coo const& what,
                     coo<T, Dim>& result, radius_search_options const& options = {})
  {
    detail::slab_search(starpu, cells.view(), what.which, options, detail::cached_candidates)
        .write(what, result);
  }

  /// A COO list of pairs.
  template <has_cell_view Cells>
  [[nodiscard]] auto radius_search(runtime const& starpu, Cells const& cells, to_coo const& what,
                                   radius_search_options const& options = {})
  {
    auto result = nearfield::detail::list_for<coo>(cells.view());
    radius_search(starpu, cells, what, result, options);
    return result;
  }

  /// A table of fixed width, in one pass of tasks. Throws nearfield::error for width 0 and for a table larger than
  /// max_bytes.
  template <has_cell_view Cells>
  void radius_search(runtime const& starpu, Cells const& cells, to_table const& what,
                     neighbour_table& result, radius_search_options const& options = {})
  {
    detail::slab_search(starpu, cells.view(), what.which, options).write(what, result);
  }

  /// A table with room for `what.width` neighbours of each point.
  template <has_cell_view Cells>
  [[nodiscard]] neighbour_table radius_search(runtime const& starpu, Cells const& cells,
                                              to_table const& what,
                                              radius_search_options const& options = {})
  {
    neighbour_table result;
    radius_search(starpu, cells, what, result, options);
    return result;
  }

  /// Calls f with each row once, from several threads at once.
  template <has_cell_view Cells, class F>
  void radius_search(runtime const& starpu, Cells const& cells, visit_rows<F> const& what,
                     radius_search_options const& options = {})
  {
    detail::slab_search(starpu, cells.view(), what.which, options)
        .run(detail::search_work::fill, [&](isa where, auto const& job, std::size_t)
             { nearfield::detail::visit_rows_of(where, job, what); });
  }

  /// The reduction over all pairs, with its parts as tasks; the result equals that of the call on one thread, bit
  /// for bit. Parts are combined while others are computed, so few are kept. `what` says how many there are, and
  /// options.candidates nothing. The first exception of f or combine ends the search and is rethrown.
  template <has_cell_view Cells, class R, class F, class Combine>
  [[nodiscard]] R radius_search(runtime const& starpu, Cells const& cells,
                                reduce<R, F, Combine> const& what,
                                radius_search_options const& options = {})
  {
    isa const where = detail::isa_of(options);
    auto const view = cells.view();
    nearfield::detail::check_pairs(view, what.which);
    auto const parts = nearfield::detail::cut_parts(view, what.which, what.parts);
    std::uint64_t candidates = 0;
    for (auto const& part : parts) candidates += part.candidates;
    R result = what.init;
    std::vector<std::unique_ptr<R>> sums(parts.size());
    auto const work = [&](std::size_t p)
    {
      auto const job = nearfield::detail::job_of(view, what.which, parts[p]);
      sums[p] = std::make_unique<R>(nearfield::detail::reduce_part(where, job, what));
    };
    auto const take = [&](std::size_t p)
    {
      what.combine(result, std::move(*sums[p]));
      sums[p].reset();
    };
    detail::reduce_in_tasks(starpu, where, parts.size(), candidates, work, take);
    return result;
  }
}
