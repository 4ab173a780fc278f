#include "step_parts.hpp"

#include "environment.hpp"

#include <nearfield/p2p/check.hpp>

#include <starpu_mpi.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace nearfield::starpu_mpi::detail
{
  using namespace starpu::detail;

  namespace
  {
    std::span<index_type const> part_of(std::span<index_type const> points,
                                        std::span<std::size_t const> offsets, std::size_t r)
    {
      return points.subspan(offsets[r], offsets[r + 1] - offsets[r]);
    }
  }

  template <class T>
  template <class F>
  void step_parts<T>::for_each_group(std::span<index_type const> points, F const& f) const
  {
    std::size_t g = 0;
    for (std::size_t begin = 0; begin < points.size();)
    {
      while (plan.groups[g].end <= points[begin]) ++g;
      auto const end = static_cast<std::size_t>(
          std::ranges::lower_bound(points.subspan(begin), plan.groups[g].end) - points.begin());
      f(g, begin, end);
      begin = end;
    }
  }

  template <class T>
  step_parts<T>::step_parts(tree_view<T> const& tree, kernel<T> const& interaction,
                            step_columns<T> const& with, starpu::monitor& reports, pair_form form,
                            step_options const& options)
      : watch(reports), k(interaction), columns(with), positions(tree.positions)
  {
    check_may_wait("near_field"); // its destructor waits
#if defined(STARPU_SIMGRID)
    starpu_mpi_comm_rank(tree.comm, &rank); // in a simulation, no thread of ours may call MPI
#else
    MPI_Comm_rank(tree.comm, &rank);
#endif
    auto const check = [&](char const* name, auto const& column)
    {
      nearfield::detail::check_view("near_field", name, column.view(), tree.sent.size());
    };
    check("q", columns.q);
    check("out", columns.out);
    plan = plan_rank(tree.leaves, form, options.groups);
#if defined(STARPU_SIMGRID)
    // no task reads its list: without them, the ranks of a cluster fit into one machine
    for (auto* const parts : {&plan.inner, &plan.border})
      for (auto& part : *parts)
        if (part) part->list = std::vector<std::byte>(1);
#endif
    own_points.resize(tree.received.size());
    std::iota(own_points.begin(), own_points.end(), index_type(0));
    make_groups(form);
    for (rank_layer const& other : tree.leaves.layers) make_layer(other, tree.leaves);
    for (std::size_t r = 0; r + 1 < tree.sent_offsets.size(); ++r)
      make_peer(static_cast<int>(r), part_of(tree.sent, tree.sent_offsets, r),
                part_of(tree.received, tree.received_offsets, r), options.accumulate);
    assemble_inputs();
  }

  template <class T>
  std::pair<starpu_data_handle_t, starpu_data_handle_t>
  step_parts<T>::source(std::size_t chunk) const
  {
    std::size_t const before = plan.n_layers_before;
    if (chunk >= before && chunk < before + groups.size())
      return {groups[chunk - before].x, groups[chunk - before].q};
    step_layer<T> const& from = layers[chunk < before ? chunk : chunk - groups.size()];
    return {from.x, from.q};
  }

  template <class T>
  void step_parts<T>::make_groups(pair_form form)
  {
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
    {
      step_group<T>& one = groups.emplace_back();
      nearfield::detail::point_interval const points = plan.groups[g];
      std::size_t const n = points.size();
      one.x = handle::of_size<T>(n_x() * n);
      one.q = handle::of_size<T>(n_q() * n);
      one.out = handle::of_size<T>(n_out() * n);
      one.collect_x = {{&watch}, positions.view(), std::span(own_points).subspan(points.begin, n)};
      auto const list = [&](auto& part, p2p_argument& argument, handle& data)
      {
        if (!part) return;
        argument = argument_of(k, &watch);
        argument.n_rhs = columns.n_rhs;
        argument.work = part->interactions * columns.n_rhs;
        argument.head = &part->head;
        data = handle::of(part->list.data(), part->list.size());
      };
      list(plan.inner[g], one.inner, one.inner_list);
      list(plan.border[g], one.border, one.border_list);
      one.border.accumulates = bool(one.inner_list);
      if (form == pair_form::mutual)
        one.halo = handle::of_size<T>(n_out() * std::max<index_type>(1, plan.inner[g]->halo_size));
    }
    if (form != pair_form::mutual) return;
    for (std::size_t g = 0; g < groups.size(); ++g)
    {
      auto const& of = *plan.inner[g];
      for (nearfield::detail::halo_piece const& piece : of.pieces)
        groups[g].halos.add(groups[of.reached_from[piece.halo] - plan.n_layers_before].halo,
                            {0, piece.size, nullptr, piece.halo_begin, nullptr, piece.begin});
      finish(groups[g].halos, n_out(), true);
    }
  }

  template <class T>
  void step_parts<T>::make_layer(rank_layer const& from, rank_leaves const& leaves)
  {
    step_layer<T>& one = layers.emplace_back();
    one.rank = from.rank;
    index_type const first = leaves.known.offsets[leaves.first];
    for (index_type const b : from.sent)
      for (index_type i = leaves.known.begin(leaves.first + b);
           i < leaves.known.end(leaves.first + b); ++i)
        one.sent.push_back(i - first);
    std::size_t const n_sent = one.sent.size();
    std::size_t const n =
        leaves.known.offsets[from.last_leaf] - leaves.known.offsets[from.first_leaf];
    one.x_sent = handle::of_size<T>(n_x() * n_sent);
    one.q_sent = handle::of_size<T>(n_q() * n_sent);
    one.x = handle::of_size<T>(n_x() * n);
    one.q = handle::of_size<T>(n_q() * n);
    one.collect_x = {{&watch}, positions.view(), one.sent};
    for_each_group(one.sent,
                   [&](std::size_t g, std::size_t begin, std::size_t end)
                   {
                     one.inputs.add(groups[g].q, {0, index_type(end - begin), &one.sent[begin],
                                                  0 - plan.groups[g].begin, nullptr,
                                                  static_cast<index_type>(begin)});
                   });
    finish(one.inputs, n_q(), false);
  }

  template <class T>
  void step_parts<T>::make_peer(int r, std::span<index_type const> sent,
                                std::span<index_type const> received, bool accumulate)
  {
    if (sent.empty() && received.empty()) return;
    step_peer<T>& one = peers.emplace_back();
    one.rank = r;
    one.sent = sent;
    one.received = received;
    one.collect_q = {{&watch}, columns.q.view(), sent};
    one.deliver = {{&watch}, columns.out.view(), sent, {}, accumulate};
    if (!sent.empty()) one.q_sent = handle::of_size<T>(n_q() * sent.size());
    if (!received.empty()) one.out_sent = handle::of_size<T>(n_out() * received.size());
    if (r != rank && !received.empty())
      one.q_received = handle::of_size<T>(n_q() * received.size());
    if (r != rank && !sent.empty()) one.out_received = handle::of_size<T>(n_out() * sent.size());
    // what one rank sends comes in the order of own points
    for_each_group(received,
                   [&](std::size_t g, std::size_t begin, std::size_t end)
                   {
                     one.outputs.add(groups[g].out, {0, index_type(end - begin), &received[begin],
                                                     0 - plan.groups[g].begin, nullptr,
                                                     static_cast<index_type>(begin)});
                   });
    finish(one.outputs, n_out(), false);
  }

  template <class T>
  void step_parts<T>::assemble_inputs()
  {
    for (step_peer<T> const& one : peers)
      for_each_group(one.received,
                     [&](std::size_t g, std::size_t begin, std::size_t end)
                     {
                       groups[g].inputs.add(one.arrived(rank),
                                            {0, index_type(end - begin), nullptr,
                                             static_cast<index_type>(begin), &one.received[begin],
                                             0 - plan.groups[g].begin});
                     });
    for (step_group<T>& one : groups) finish(one.inputs, n_q(), false);
  }

  template <class T>
  void step_parts<T>::finish(copies& what, std::size_t n_columns, bool adds)
  {
    what.argument = {{&watch}, static_cast<int>(n_columns), what.rows, adds};
  }

  template struct step_parts<float>;
  template struct step_parts<double>;
}
