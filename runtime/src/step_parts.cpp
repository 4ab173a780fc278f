#include "step_parts.hpp"

#include "data_of.hpp"
#include "environment.hpp"
#include "gpu_memory.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/permutation.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace nearfield::starpu::detail
{
  using nearfield::detail::row_run;

  namespace
  {
    /// A chunk from columns of own points, or from those of the caller with one process.
    template <class T>
    collect_argument<T> collect_of(monitor& watch, column_list<T const> const& from,
                                   points_view<T> const& points,
                                   nearfield::detail::point_interval const& chunk)
    {
      if (points.order.empty()) return {{&watch}, from.view(), {}, chunk};
      return {{&watch}, from.view(), points.order.subspan(chunk.begin, chunk.size())};
    }
    /// The same of positions.
    template <class T>
    collect_argument<T> collect_moved(monitor& watch, column_list<T const> const& from,
                                      points_view<T> const& points,
                                      nearfield::detail::point_interval const& chunk)
    {
      auto argument = collect_of(watch, from, points, chunk);
      if (!points.moves.empty()) argument.moves = points.moves.subspan(chunk.begin, chunk.size());
      return argument;
    }

    /// Throws nearfield::error if a message is larger than StarPU-MPI can send.
    void check_message(int rank, std::size_t columns, std::size_t points, std::size_t size)
    {
      if (std::size_t const bytes = columns * points * size;
          bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw error("near_field: a message to or from rank " + std::to_string(rank) + " has " +
                    std::to_string(bytes) +
                    " bytes, and less than 2^31 can be sent; take more ranks, or give points to "
                    "the ranks that compute them");
    }

    /// Throws nearfield::error if the data of a task of ranks that copies rows do not fit into a GPU.
    template <class T>
    void check_copies_fit(step_parts<T> const& step)
    {
      auto const memory = smallest_gpu_memory();
      auto const check = [&](copies const& what, starpu_data_handle_t to)
      {
        if (what.rows.empty()) return;
        auto bytes = static_cast<double>(starpu_data_get_alloc_size(to));
        for (starpu_data_handle_t const source : what.sources)
          bytes += static_cast<double>(starpu_data_get_alloc_size(source));
        if (!nearfield::detail::fits(bytes, memory))
          throw error("near_field: a task that copies rows of a rank has " +
                          std::to_string(static_cast<std::uint64_t>(bytes)) +
                          " bytes of data, too much for its GPU; take more ranks, or backend simd",
                      error_kind::out_of_memory);
      };
      for (step_sources<T> const& one : step.sources) check(one.inputs, one.q.front());
      for (step_group<T> const& one : step.groups) check(one.halos, one.out);
      for (step_layer<T> const& one : step.layers)
      {
        if (step.has_positions_on_gpu) check(one.positions, one.x_sent);
        check(one.inputs, one.q_sent);
      }
      check(step.others.positions, step.others.x);
      check(step.others.inputs, step.others.q);
      for (step_peer<T> const& one : step.peers) check(one.to_caller, one.out_sent);
    }
  }

  template <class T>
  template <class V, class F, class Point>
  void
  step_parts<T>::for_each_interval(std::span<V const> values,
                                   std::vector<nearfield::detail::point_interval> const& intervals,
                                   F const& f, Point point)
  {
    std::size_t i = 0;
    for (std::size_t begin = 0; begin < values.size();)
    {
      while (intervals[i].end <= std::invoke(point, values[begin])) ++i;
      auto const end = static_cast<std::size_t>(
          std::ranges::lower_bound(values.subspan(begin), intervals[i].end, {}, point) -
          values.begin());
      f(i, begin, end);
      begin = end;
    }
  }

  template <class T>
  step_parts<T>::step_parts(step_tree<T> const& tree, division&& made, kernel<T> const& interaction,
                            step_columns<T> const& with, monitor& reports,
                            nearfield::detail::gpu_clock* gpu_time, bool accumulate,
                            caller_pieces<T>&& kept)
      : watch(reports), clock(gpu_time), k(interaction), columns(with),
        has_one_set(tree.has_one_set), is_local(tree.is_local), rank(tree.rank), where(made.where),
        form(made.form), has_positions_on_gpu(made.has_positions_on_gpu), memory(tree.memory),
        excluded(tree.excluded), target_positions(tree.positions(true, has_positions_on_gpu)),
        source_positions(tree.positions(false, has_positions_on_gpu)),
        lists_on_gpu(std::move(made.lists_on_gpu)), plan(std::move(made.plan)), shifts(tree.shifts)
  {
#if defined(STARPU_SIMGRID)
    // no task reads its list: without them, the ranks of a cluster fit into one machine
    for (auto* const parts : {&plan.inner, &plan.border})
      for (auto& part : *parts)
        if (part) part->list = std::vector<std::byte>(1);
#endif
    placed = nearfield::detail::place_groups(plan, workers_of_gpus());
    bool const takes = made.gpu.has_value();
    collects_inputs = is_local && !takes;
    collects_positions = !is_local || !takes || !tree.source_points.moves.empty();
    make_sources(tree.source_points);
    if (!has_one_set) make_targets(tree.targets);
    make_groups(tree.targets, made, accumulate);
    if (tree.ranges_may_coincide) let_ranges_coincide();
    if (form == pair_form::mutual && !collects_inputs) make_halos();
    for (layer_view const& other : tree.layers) make_layer(other, tree);
    if (lists_on_gpu) join_layers();
    if (takes)
    {
      auto const& points = tree.targets;
      pieces = std::move(kept);
      if (pieces.all.empty())
        make_pieces(static_cast<index_type>(is_local ? points.order.size() : points.sent.size()),
                    *made.gpu, accumulate);
      make_caller_rows(tree);
    }
    else if (!is_local)
    {
      tree.targets.complete();
      tree.source_points.complete();
    }
    auto const me = static_cast<std::size_t>(rank);
    for (std::size_t r = 0; r + 1 < tree.targets.sent_offsets.size(); ++r)
    {
      auto const outputs = tree.targets.with_rank(r), inputs = tree.source_points.with_rank(r);
      if (r != me)
        make_peer(static_cast<int>(r), inputs, outputs, accumulate);
      else if (!takes)
        make_own_peers(inputs, outputs, accumulate);
    }
    assemble_inputs();
    if (where == backend::cuda && !is_local) check_copies_fit(*this);
  }

  template <class T>
  std::pair<starpu_data_handle_t, starpu_data_handle_t>
  step_parts<T>::source(std::size_t chunk) const
  {
    std::size_t const before = plan.n_layers_before;
    if (chunk >= before && chunk < before + sources.size())
    {
      step_sources<T> const& own = sources[chunk - before];
      return {own.x, own.q[newest_q]};
    }
    if (lists_on_gpu) return {others.x, others.q};
    step_layer<T> const& from = layers[chunk < before ? chunk : chunk - sources.size()];
    return {from.x, from.q};
  }

  template <class T>
  bool step_parts<T>::ranges_may_coincide() const
  {
    return !groups.empty() && groups.front().inner.ranges_may_coincide;
  }
  template <class T>
  void step_parts<T>::let_ranges_coincide()
  {
    for (step_group<T>& one : groups)
      one.inner.ranges_may_coincide = one.border.ranges_may_coincide = true;
  }

  template <class T>
  void step_parts<T>::read_shifts()
  {
    for (std::size_t g = 0; g < groups.size(); ++g)
    {
      auto& of = *plan.inner[g];
      auto const now = shifts(form, of.first_leaf, of.last_leaf);
      auto const bytes =
          std::as_bytes(std::span(now)); // a list begins with them; SimGrid has no list
      if (bytes.size() > of.list.size() ||
          std::ranges::equal(bytes, std::span(of.list).first(bytes.size())))
        continue;
      starpu_data_handle_t const list = groups[g].inner_list.data;
      acquire_to_write(list, "near_field");
      std::ranges::copy(bytes, of.list.begin());
      starpu_data_release(list);
    }
  }

  template <class T>
  template <class V>
  step_list step_parts<T>::make_list(std::span<V const> values) const
  {
    auto const bytes = std::as_bytes(values);
    if (where == backend::cuda && !is_local)
      return {{{&watch}, bytes}, data_of<std::byte>(bytes.size())};
    return {{}, handle::of(const_cast<std::byte*>(bytes.data()), bytes.size())};
  }

  template <class T>
  void step_parts<T>::make_sources(points_view<T> const& of)
  {
    for (auto const& chunk : plan.source_chunks)
    {
      step_sources<T>& one = sources.emplace_back();
      one.x = data_of<T>(n_x() * chunk.size());
      one.collect_x = collect_moved(watch, source_positions, of, chunk);
      if (collects_inputs) one.collect_q = collect_of(watch, columns.q, of, chunk);
      for (handle& q : one.q)
        if (collects_inputs || &q == &one.q.front()) q = data_of<T>(n_q() * chunk.size());
    }
  }

  template <class T>
  void step_parts<T>::make_targets(points_view<T> const& of)
  {
    for (auto const& chunk : plan.target_chunks)
      targets.push_back(
          {collect_moved(watch, target_positions, of, chunk), data_of<T>(n_x() * chunk.size())});
  }

  template <class T>
  void step_parts<T>::make_groups(points_view<T> const& of, division const& how, bool accumulate)
  {
    for (std::size_t g = 0; g < plan.targets.size(); ++g)
    {
      step_group<T>& one = groups.emplace_back();
      nearfield::detail::point_interval const rows = plan.targets[g];
      one.out = data_of<T>(n_out() * rows.size());
      auto const task =
          [&](auto& part, p2p_argument& argument, step_list& data, cuda_list const* made)
      {
        if (!part) return;
        argument = argument_of(k, &watch);
        argument.n_rhs = columns.n_rhs;
        argument.clock = clock;
        if (how.cpu_rate > 0) argument.cpu_rate = how.cpu_rate;
        if (how.gpu_rate > 0) argument.gpu_rate = how.gpu_rate / workers_of_a_gpu();
        argument.work = part->interactions * columns.n_rhs;
        argument.head = &part->head;
        argument.list_on_gpu = made;
        if (!made) data = make_list<std::byte>(part->list);
      };
      auto const& on_gpu = lists_on_gpu;
      task(plan.inner[g], one.inner, one.inner_list, on_gpu ? &on_gpu->inner : nullptr);
      task(plan.border[g], one.border, one.border_list, on_gpu ? &on_gpu->border : nullptr);
      one.border.accumulates = plan.inner[g].has_value();
      if (excluded)
      {
        auto const& group = *plan.inner[g];
        for (std::size_t const chunk : group.source_chunks)
          one.positions.push_back(plan.source_chunks[chunk].begin);
        if (!has_one_set) one.positions.push_back(plan.target_chunks[group.target_chunk].begin);
        one.inner.excluded = {excluded.get(), one.positions.data()};
      }
      if (form == pair_form::mutual)
        one.halo = data_of<T>(n_out() * std::max<index_type>(1, plan.inner[g]->halo_size));
      if (is_local && (collects_inputs || !plan.inner[g]->is_for_gpus))
        one.deliver.emplace(deliver_argument<T>{{&watch},
                                                columns.out.view(),
                                                of.order.subspan(rows.begin, rows.size()),
                                                plan.inner[g]->pieces,
                                                accumulate});
    }
  }

  template <class T>
  void step_parts<T>::make_halos()
  {
    for (std::size_t g = 0; g < groups.size(); ++g)
    {
      groups[g].halo_places.resize(plan.inner[g]->halo_size);
      if (plan.inner[g]->halo_size > 0)
        groups[g].halo_list = handle::of(groups[g].halo_places.data(), plan.inner[g]->halo_size);
    }
    for (std::size_t g = 0; g < groups.size(); ++g)
    {
      if (groups[g].deliver) continue;
      auto const& of = *plan.inner[g];
      auto const from = [&](std::size_t halo) -> step_group<T>&
      {
        return groups[of.reached_from[halo] - plan.n_layers_before];
      };
      // the pieces of one halo follow one another in it
      for (auto piece = of.pieces.begin(); piece != of.pieces.end();)
      {
        std::size_t const halo = piece->halo, begin = piece->halo_begin;
        std::size_t end = begin;
        for (; piece != of.pieces.end() && piece->halo == halo && piece->halo_begin == end; ++piece)
        {
          auto const places = from(halo).halo_places.begin() + piece->halo_begin;
          std::iota(places, places + piece->size, piece->begin);
          end += piece->size;
        }
        groups[g].halos.add(from(halo).halo, from(halo).halo_list, begin, end, 0);
      }
      finish(groups[g].halos, n_out(), copy_kind::add);
    }
  }

  template <class T>
  void step_parts<T>::make_layer(layer_view const& from, step_tree<T> const& tree)
  {
    step_layer<T>& one = layers.emplace_back();
    one.rank = from.rank;
    boxes const& known = tree.sources;
    std::size_t n_sent = 0;
    std::size_t chunk = 0;
    index_type run_end = 0; // of the last run
    for (index_type const b : from.sent)
    {
      index_type const begin = known.begin(tree.first_leaf + b) - known.begin(tree.first_leaf);
      index_type const size = known.count(tree.first_leaf + b);
      if (size == 0) continue;
      bool begins_run = one.sent.empty() || begin != run_end;
      for (; plan.source_chunks[chunk].end <= begin; ++chunk)
        begins_run = true; // a run is of one chunk
      if (begins_run) one.sent.push_back({static_cast<index_type>(n_sent), begin});
      n_sent += size;
      run_end = begin + size;
    }
    std::size_t const n = known.offsets[from.last_leaf] - known.offsets[from.first_leaf];
    check_message(one.rank, std::max(n_x(), n_q()), std::max(n_sent, n), sizeof(T));
    std::span<row_run const> const sent = one.sent;
    one.sent_list = list_of(sent);
    one.x_sent = data_of<T>(n_x() * n_sent);
    one.q_sent = data_of<T>(n_q() * n_sent);
    one.x = data_of<T>(n_x() * n);
    one.q = data_of<T>(n_q() * n);
    auto const add = [&](std::size_t from_chunk, std::size_t first_run, std::size_t end_run)
    {
      std::size_t const begin = sent[first_run].row,
                        end = end_run < sent.size() ? sent[end_run].row : n_sent;
      step_sources<T> const& own = sources[from_chunk];
      for (auto const& [to, data] :
           {std::pair(&one.positions, &own.x), std::pair(&one.inputs, &own.q.front())})
        to->add(*data, one.sent_list, begin, end, plan.source_chunks[from_chunk].begin, first_run,
                end_run - first_run);
    };
    for_each_interval(sent, plan.source_chunks, add, &row_run::place);
    finish(one.positions, n_x(), copy_kind::gather);
    finish(one.inputs, n_q(), copy_kind::gather);
    if (!lists_on_gpu || n == 0) return;
    std::size_t const end = others.n + n; // all rows
    others.positions.add(one.x, nullptr, others.n, end, 0);
    others.inputs.add(one.q, nullptr, others.n, end, 0);
    others.n = end;
  }

  template <class T>
  void step_parts<T>::join_layers()
  {
    others.x = data_of<T>(n_x() * others.n);
    others.q = data_of<T>(n_q() * others.n);
    finish(others.positions, n_x(), copy_kind::gather);
    finish(others.inputs, n_q(), copy_kind::gather);
  }

  template <class T>
  void step_parts<T>::make_peer(int r, shared_rows const& inputs, shared_rows const& outputs,
                                bool accumulate)
  {
    auto const is_empty = [](shared_rows const& rows)
    {
      return rows.sent.empty() && rows.received.empty();
    };
    if (is_empty(inputs) && is_empty(outputs)) return;
    step_peer<T>& one = peers.emplace_back();
    one.rank = r;
    auto const check = [&](shared_rows const& rows, std::size_t n_columns)
    {
      check_message(r, n_columns, std::max(rows.sent.size(), rows.received.size()), sizeof(T));
    };
    if (r != rank)
    {
      check(inputs, n_q());
      check(outputs, n_out());
    }
    one.inputs = inputs;
    one.outputs = outputs;
    one.collect_q = {{&watch}, columns.q.view(), inputs.sent};
    one.deliver = {{&watch}, columns.out.view(), outputs.sent, {}, accumulate};
    one.received_targets = list_of(outputs.received);
    if (!has_one_set) one.received_sources = list_of(inputs.received);
    one.q_sent = data_of<T>(n_q() * inputs.sent.size());
    one.out_sent = data_of<T>(n_out() * outputs.received.size());
    if (r != rank) one.q_received = data_of<T>(n_q() * inputs.received.size());
    if (r != rank) one.out_received = data_of<T>(n_out() * outputs.sent.size());
    // what one rank sends comes in the order of own points
    for_each_interval(outputs.received, plan.targets,
                      [&](std::size_t g, std::size_t begin, std::size_t end)
                      {
                        one.to_caller.add(groups[g].out, one.received_targets, begin, end,
                                          plan.targets[g].begin);
                      });
    finish(one.to_caller, n_out(), copy_kind::gather);
  }

  template <class T>
  void step_parts<T>::make_own_peers(shared_rows const& inputs, shared_rows const& outputs,
                                     bool accumulate)
  {
    constexpr std::size_t least = std::size_t(1) << 18;
    auto const in_parts = [&](shared_rows const& rows, auto const& intervals, auto const& make)
    {
      std::size_t first = 0;
      for_each_interval(
          rows.received, intervals,
          [&](std::size_t, std::size_t, std::size_t end)
          {
            std::size_t const n = end - first;
            if (n < least && end < rows.received.size()) return;
            make(shared_rows{rows.sent.subspan(first, n), rows.received.subspan(first, n)});
            first = end;
          });
    };
    in_parts(outputs, plan.targets, [&](shared_rows const& part)
             { make_peer(rank, has_one_set ? part : shared_rows{}, part, accumulate); });
    if (has_one_set) return;
    in_parts(inputs, plan.source_chunks,
             [&](shared_rows const& part) { make_peer(rank, part, {}, accumulate); });
  }

  template <class T>
  void step_parts<T>::assemble_inputs()
  {
    for (step_peer<T> const& one : peers)
      for_each_interval(one.inputs.received, plan.source_chunks,
                        [&](std::size_t c, std::size_t begin, std::size_t end)
                        {
                          sources[c].inputs.add(one.arrived(rank), one.list_of_inputs(), begin, end,
                                                plan.source_chunks[c].begin);
                        });
    for (step_sources<T>& one : sources)
    {
      finish(one.inputs, n_q(), copy_kind::scatter);
      one.inputs.is_partial = !take_q.empty();
    }
  }

  template <class T>
  void step_parts<T>::finish(copies& what, std::size_t n_columns, copy_kind kind)
  {
    what.argument = {{&watch}, kind, static_cast<int>(n_columns), what.rows};
  }

  template struct step_parts<float>;
  template struct step_parts<double>;
}
