#pragma once

#include "caller_rows.hpp"
#include "rank_plan.hpp"
#include "row_copies.hpp"

#include "any_step.hpp"
#include "on_device.hpp"
#include "p2p_codelet.hpp"
#include "part_lists.hpp"
#include "reorder.hpp"
#include "task.hpp"

#include <nearfield/cuda/permutation.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <starpu.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// \file
/// What the tasks and messages of a step use: its data, and the arguments of its tasks. Made once for each tree;
/// nothing runs.

namespace nearfield::starpu_mpi::detail
{
  using starpu::handle;

  /// Points of a set that one rank has and another computes.
  struct shared_rows
  {
    std::span<index_type const> sent;     ///< of this rank's caller
    std::span<index_type const> received; ///< own points, of the other's caller
  };

  /// What a step needs of one set of points.
  template <class T>
  struct points_view
  {
    std::span<std::size_t const> sent_offsets, received_offsets; ///< as distributed_tree::journey
    // of the points that stay on a rank these may be unknown before complete()
    std::span<index_type const> sent, received;
    std::function<void()> complete;
    /// of own points, on the host and on tree_view::gpu
    std::function<starpu::detail::column_list<T const>()> positions, positions_on_gpu;

    [[nodiscard]] shared_rows with_rank(std::size_t r) const
    {
      return {sent.subspan(sent_offsets[r], sent_offsets[r + 1] - sent_offsets[r]),
              received.subspan(received_offsets[r], received_offsets[r + 1] - received_offsets[r])};
    }
  };

  /// What a step needs of a tree, in two or three dimensions.
  template <class T>
  struct tree_view
  {
    MPI_Comm comm;
    executor* threads;             ///< of the tree, or null
    std::optional<int> gpu;        ///< that has positions and
    index_type const* caller_rows; ///< for each own target the caller's index, or no_row
    rank_leaves leaves;            ///< without lists:
    std::function<interaction_list()> lists;
    std::function<std::optional<gpu_lists>(pair_form)> lists_on_gpu;
    points_view<T> targets, sources; ///< the same, if there is one set
  };

  /// What is known of a tree without asking its GPU.
  struct tree_access
  {
    template <class T, int Dim>
    static auto const& way(distributed_tree<T, Dim> const& tree, bool of_sources)
    {
      return (of_sources ? tree.sources() : tree.targets()).way;
    }
    template <class T, int Dim>
    static index_type const* caller_rows(distributed_tree<T, Dim> const& tree)
    {
      return tree.caller_rows();
    }
    template <class T, int Dim>
    static std::optional<gpu_lists> lists_on_gpu(distributed_tree<T, Dim> const& tree,
                                                 pair_form form)
    {
      auto const made = tree.lists_on_gpu(form);
      if (!made) return {};
      nearfield::detail::on_device const here(*tree.gpu());
      cuda_backend const where{made->inner.leaves.stream};
      bool const is_mutual = form == pair_form::mutual;
      gpu_lists lists{
          made, is_mutual ? cuda_list::mutual(where, made->inner) : cuda_list(where, made->inner),
          cuda_list(where, made->border), made->inner.pairs, made->border.pairs};
      synchronize(where.stream); // tasks are in other streams
      return lists;
    }
  };

  template <class T, int Dim>
  tree_view<T> view_of(distributed_tree<T, Dim> const& tree)
  {
    using columns = starpu::detail::column_list<T const>;
    auto const points = [](auto const& way, std::function<void()> const& complete,
                           std::function<columns()> const& positions,
                           std::function<columns()> const& on_gpu)
    {
      return points_view<T>{way.sent_offsets,
                            way.received_offsets,
                            way.sent,
                            way.received,
                            complete,
                            positions,
                            on_gpu};
    };
    return {tree.communicator(),
            tree.threads(),
            tree.gpu(),
            tree_access::caller_rows(tree),
            {tree.known_leaves(),
             tree.known_sources(),
             tree.first_leaf(),
             tree.first_leaf() + tree.size(),
             {},
             tree.layers(),
             tree.has_one_set()},
            [&tree] { return tree.interactions(); },
            [&tree](pair_form form) { return tree_access::lists_on_gpu(tree, form); },
            points(
                tree_access::way(tree, false), [&tree] { static_cast<void>(tree.way()); },
                [&tree] { return columns(tree.positions()); },
                [&tree] { return columns(tree.positions_on_gpu()); }),
            points(
                tree_access::way(tree, true), [&tree] { static_cast<void>(tree.source_way()); },
                [&tree] { return columns(tree.source_positions()); },
                [&tree] { return columns(tree.source_positions_on_gpu()); })};
  }

