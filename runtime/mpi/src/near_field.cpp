#include <nearfield/starpu_mpi/near_field.hpp>

#include "rank_plan.hpp"
#include "row_copies.hpp"

#include "any_step.hpp"
#include "environment.hpp"
#include "list_tasks.hpp"
#include "p2p_codelet.hpp"
#include "reorder.hpp"
#include "task.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/handles.hpp>

#include <starpu_mpi.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

namespace nearfield::starpu_mpi::detail
{
  using namespace starpu::detail;
  using starpu::handle;
  using starpu::monitor;

  namespace
  {
    constexpr int first_of_all = std::numeric_limits<int>::max(); // a priority

    /// What messages carry: each kind has a tag.
    enum message : std::int64_t
    {
      positions_of_layer,
      inputs_of_layer,
      inputs_of_caller,
      outputs_of_caller
    };

    backend choose_backend(backend wanted)
    {
      if (wanted == backend::cuda)
        throw error("near_field: backend cuda, but steps over ranks run on CPUs; take simd");
      return wanted == backend::automatic ? backend::simd : wanted;
    }

    pair_form choose_form(interaction_shape const& k, pair_form wanted)
    {
      if (wanted == pair_form::automatic)
        return k.has_way_back ? pair_form::mutual : pair_form::one_sided;
      check_form(true, k, wanted);
      return wanted;
    }
  }

  /// What a step needs of a tree, in two or three dimensions.
  struct tree_view
  {
    MPI_Comm comm;
    rank_leaves leaves;
    std::span<std::size_t const> sent_offsets, received_offsets; ///< as distributed_tree::journey
    std::span<index_type const> sent, received;
  };

  template <class T>
  class step
  {
  public:
    step(starpu::runtime const& s, tree_view const& tree, kernel<T> const& interaction,
         step_columns<T> const& of_caller, step_options const& options)
        : starpu(s), k(interaction), columns(of_caller), accumulate(options.accumulate),
          first_tag(options.first_tag), comm(tree.comm),
          form_(choose_form(*interaction.type, options.form)),
          inner_codelet(list_codelet(form_, *interaction.type, choose_backend(options.backend))),
          border_codelet(list_codelet(pair_form::one_sided, *interaction.type,
                                      choose_backend(options.backend)))
    {
      check_may_wait("near_field"); // its destructor waits
      MPI_Comm_rank(comm, &rank);
      auto const check = [&](char const* name, auto const& column)
      {
        nearfield::detail::check_view("near_field", name, column.view(), tree.sent.size());
      };
      check("q", columns.q);
      check("out", columns.out);
      plan = plan_rank(tree.leaves, form_, options.groups);
      own_points.resize(tree.received.size());
      std::iota(own_points.begin(), own_points.end(), index_type(0));
      make_groups();
      for (rank_layer const& other : tree.leaves.layers) make_layer(other, tree.leaves);
      for (std::size_t r = 0; r + 1 < tree.sent_offsets.size(); ++r)
        make_peer(static_cast<int>(r), part_of(tree.sent, tree.sent_offsets, r),
                  part_of(tree.received, tree.received_offsets, r));
      assemble_inputs();
    }

    void submit()
    {
      check_address_space(4, 8 * (groups.size() + layers.size() + peers.size()));
      if (sends_positions) submit_positions();
      sends_positions = false;
      if (sends_inputs) submit_inputs();
      sends_inputs = false;
      submit_groups(); // inside the rank
      submit_borders();
      submit_outputs();
      is_submitted = true;
    }

    void wait()
    {
      check_may_wait("wait");
      if (is_submitted)
        for (peer const& one : peers)
          if (one.n_sent() > 0) wait_for_writers(one.delivered(rank), "out");
      watch.rethrow();
    }

    void inputs_changed() { sends_inputs = true; }
    [[nodiscard]] pair_form form() const { return form_; }
    [[nodiscard]] std::size_t n_tasks() const
    {
      std::size_t n = 0;
      for (group const& one : groups) n += bool(one.inner_list) + bool(one.border_list);
      return n;
    }
    [[nodiscard]] std::vector<worker_tasks> statistics() const
    {
      return statistics_of(watch, *k.type);
    }

  private:
    using point_interval = nearfield::detail::point_interval;

    /// A task that copies rows, and the handles that it reads. Addresses must last.
    struct copies
    {
      std::vector<row_copy> rows;
      std::vector<starpu_data_handle_t> sources;
      copy_argument argument;

