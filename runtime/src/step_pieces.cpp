#include "step_parts.hpp"

#include "core/src/cuda/on_device.hpp"
#include "core/src/cuda/pinned.hpp"
#include "data_of.hpp"

#include <algorithm>
#include <bit>
#include <memory>

namespace nearfield::starpu::detail
{
  namespace
  {
    /// Of n points of a caller, 2^shift are in a piece.
    template <class T>
    int piece_shift(index_type n)
    {
      constexpr auto most = nearfield::detail::column_pieces<T>::most;
      return std::max<int>(16, std::bit_width((n - 1) / most));
    }

    /// Whether the current GPU can copy these rows of columns.
    template <class T>
    bool are_pinned(strided<T, run_time_columns> const& of,
                    nearfield::detail::point_interval const& rows)
    {
      for (int c = 0; c < of.columns().width(); ++c)
        if (of[c].stride != 1 ||
            !nearfield::detail::is_pinned(of[c].first + rows.begin, rows.size() * sizeof(T)))
          return false;
      return true;
    }
  }

  template <class T>
  void step_parts<T>::make_pieces(index_type n_points, int gpu, bool accumulate)
  {
    nearfield::detail::on_device const here(gpu);
    int const shift = piece_shift<T>(n_points);
    index_type const most = index_type(1) << shift;
    pieces.have_inputs = false;
    pieces.delivery_order = handle::of_order();
    bool reads_pinned_x = is_local, reads_pinned_q = true, writes_pinned = !accumulate;
    for (index_type begin = 0; begin < n_points;)
    {
      index_type const end = begin + std::min(most, n_points - begin);
      caller_piece<T>& one = pieces.all.emplace_back();
      nearfield::detail::point_interval const points{begin, end};
      if (is_local) one.collect_x = {{&watch}, columns.x.view(), {}, points};
      one.collect_q = {{&watch}, columns.q.view(), {}, points};
      one.deliver = {{&watch}, columns.out.view(), {}, {}, accumulate, points};
      if (is_local) one.x = data_of<T>(n_x() * points.size());
      one.q = data_of<T>(n_q() * points.size());
      one.out = data_of<T>(n_out() * points.size());
      reads_pinned_x = reads_pinned_x && are_pinned(columns.x.view(), points);
      reads_pinned_q = reads_pinned_q && are_pinned(columns.q.view(), points);
      writes_pinned = writes_pinned && are_pinned(columns.out.view(), points);
      begin = end;
    }
    auto const pinned = [&]
    {
      auto made = std::make_unique<pinned_columns_argument<T>>();
      made->watch = &watch;
      made->n_pieces = pieces.all.size();
      made->shift = shift;
      return made;
    };
    if (reads_pinned_x) (pieces.pinned_x = pinned())->from = columns.x.view();
    if (reads_pinned_q) (pieces.pinned_q = pinned())->from = columns.q.view();
    if (writes_pinned) (pieces.pinned_out = pinned())->to = columns.out.view();
  }

  template <class T>
  void step_parts<T>::make_caller_rows(step_tree<T> const& tree)
  {
    if (is_local) pieces.order = list_of(tree.targets.order);
    auto const n_points =
        static_cast<index_type>(is_local ? tree.targets.order.size() : tree.targets.sent.size());
    auto const rows = [&](std::size_t n_columns)
    {
      caller_rows_argument made;
      made.watch = &watch;
      made.n_pieces = pieces.all.size();
      made.n_columns = static_cast<int>(n_columns);
      made.shift = piece_shift<T>(n_points);
      made.list = tree.caller_rows;
      made.work = double(n_points) * (2 * n_columns * sizeof(T) + sizeof(index_type));
      return made;
    };
    take_x = rows(n_x());
    take_q = rows(n_q());
    for (std::size_t c = 0; c < sources.size(); ++c)
    {
      if (is_local) take_x.add(plan.source_chunks[c], sources[c].x);
      take_q.add(plan.source_chunks[c], sources[c].q.front());
    }
    give = rows(n_out());
    give.to_caller = true;
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (!groups[g].deliver) give.add(plan.targets[g], groups[g].out);
  }

  template void step_parts<float>::make_pieces(index_type, int, bool);
  template void step_parts<double>::make_pieces(index_type, int, bool);
  template void step_parts<float>::make_caller_rows(step_tree<float> const&);
  template void step_parts<double>::make_caller_rows(step_tree<double> const&);
}
