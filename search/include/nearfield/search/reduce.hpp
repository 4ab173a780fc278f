#pragma once

#include <nearfield/search/visit.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nearfield
{
  /// One value computed from all pairs, without a list: f(sum, i, j, r2) adds a pair to a sum, or
  /// f(sum, i, j, r2, d) if it takes d = x_i - x_j too (a vec, nearest image).
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
    std::vector<slab> cut_parts(cell_view<T, Dim> const& cells, pairs which, int parts)
    {
      if (parts < 1) throw error("reduce: parts is " + std::to_string(parts) + "; give 1 or more");
      auto const before = candidates_before_boxes(cells, which);
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

  /// Reduces on the calling thread. An exception from f or combine ends the search and passes
  /// through. Throws nearfield::error for a half list of two sets and for parts < 1.
  template <cpu_backend Backend, has_cell_view Cells, class R, class F, class Combine>
  [[nodiscard]] R radius_search(Backend where, Cells const& cells,
                                reduce<R, F, Combine> const& what)
  {
    auto const view = cells.view();
    detail::check_pairs(view, what.which);
    R result = what.init;
    for (detail::slab const& part : detail::cut_parts(view, what.which, what.parts))
      what.combine(result, detail::reduce_part(detail::isa_of(where),
                                               detail::job_of(view, what.which, part), what));
    return result;
  }
}