      void add(starpu_data_handle_t source, row_copy row)
      {
        row.source = sources.size();
        sources.push_back(source);
        rows.push_back(row);
      }
    };

    struct group
    {
      collect_argument<T> collect_x;
      p2p_argument inner, border;
      copies inputs; ///< from peers
      copies halos;  ///< mutual: sums that other groups made for this one
      handle inner_list, border_list, x, q, out, halo;
    };

    /// Another rank with leaves that touch own ones.
    struct layer
    {
      int rank;
      std::vector<index_type> sent; ///< own points, ascending
      collect_argument<T> collect_x;
      copies inputs; ///< from groups
      handle x_sent, q_sent, x, q;
    };

    /// A rank, maybe this one, that computes points of this rank's caller, or whose caller has points of this rank.
    struct peer
    {
      int rank;
      std::span<index_type const> sent;     ///< the caller's points that it computes
      std::span<index_type const> received; ///< own points that its caller has
      collect_argument<T> collect_q;
      deliver_argument<T> deliver;
      copies outputs; ///< from groups
      handle q_sent, q_received, out_sent, out_received;

      [[nodiscard]] std::size_t n_sent() const { return sent.size(); }
      [[nodiscard]] starpu_data_handle_t arrived(int here) const
      {
        return rank == here ? q_sent.get() : q_received.get();
      }
      [[nodiscard]] starpu_data_handle_t delivered(int here) const
      {
        return rank == here ? out_sent.get() : out_received.get();
      }
    };

    static std::span<index_type const> part_of(std::span<index_type const> points,
                                               std::span<std::size_t const> offsets, std::size_t r)
    {
      return points.subspan(offsets[r], offsets[r + 1] - offsets[r]);
    }
    [[nodiscard]] std::size_t n_x() const { return static_cast<std::size_t>(k.type->dim); }
    [[nodiscard]] std::size_t n_q() const { return columns.q.columns.size(); }
    [[nodiscard]] std::size_t n_out() const { return columns.out.columns.size(); }

    void make_groups()
    {
      for (std::size_t g = 0; g < plan.groups.size(); ++g)
      {
        group& one = groups.emplace_back();
        point_interval const points = plan.groups[g];
        std::size_t const n = points.size();
        one.x = handle::of_size<T>(n_x() * n);
        one.q = handle::of_size<T>(n_q() * n);
        one.out = handle::of_size<T>(n_out() * n);
        one.collect_x = {
            {&watch}, columns.x.view(), std::span(own_points).subspan(points.begin, n)};
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
        if (form_ == pair_form::mutual)
          one.halo =
              handle::of_size<T>(n_out() * std::max<index_type>(1, plan.inner[g]->halo_size));
      }
      if (form_ != pair_form::mutual) return;
      for (std::size_t g = 0; g < groups.size(); ++g)
      {
        auto const& of = *plan.inner[g];
        for (nearfield::detail::halo_piece const& piece : of.pieces)
          groups[g].halos.add(groups[of.reached_from[piece.halo] - plan.n_layers_before].halo,
                              {0, piece.size, nullptr, piece.halo_begin, nullptr, piece.begin});
        finish(groups[g].halos, n_out(), true);
      }
    }

    void make_layer(rank_layer const& from, rank_leaves const& leaves)
    {
      layer& one = layers.emplace_back();
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
      one.collect_x = {{&watch}, columns.x.view(), one.sent};
      for_each_group(one.sent,
                     [&](std::size_t g, std::size_t begin, std::size_t end)
                     {
                       one.inputs.add(groups[g].q, {0, index_type(end - begin), &one.sent[begin],
                                                    0 - plan.groups[g].begin, nullptr,
                                                    static_cast<index_type>(begin)});
                     });
      finish(one.inputs, n_q(), false);
    }

