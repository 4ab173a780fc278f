#include "step_parts.hpp"

#include "check_room.hpp"
#include "environment.hpp"
#include "gpu_memory.hpp"
#include "pinned.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/permutation.hpp>
#include <nearfield/p2p/check.hpp>

#include <starpu_mpi.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace nearfield::starpu_mpi::detail
{
  using namespace starpu::detail;
  using nearfield::detail::row_run;

  namespace
  {
    /// No data for 0 values. There is room for up to 1/32 more, since StarPU keeps memory by its size, and after points
    /// have moved sizes are about the same. To allocate anew takes longer than a whole step.
    template <class V>
    handle data_of(std::size_t n)
    {
      if (n == 0) return {};
      std::size_t const unit = std::max<std::size_t>(1, std::bit_ceil(n) / 64);
      return handle::of_size<V>(n, (n + unit - 1) / unit * unit);
    }
    template <class V>
    handle list_of(std::span<V const> values)
    {
      if (values.empty()) return {};
      return handle::of(const_cast<V*>(values.data()), values.size());
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
  }

  template <class T>
  template <class V, class F, class Point>
  void step_parts<T>::for_each_group(std::span<V const> values,
                                     std::vector<nearfield::detail::point_interval> const& groups,
                                     F const& f, Point point)
  {
    std::size_t g = 0;
    for (std::size_t begin = 0; begin < values.size();)
    {
      while (groups[g].end <= std::invoke(point, values[begin])) ++g;
      auto const end = static_cast<std::size_t>(
          std::ranges::lower_bound(values.subspan(begin), groups[g].end, {}, point) -
          values.begin());
      f(g, begin, end);
      begin = end;
    }
  }

  template <class T>
  step_parts<T>::step_parts(tree_view<T> const& tree, kernel<T> const& interaction,
                            step_columns<T> const& with, starpu::monitor& reports,
                            rank_choice const& how, step_options const& options,
                            caller_pieces<T>&& kept)
      : watch(reports), k(interaction), columns(with), has_one_set(tree.leaves.has_one_set),
        collects_on_gpu(how.where == backend::cuda && tree.gpu && how.gpu == tree.gpu)
  {
    auto const positions = [&](points_view<T> const& of)
    {
      return collects_on_gpu ? of.positions_on_gpu() : of.positions();
    };
    target_positions = positions(tree.targets);
    source_positions = positions(tree.sources);
    check_may_wait("near_field"); // its destructor waits
#if defined(STARPU_SIMGRID)
    starpu_mpi_comm_rank(tree.comm, &rank); // in a simulation, no thread of ours may call MPI
#else
    MPI_Comm_rank(tree.comm, &rank);
#endif
    nearfield::detail::check_view("near_field", "q", columns.q.view(), tree.sources.sent.size());
    nearfield::detail::check_view("near_field", "out", columns.out.view(),
                                  tree.targets.sent.size());
    make_plan(tree, how, options.groups);
#if defined(STARPU_SIMGRID)
    // no task reads its list: without them, the ranks of a cluster fit into one machine
    for (auto* const parts : {&plan.inner, &plan.border})
      for (auto& part : *parts)
        if (part) part->list = std::vector<std::byte>(1);
#endif
    make_groups(how);
    if (how.form == pair_form::mutual) make_halos();
    for (rank_layer const& other : tree.leaves.layers) make_layer(other, tree.leaves);
    if (on_gpu) join_layers();
    std::size_t const n_points = tree.targets.sent.size(); // of the caller
    auto const me = static_cast<std::size_t>(rank);
    bool const takes =
        collects_on_gpu && has_one_set &&
        takes_pieces(tree.targets.sent_offsets[me + 1] - tree.targets.sent_offsets[me], n_points);
    if (takes)
    {
      pieces = std::move(kept);
      if (pieces.all.empty())
        make_pieces(static_cast<index_type>(n_points), *tree.gpu, options.accumulate);
      make_caller_rows(tree.caller_rows, static_cast<index_type>(n_points));
    }
    else
    {
      tree.targets.complete();
      tree.sources.complete();
    }
    for (std::size_t r = 0; r + 1 < tree.targets.sent_offsets.size(); ++r)
    {
      auto const outputs = tree.targets.with_rank(r), inputs = tree.sources.with_rank(r);
      if (r != me)
        make_peer(static_cast<int>(r), inputs, outputs, options.accumulate);
      else if (!takes)
        make_own_peers(inputs, outputs, options.accumulate);
    }
    assemble_inputs();
    if (how.where == backend::cuda) check_room(*this, smallest_gpu_memory());
  }

  template <class T>
  void step_parts<T>::make_plan(tree_view<T> const& tree, rank_choice const& how,
                                group_options const& options)
  {
    constexpr double value = sizeof(T) * (1 + 1. / 32); // with room
    rank_gpus gpus{};
    if (how.where == backend::cuda)
      gpus = {{.source_x = double(n_x()) * value,
               .source_q = double(n_q()) * value,
               .target_x = has_one_set ? 0 : double(n_x()) * value,
               .out = double(n_out()) * value},
              smallest_gpu_memory(),
              std::max({n_x(), n_q(), n_out()})};
    bool const is_one_group = options.leaves_per_group == automatic &&
                              (options.groups_per_gpu == 0 || options.groups_per_gpu == 1);
    try
    {
      if (collects_on_gpu && is_one_group && fits_one_group(tree.leaves, gpus))
        on_gpu = tree.lists_on_gpu(how.form);
    }
    catch (error const& e)
    {
      if (e.kind() != error_kind::out_of_memory) throw;
    }
    if (on_gpu)
    {
      plan = plan_one_group(tree.leaves, how.form, on_gpu->inner_pairs, on_gpu->border_pairs);
      return;
    }
    rank_leaves leaves = tree.leaves;
    leaves.lists = tree.lists();
    plan = plan_rank(leaves, how.form, options, how.where == backend::cuda ? &gpus : nullptr,
                     tree.threads);
  }

  template <class T>
  std::pair<starpu_data_handle_t, starpu_data_handle_t>
  step_parts<T>::source(std::size_t chunk) const
  {
    std::size_t const before = plan.n_layers_before;
    if (chunk >= before && chunk < before + groups.size())
      return {groups[chunk - before].x, groups[chunk - before].q};
    if (on_gpu) return {others.x, others.q};
    step_layer<T> const& from = layers[chunk < before ? chunk : chunk - groups.size()];
    return {from.x, from.q};
  }

  template <class T>
  template <class V>
  step_list step_parts<T>::make_list(std::span<V const> values, backend where) const
  {
    auto const bytes = std::as_bytes(values);
    if (where == backend::cuda) return {{{&watch}, bytes}, data_of<std::byte>(bytes.size())};
    return {{}, handle::of(const_cast<std::byte*>(bytes.data()), bytes.size())};
  }

  template <class T>
  void step_parts<T>::make_groups(rank_choice const& how)
  {
    for (std::size_t g = 0; g < plan.targets.size(); ++g)
    {
      step_group<T>& one = groups.emplace_back();
      nearfield::detail::point_interval const targets = plan.targets[g], sources = plan.sources[g];
      one.x = data_of<T>(n_x() * sources.size());
      one.q = data_of<T>(n_q() * sources.size());
      if (!has_one_set) one.target_x = data_of<T>(n_x() * targets.size());
      one.out = data_of<T>(n_out() * targets.size());
      one.collect_x = {{&watch}, source_positions.view(), {}, sources};
      one.collect_target_x = {{&watch}, target_positions.view(), {}, targets};
      auto const list =
          [&](auto& part, p2p_argument& argument, step_list& data, cuda_list const* made)
      {
        if (!part) return;
        argument = argument_of(k, &watch);
        argument.n_rhs = columns.n_rhs;
        argument.clock = how.clock;
        argument.work = part->interactions * columns.n_rhs;
        argument.head = &part->head;
        argument.list_on_gpu = made;
        if (!made) data = make_list<std::byte>(part->list, how.where);
      };
      list(plan.inner[g], one.inner, one.inner_list, on_gpu ? &on_gpu->inner : nullptr);
      list(plan.border[g], one.border, one.border_list, on_gpu ? &on_gpu->border : nullptr);
      one.border.accumulates = plan.inner[g].has_value();
      if (how.form == pair_form::mutual)
        one.halo = data_of<T>(n_out() * std::max<index_type>(1, plan.inner[g]->halo_size));
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
  void step_parts<T>::make_layer(rank_layer const& from, rank_leaves const& leaves)
  {
    step_layer<T>& one = layers.emplace_back();
    one.rank = from.rank;
    boxes const& known = leaves.sources;
    std::size_t n_sent = 0;
    std::size_t g = 0;
    index_type run_end = 0; // of the last run
    for (index_type const b : from.sent)
    {
      index_type const begin = known.begin(leaves.first + b) - known.begin(leaves.first);
      index_type const size = known.count(leaves.first + b);
      if (size == 0) continue;
      bool begins_run = one.sent.empty() || begin != run_end;
      for (; plan.sources[g].end <= begin; ++g) begins_run = true; // a run is of one group
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
    auto const add = [&](std::size_t group, std::size_t first_run, std::size_t end_run)
    {
      std::size_t const begin = sent[first_run].row,
                        end = end_run < sent.size() ? sent[end_run].row : n_sent;
      for (auto const& [to, data] :
           {std::pair(&one.positions, &groups[group].x), std::pair(&one.inputs, &groups[group].q)})
        to->add_runs(*data, one.sent_list, begin, end - begin, plan.sources[group].begin, first_run,
                     end_run - first_run);
    };
    for_each_group(sent, plan.sources, add, &row_run::place);
    finish(one.positions, n_x(), copy_kind::gather);
    finish(one.inputs, n_q(), copy_kind::gather);
    if (!on_gpu || n == 0) return;
    others.positions.append(one.x, others.n, n);
    others.inputs.append(one.q, others.n, n);
    others.n += n;
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
    for_each_group(outputs.received, plan.targets,
                   [&](std::size_t g, std::size_t begin, std::size_t end) {
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
    auto const in_parts = [&](shared_rows const& rows, auto const& groups_of_rows, auto const& make)
    {
      std::size_t first = 0;
      for_each_group(
          rows.received, groups_of_rows,
          [&](std::size_t, std::size_t, std::size_t end)
          {
            std::size_t const n = end - first;
            if (n < least && end < rows.received.size()) return;
            make(shared_rows{rows.sent.subspan(first, n), rows.received.subspan(first, n)});
            first = end;
          });
    };
    in_parts(outputs, plan.targets,
             [&](shared_rows const& part)
             { make_peer(rank, has_one_set ? part : shared_rows{}, part, accumulate); });
    if (has_one_set) return;
    in_parts(inputs, plan.sources,
             [&](shared_rows const& part) { make_peer(rank, part, {}, accumulate); });
  }

  template <class T>
  bool step_parts<T>::takes_pieces(std::size_t n_own, std::size_t n_points) const
  {
    // all points of the caller cross, even those of other ranks; and a task has all pieces
    auto const bytes = static_cast<double>(std::max(n_q(), n_out()) * sizeof(T) + 8) * n_points;
    return n_own > 0 && 2 * n_own >= n_points &&
           nearfield::detail::fits(2 * bytes, smallest_gpu_memory());
  }

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
    bool reads_pinned = true, writes_pinned = !accumulate;
    for (index_type begin = 0; begin < n_points;)
    {
      index_type const end = begin + std::min(most, n_points - begin);
      caller_piece<T>& one = pieces.all.emplace_back();
      nearfield::detail::point_interval const points{begin, end};
      one.collect_q = {{&watch}, columns.q.view(), {}, points};
      one.deliver = {{&watch}, columns.out.view(), {}, {}, accumulate, points};
      one.q = data_of<T>(n_q() * points.size());
      one.out = data_of<T>(n_out() * points.size());
      reads_pinned = reads_pinned && are_pinned(columns.q.view(), points);
      writes_pinned = writes_pinned && are_pinned(columns.out.view(), points);
      begin = end;
    }
    using pinned = pinned_columns_argument<T>;
    auto const argument = [&](auto const& to)
    {
      return std::make_unique<pinned>(
          pinned{{&watch}, columns.q.view(), to, pieces.all.size(), shift});
    };
    if (reads_pinned) pieces.read_pinned = argument(std::nullopt);
    if (writes_pinned) pieces.write_pinned = argument(columns.out.view());
  }

  template <class T>
  void step_parts<T>::make_caller_rows(index_type const* caller_rows, index_type n_points)
  {
    bool is_first = true;
    for (std::size_t g = 0; g < groups.size(); ++g)
    {
      caller_rows_argument rows{{&watch}};
      rows.shift = piece_shift<T>(n_points);
      rows.n_pieces = pieces.all.size();
      rows.list = caller_rows + plan.targets[g].begin;
      rows.n = plan.targets[g].size();
      auto const set_columns = [&](std::size_t n)
      {
        rows.n_columns = static_cast<int>(n);
        rows.work = double(rows.n) * (2 * n * sizeof(T) + sizeof(index_type));
      };
      set_columns(n_q());
      groups[g].take = rows;
      set_columns(n_out());
      rows.to_caller = true;
      rows.clears = std::exchange(is_first, false);
      groups[g].give = rows;
    }
  }

  template <class T>
  void step_parts<T>::assemble_inputs()
  {
    for (step_peer<T> const& one : peers)
      for_each_group(one.inputs.received, plan.sources,
                     [&](std::size_t g, std::size_t begin, std::size_t end)
                     {
                       groups[g].inputs.add(one.arrived(rank), one.list_of_inputs(), begin, end,
                                            plan.sources[g].begin);
                     });
    for (step_group<T>& one : groups)
    {
      finish(one.inputs, n_q(), copy_kind::scatter);
      one.inputs.is_partial = one.take.n > 0;
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
