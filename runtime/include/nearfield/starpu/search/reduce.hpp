#pragma once

#include <nearfield/runtime/in_order.hpp>
#include <nearfield/search/reduce.hpp>
#include <nearfield/starpu/search/slab_options.hpp>

namespace nearfield::starpu
{
  /// The reduction over all pairs, with its parts as tasks; the result equals that of the serial call, bit for
  /// bit. Parts are combined while others are computed, so few are kept. The first exception of f or combine
  /// ends the search and is rethrown.
  template <has_cell_view Cells, class R, class F, class Combine>
  [[nodiscard]] R radius_search(runtime const& starpu, Cells const& cells,
                                reduce<R, F, Combine> const& what)
  {
    auto const view = cells.view();
    nearfield::detail::check_pairs(view, what.which);
    auto const parts = nearfield::detail::cut_parts(view, what.which, what.parts);
    std::uint64_t candidates = 0;
    for (auto const& part : parts) candidates += part.candidates;
    R result = what.init;
    nearfield::detail::in_order<R> sums;
    detail::run_slabs(starpu, detail::slab_work::reduce, parts.size(), candidates,
                      [&](std::size_t p)
                      {
                        auto const job = nearfield::detail::job_of(view, what.which, parts[p]);
                        sums.put(p, nearfield::detail::reduce_part(isa::best, job, what),
                                 [&](R&& part) { what.combine(result, std::move(part)); });
                      });
    return result;
  }
}