    void make_peer(int r, std::span<index_type const> sent, std::span<index_type const> received)
    {
      if (sent.empty() && received.empty()) return;
      peer& one = peers.emplace_back();
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

    void assemble_inputs()
    {
      for (peer const& one : peers)
        for_each_group(one.received,
                       [&](std::size_t g, std::size_t begin, std::size_t end)
                       {
                         groups[g].inputs.add(one.arrived(rank),
                                              {0, index_type(end - begin), nullptr,
                                               static_cast<index_type>(begin), &one.received[begin],
                                               0 - plan.groups[g].begin});
                       });
      for (group& one : groups) finish(one.inputs, n_q(), false);
    }

    void finish(copies& what, std::size_t n_columns, bool adds)
    {
      what.argument = {{&watch}, static_cast<int>(n_columns), what.rows, adds};
    }

    /// Calls f(group, begin, end) for the points [begin, end), which ascend, that are in a group.
    template <class F>
    void for_each_group(std::span<index_type const> points, F const& f) const
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

    template <class Argument>
    void submit_host_task(starpu_codelet& codelet, starpu_data_handle_t data,
                          starpu_data_access_mode mode, Argument& argument)
    {
      task one(codelet, 1);
      one.add(data, mode);
      one.set_argument(&argument, sizeof(argument));
      one.set_priority(first_of_all);
      one.submit();
    }

    void submit_copies(copies& what, starpu_data_handle_t to)
    {
      if (what.rows.empty()) return;
      task one(copy_codelet<T>(), 1 + static_cast<unsigned>(what.sources.size()));
      one.add(to, what.argument.adds ? STARPU_RW : STARPU_W);
      for (starpu_data_handle_t const source : what.sources) one.add(source, STARPU_R);
      one.set_argument(&what.argument, sizeof(what.argument));
      one.set_priority(first_of_all);
      one.submit();
    }

    void send(handle const& data, int to, message what) const
    {
      starpu::check(starpu_mpi_isend_detached(data, to, first_tag + what, comm, nullptr, nullptr),
                    "starpu_mpi_isend_detached to rank " + std::to_string(to));
    }
    void receive(handle const& data, int from, message what) const
    {
      starpu::check(starpu_mpi_irecv_detached(data, from, first_tag + what, comm, nullptr, nullptr),
                    "starpu_mpi_irecv_detached from rank " + std::to_string(from));
    }

    void submit_positions()
    {
      for (layer& one : layers)
      {
        submit_host_task(collect_codelet<T>(), one.x_sent, STARPU_W, one.collect_x);
        send(one.x_sent, one.rank, positions_of_layer);
        receive(one.x, one.rank, positions_of_layer);
      }
      for (group& one : groups)
        submit_host_task(collect_codelet<T>(), one.x, STARPU_W, one.collect_x);
    }

    void submit_inputs()
    {
      for (peer& one : peers)
      {
        if (one.q_sent) submit_host_task(collect_codelet<T>(), one.q_sent, STARPU_W, one.collect_q);
        if (one.q_sent && one.rank != rank) send(one.q_sent, one.rank, inputs_of_caller);
        if (one.q_received) receive(one.q_received, one.rank, inputs_of_caller);
      }
      for (group& one : groups) submit_copies(one.inputs, one.q);
      for (layer& one : layers)
      {
        submit_copies(one.inputs, one.q_sent);
        send(one.q_sent, one.rank, inputs_of_layer);
        receive(one.q, one.rank, inputs_of_layer);
      }
    }

    /// The data of a chunk of sources, as a plan counts them.
    [[nodiscard]] std::pair<starpu_data_handle_t, starpu_data_handle_t>
    source(std::size_t chunk) const
    {
      std::size_t const before = plan.n_layers_before;
      if (chunk >= before && chunk < before + groups.size())
        return {groups[chunk - before].x, groups[chunk - before].q};
      layer const& from = layers[chunk < before ? chunk : chunk - groups.size()];
      return {from.x, from.q};
    }

    void submit_p2p(starpu_codelet& codelet, nearfield::detail::group_plan const& of, group& to,
                    handle const& list, p2p_argument& argument, bool has_halo)
    {
      task one(codelet, 2 + has_halo + 2 * static_cast<unsigned>(of.source_chunks.size()));
      one.add(list, STARPU_R);
      one.add(to.out, argument.accumulates ? STARPU_RW : STARPU_W);
      if (has_halo) one.add(to.halo, STARPU_W);
      for (std::size_t const chunk : of.source_chunks) one.add(source(chunk).first, STARPU_R);
      for (std::size_t const chunk : of.source_chunks) one.add(source(chunk).second, STARPU_R);
      one.set_argument(&argument, sizeof(argument));
      one.submit();
    }

    void submit_groups()
    {
      for (std::size_t g = 0; g < groups.size(); ++g)
        if (plan.inner[g])
          submit_p2p(inner_codelet, *plan.inner[g], groups[g], groups[g].inner_list,
                     groups[g].inner, form_ == pair_form::mutual);
    }

    /// After those inside the rank, which need no messages; sums are added in this order in any case.
    void submit_borders()
    {
      for (std::size_t g = 0; g < groups.size(); ++g)
        if (plan.border[g])
          submit_p2p(border_codelet, *plan.border[g], groups[g], groups[g].border_list,
                     groups[g].border, false);
      for (group& one : groups) submit_copies(one.halos, one.out);
    }

    void submit_outputs()
    {
      for (peer& one : peers)
      {
        submit_copies(one.outputs, one.out_sent);
        if (one.out_sent && one.rank != rank) send(one.out_sent, one.rank, outputs_of_caller);
        if (one.out_received) receive(one.out_received, one.rank, outputs_of_caller);
        // only read, but wait() waits for those that write it
        if (one.n_sent() > 0)
          submit_host_task(deliver_codelet<T>(), one.delivered(rank), STARPU_RW, one.deliver);
      }
    }

    // StarPU stops after the handles are gone; tasks use everything that stands before the handles
    starpu::runtime starpu;
    monitor watch;
    kernel<T> k;
    step_columns<T> columns; ///< x: of own points; q and out: of the caller's
    bool accumulate;
    std::int64_t first_tag;
    MPI_Comm comm;
    int rank = 0;
    pair_form form_;
    starpu_codelet &inner_codelet, &border_codelet;
    rank_plan plan;
    std::vector<index_type> own_points;
    bool sends_positions = true, sends_inputs = true, is_submitted = false;
    // tasks know addresses of their members
    std::deque<group> groups;
    std::deque<layer> layers;
    std::deque<peer> peers;
  };
}

namespace nearfield::starpu_mpi
{
  namespace
  {
    template <class T, int Dim>
    detail::tree_view view_of(distributed_tree<T, Dim> const& tree)
    {
      auto const& way = tree.way();
      return {tree.communicator(),
              {tree.known_leaves(), tree.first_leaf(), tree.first_leaf() + tree.size(),
               tree.interactions(), tree.layers()},
              way.sent_offsets,
              way.received_offsets,
              way.sent,
              way.received};
    }