  /// A task that copies rows, and the handles that it reads. Addresses must last.
  struct copies
  {
    std::vector<row_copy> rows;
    std::vector<starpu_data_handle_t> sources;
    copy_argument argument;
    bool is_partial = false; ///< leaves rows of the target as they are

    /// Rows [begin, end) of the list, whose entries are places from `base` on.
    void add(starpu_data_handle_t source, starpu_data_handle_t list, std::size_t begin,
             std::size_t end, index_type base)
    {
      rows.push_back({buffer(source), buffer(list), static_cast<index_type>(begin),
                      static_cast<index_type>(end - begin), base});
    }
    /// Rows [begin, begin + n) by n_runs runs of the list, whose places are from `base` on.
    void add_runs(starpu_data_handle_t source, starpu_data_handle_t list, std::size_t begin,
                  std::size_t n, index_type base, std::size_t first_run, std::size_t n_runs)
    {
      add(source, list, begin, begin + n, base);
      rows.back().first_run = static_cast<index_type>(first_run);
      rows.back().n_runs = static_cast<index_type>(n_runs);
    }
    /// All n rows of the source.
    void append(starpu_data_handle_t source, std::size_t begin, std::size_t n)
    {
      rows.push_back({buffer(source), row_copy::no_list, static_cast<index_type>(begin),
                      static_cast<index_type>(n), 0});
    }

  private:
    std::size_t buffer(starpu_data_handle_t of)
    {
      auto const at = std::ranges::find(sources, of);
      auto const place = static_cast<std::size_t>(at - sources.begin());
      if (at == sources.end()) sources.push_back(of);
      return place;
    }
  };

  /// Where the tasks of a rank run, and how.
  struct rank_choice
  {
    backend where;
    pair_form form;
    nearfield::detail::gpu_clock* clock; ///< of GPUs
    std::optional<int> gpu;              ///< if it is one
  };

  /// A list of a task.
  struct step_list
  {
    upload_argument upload; ///< nothing, if tasks read it where it is
    handle data;
  };

  template <class T>
  struct step_group
  {
    starpu::detail::collect_argument<T> collect_x, collect_target_x;
    starpu::detail::p2p_argument inner, border;
    caller_rows_argument take, give;     ///< GPUs: rows of this rank's caller; maybe none
    copies inputs;                       ///< from peers
    copies halos;                        ///< mutual: sums that other groups made for this one
    std::vector<index_type> halo_places; ///< of the halo's rows, in the groups that they belong to
    step_list inner_list, border_list;
    // none without sources, or without targets; target_x is for two sets
    handle x, q, target_x, out, halo, halo_list;
  };

  /// A piece of the caller's columns, for a GPU. Results of points that other ranks compute are 0 there: those are
  /// delivered after, by their peers.
  template <class T>
  struct caller_piece
  {
    starpu::detail::collect_argument<T> collect_q;
    starpu::detail::deliver_argument<T> deliver;
    handle q, out;
  };

  /// All pieces. Which points a piece has does not depend on the tree, so a move leaves inputs where they are.
  template <class T>
  struct caller_pieces
  {
    std::deque<caller_piece<T>> all; ///< tasks know addresses of their members
    bool have_inputs = false;        ///< those of the caller's columns, since they changed last
    /// where the GPU copies the caller's columns itself
    std::unique_ptr<pinned_columns_argument<T>> read_pinned, write_pinned;
    handle delivery_order; ///< without values: results of peers are delivered after the pieces
  };

  /// Another rank with leaves that touch own ones.
  template <class T>
  struct step_layer
  {
    int rank;
    std::vector<nearfield::detail::row_run> sent; ///< own sources, ascending; a run is of one group
    copies positions, inputs;                     ///< from groups
    handle sent_list, x_sent, q_sent, x, q;       ///< none without points
  };

