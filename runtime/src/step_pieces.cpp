#include "step_parts.hpp"

#include "core/src/cuda/on_device.hpp"
#include "core/src/cuda/pinned.hpp"
#include "data_of.hpp"
#include "gpu_memory.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

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

    /// Those of tasks that copy pieces, one of each GPU; -1, any, of a single GPU.
    std::vector<int> workers_of_pieces()
    {
      auto const workers = first_workers_of_gpus();
      return workers.size() > 1 ? workers : std::vector{-1};
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
    auto const pinned = [&](bool is_pinned, auto const& set)
    {
      std::vector<pinned_columns_argument<T>> made;
      if (!is_pinned) return made;
      auto const workers = workers_of_pieces();
      std::size_t first = 0, n_parts = 0;
      for (int const worker : workers)
      {
        std::size_t const end = pieces.all.size() * ++n_parts / workers.size();
        pinned_columns_argument<T>& one = made.emplace_back();
        one.watch = &watch;
        one.first_piece = first;
        one.n_pieces = end - first;
        one.shift = shift;
        one.worker = worker;
        set(one);
        first = end;
      }
      return made;
    };
    pieces.pinned_x = pinned(reads_pinned_x, [&](auto& one) { one.from = columns.x.view(); });
    pieces.pinned_q = pinned(reads_pinned_q, [&](auto& one) { one.from = columns.q.view(); });
    pieces.pinned_out = pinned(writes_pinned, [&](auto& one) { one.to = columns.out.view(); });
  }

  template <class T>
  void step_parts<T>::make_caller_rows(step_tree<T> const& tree)
  {
    if (is_local) pieces.order = list_of(tree.targets.order);
    auto const n_points =
        static_cast<index_type>(is_local ? tree.targets.order.size() : tree.targets.sent.size());
    auto const workers = workers_of_pieces();
    auto const rows = [&](std::size_t n_columns)
    {
      std::vector<caller_rows_argument> made;
      for (int const worker : workers)
      {
        caller_rows_argument& one = made.emplace_back();
        one.watch = &watch;
        one.worker = worker;
        one.n_pieces = pieces.all.size();
        one.n_columns = static_cast<int>(n_columns);
        one.shift = piece_shift<T>(n_points);
        one.list = tree.caller_rows;
        one.work = double(n_points) * (2 * n_columns * sizeof(T) + sizeof(index_type)) /
                   static_cast<double>(workers.size());
      }
      return made;
    };
    take_x = rows(n_x());
    take_q = rows(n_q());
    give = rows(n_out());
    std::size_t g = 0;
    for (std::size_t c = 0; c < sources.size(); ++c)
    {
      auto const& chunk = plan.source_chunks[c];
      while (g + 1 < groups.size() && plan.targets[g].end <= chunk.begin) ++g;
      std::size_t const gpu = placed.gpu[g];
      if (is_local) take_x[gpu].add(chunk, sources[c].x);
      take_q[gpu].add(chunk, sources[c].q.front());
    }
    for (g = 0; g < groups.size(); ++g)
      if (!groups[g].deliver) give[placed.gpu[g]].add(plan.targets[g], groups[g].out);
    bool is_first = true;
    for (caller_rows_argument& one : give)
    {
      one.to_caller = true;
      if (one.data.empty()) continue;
      one.clears = std::exchange(is_first, false);
    }
  }

  template void step_parts<float>::make_pieces(index_type, int, bool);
  template void step_parts<double>::make_pieces(index_type, int, bool);
  template void step_parts<float>::make_caller_rows(step_tree<float> const&);
  template void step_parts<double>::make_caller_rows(step_tree<double> const&);
}