    template <class T, int Dim>
    starpu::detail::step_columns<T> with_positions(starpu::detail::step_columns<T> columns,
                                                   distributed_tree<T, Dim> const& tree)
    {
      columns.x = tree.positions();
      return columns;
    }
  }

  template <kernel_real T>
  template <int Dim>
  near_field<T>::near_field(starpu::runtime const& starpu, distributed_tree<T, Dim> const& tree,
                            starpu::detail::kernel<T> const& k,
                            starpu::detail::step_columns<T> const& columns,
                            step_options const& options)
      : step_(std::make_unique<detail::step<T>>(starpu, view_of(tree), k,
                                                with_positions(columns, tree), options))
  {}

  template <kernel_real T>
  near_field<T>::~near_field() = default;

  template <kernel_real T>
  void near_field<T>::submit()
  {
    step_->submit();
  }
  template <kernel_real T>
  void near_field<T>::wait()
  {
    step_->wait();
  }
  template <kernel_real T>
  void near_field<T>::inputs_changed()
  {
    step_->inputs_changed();
  }
  template <kernel_real T>
  pair_form near_field<T>::form() const
  {
    return step_->form();
  }
  template <kernel_real T>
  std::size_t near_field<T>::n_tasks() const
  {
    return step_->n_tasks();
  }
  template <kernel_real T>
  std::vector<worker_tasks> near_field<T>::statistics() const
  {
    return step_->statistics();
  }

#define NEARFIELD_INSTANTIATE(T)                                                                   \
  template class near_field<T>;                                                                    \
  template near_field<T>::near_field(starpu::runtime const&, distributed_tree<T, 2> const&,        \
                                     starpu::detail::kernel<T> const&,                             \
                                     starpu::detail::step_columns<T> const&, step_options const&); \
  template near_field<T>::near_field(starpu::runtime const&, distributed_tree<T, 3> const&,        \
                                     starpu::detail::kernel<T> const&,                             \
                                     starpu::detail::step_columns<T> const&, step_options const&);
  NEARFIELD_INSTANTIATE(float)
  NEARFIELD_INSTANTIATE(double)
#undef NEARFIELD_INSTANTIATE
}