  /// The points of all layers, of a rank with one group: its launch reads few sources, however many ranks are around it.
  struct joined_layers
  {
    std::size_t n = 0; ///< points
    copies positions, inputs;
    handle x, q;
  };

  /// A rank, maybe this one, that computes points of this rank's caller, or whose caller has points of this rank.
  template <class T>
  struct step_peer
  {
    int rank;
    shared_rows inputs, outputs;
    starpu::detail::collect_argument<T> collect_q;
    starpu::detail::deliver_argument<T> deliver;
    copies to_caller;                          ///< outputs, from groups
    handle received_targets, received_sources; ///< lists; of one set, the first is both
    handle q_sent, q_received, out_sent, out_received;

    [[nodiscard]] starpu_data_handle_t list_of_inputs() const
    {
      return received_sources ? received_sources.get() : received_targets.get();
    }
    [[nodiscard]] starpu_data_handle_t arrived(int here) const
    {
      return rank == here ? q_sent.get() : q_received.get();
    }
    [[nodiscard]] starpu_data_handle_t delivered(int here) const
    {
      return rank == here ? out_sent.get() : out_received.get();
    }
  };

  template <class T>
  struct step_parts
  {
    /// Inputs and outputs of `with` are the caller's. Tasks report to `reports`; it, `interaction` and `with` must
    /// outlive this object. Takes pieces that were made of `with` for another tree, if it needs some.
    step_parts(tree_view<T> const& tree, starpu::detail::kernel<T> const& interaction,
               starpu::detail::step_columns<T> const& with, starpu::monitor& reports,
               rank_choice const& how, step_options const& options, caller_pieces<T>&& kept);

    /// The x and q of a chunk of sources, as a plan counts them.
    [[nodiscard]] std::pair<starpu_data_handle_t, starpu_data_handle_t>
    source(std::size_t chunk) const;

    // tasks use everything that stands before the handles
    starpu::monitor& watch;
    starpu::detail::kernel<T> const& k;
    starpu::detail::step_columns<T> const& columns;
    bool has_one_set;
    bool collects_on_gpu; ///< positions, which are there
    starpu::detail::column_list<T const> target_positions, source_positions; ///< own ones
    int rank = 0;
    std::optional<gpu_lists> on_gpu; ///< instead of lists of groups
    rank_plan plan;
    // tasks know addresses of their members
    std::deque<step_group<T>> groups;
    std::deque<step_layer<T>> layers;
    joined_layers others;
    std::deque<step_peer<T>> peers;
    caller_pieces<T> pieces; ///< all points of this rank's caller, if its GPU takes them

  private:
    /// Sets the plan.
    void make_plan(tree_view<T> const& tree, rank_choice const& how, group_options const& options);
    void make_groups(rank_choice const& how);
    /// Values that last as long as this object.
    template <class V>
    step_list make_list(std::span<V const> values, backend where) const;
    void make_halos();
    void make_layer(rank_layer const& from, rank_leaves const& leaves);
    void join_layers();
    void make_peer(int r, shared_rows const& inputs, shared_rows const& outputs, bool accumulate);
    /// Those of this rank's own points, in parts, so that several workers copy the caller's columns.
    void make_own_peers(shared_rows const& inputs, shared_rows const& outputs, bool accumulate);
    /// Whether the caller's columns go to the GPU whole: most of its points are own ones, and there is memory.
    [[nodiscard]] bool takes_pieces(std::size_t n_own, std::size_t n_points) const;
    void make_pieces(index_type n_points, int gpu, bool accumulate);
    /// Says which rows of the pieces the groups have.
    void make_caller_rows(index_type const* caller_rows, index_type n_points);
    void assemble_inputs();
    void finish(copies& what, std::size_t n_columns, copy_kind kind);
    /// Calls f(group, begin, end) for the values [begin, end), whose points ascend, that are in a group.
    template <class V, class F, class Point = std::identity>
    static void for_each_group(std::span<V const> values,
                               std::vector<nearfield::detail::point_interval> const& groups,
                               F const& f, Point point = {});

    [[nodiscard]] std::size_t n_x() const { return static_cast<std::size_t>(k.type->dim); }
    [[nodiscard]] std::size_t n_q() const { return columns.q.columns.size(); }
    [[nodiscard]] std::size_t n_out() const { return columns.out.columns.size(); }
  };
}
