#pragma once

#include "caller_rows.hpp"
#include "p2p_codelet.hpp"
#include "reorder.hpp"
#include "row_copies.hpp"
#include "shares.hpp"
#include "step_tree.hpp"

#include <nearfield/cuda/permutation.hpp>
#include <nearfield/starpu/handles.hpp>

#include <starpu.h>

#include <algorithm>
#include <array>
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

namespace nearfield::starpu::detail
{
  /// A task that copies rows, and the handles that it reads. Addresses must last.
  struct copies
  {
    std::vector<row_copy> rows;
    std::vector<starpu_data_handle_t> sources;
    copy_argument argument;
    bool is_partial = false; ///< leaves rows of the target as they are

    /// Rows [begin, end) of the list, whose entries are places from `base` on; or by n_runs runs of it.
    void add(starpu_data_handle_t source, starpu_data_handle_t list, std::size_t begin,
             std::size_t end, index_type base, std::size_t first_run = 0, std::size_t n_runs = 0)
    {
      rows.push_back({buffer(source), list ? buffer(list) : row_copy::no_list,
                      static_cast<index_type>(begin), static_cast<index_type>(end - begin), base,
                      static_cast<index_type>(first_run), static_cast<index_type>(n_runs)});
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

  /// A list of a task.
  struct step_list
  {
    upload_argument upload; ///< nothing, if tasks read it where it is
    handle data;
  };

  /// A chunk of the own sources.
  template <class T>
  struct step_sources
  {
    collect_argument<T> collect_x, collect_q;
    copies inputs; ///< from peers
    // none without points
    handle x;
    std::array<handle, 2> q; ///< the second set only where they are collected
  };

  /// A chunk of the own targets, of two sets.
  template <class T>
  struct step_targets
  {
    collect_argument<T> collect_x;
    handle x;
  };

  template <class T>
  struct step_group
  {
    p2p_argument inner, border;
    std::vector<index_type> positions; ///< of the first point of each buffer, if pairs are excluded
    /// to the caller's columns, of one process: by a CPU worker, which adds halos; otherwise pieces bring them there
    std::optional<deliver_argument<T>> deliver;
    copies halos;                        ///< mutual: sums that other groups made for this one
    std::vector<index_type> halo_places; ///< of the halo's rows, in the groups that they belong to
    step_list inner_list, border_list;
    handle out, halo, halo_list; ///< none without targets
  };

  /// A piece of the caller's columns, for a GPU. Results of points that CPU workers or other ranks compute are 0 there:
  /// those are delivered after.
  template <class T>
  struct caller_piece
  {
    collect_argument<T> collect_x, collect_q;
    deliver_argument<T> deliver;
    handle x, q, out; ///< x of one process
  };

  /// All pieces. Which points a piece has does not depend on the tree, so a move leaves inputs where they are.
  template <class T>
  struct caller_pieces
  {
    bool have_inputs = false; ///< those of the caller's columns, since they changed last
    /// where GPUs copy the caller's columns themselves, each a part of the pieces: each has a bus of its own
    std::vector<pinned_columns_argument<T>> pinned_x, pinned_q, pinned_out;
    handle
        delivery_order; ///< without values: results of peers and of CPU workers are delivered after the pieces
    handle order;                    ///< one process: points_view::order
    std::deque<caller_piece<T>> all; ///< tasks know addresses of their members
  };

  /// Another rank with leaves that touch own ones.
  template <class T>
  struct step_layer
  {
    int rank;
    std::vector<nearfield::detail::row_run> sent; ///< own sources, ascending; a run is of one chunk
    copies positions, inputs;                     ///< from chunks
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
    collect_argument<T> collect_q;
    deliver_argument<T> deliver;
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
    /// Inputs and outputs of `with` are the caller's. Tasks report to `reports`, and what they take on a GPU to `gpu_time`,
    /// unless that is null; these, `interaction` and `with` must outlive this object. Takes pieces that were made of
    /// `with` for another tree, if it needs some.
    step_parts(step_tree<T> const& tree, division&& made, kernel<T> const& interaction,
               step_columns<T> const& with, monitor& reports,
               nearfield::detail::gpu_clock* gpu_time, bool accumulate, caller_pieces<T>&& kept);

    /// The x and q of a chunk of sources, as a plan counts them.
    [[nodiscard]] std::pair<starpu_data_handle_t, starpu_data_handle_t>
    source(std::size_t chunk) const;

    [[nodiscard]] bool ranges_may_coincide() const;
    /// From now on; no task may be under way.
    void let_ranges_coincide();
    /// Reads the shifts of one process again. Waits for tasks that use those that have changed.
    void read_shifts();

    // tasks use everything that stands before the handles
    monitor& watch;
    nearfield::detail::gpu_clock* clock;
    kernel<T> const& k;
    step_columns<T> const& columns;
    bool has_one_set;
    bool is_local; ///< as in step_tree
    /// CPU workers copy between the caller's columns and the data of tasks; otherwise there are pieces or peers
    bool collects_inputs = false;
    bool collects_positions = true; ///< the same of positions, which workers also move into the box
    int rank;
    backend where;
    pair_form form;
    bool has_positions_on_gpu;
    std::shared_ptr<void const> memory;                               ///< of some of these columns
    std::shared_ptr<nearfield::detail::excluded_rows const> excluded; ///< as in step_tree
    column_list<T const> target_positions, source_positions;          ///< of own points
    std::optional<gpu_lists> lists_on_gpu; ///< instead of lists of groups
    nearfield::detail::task_plan plan;
    std::array<bool, 2> is_collected{}; ///< by set of inputs
    int newest_q = 0; ///< which of the two sets of inputs is that of the last step
    nearfield::detail::group_places placed;
    // tasks know addresses of their members
    decltype(step_tree<T>::shifts) shifts;
    std::vector<caller_rows_argument> take_x, take_q; ///< from pieces to chunks of sources, by GPU
    std::vector<caller_rows_argument> give; ///< from groups to pieces, one after the other
    std::deque<step_sources<T>> sources;
    std::deque<step_targets<T>> targets; ///< of two sets
    std::deque<step_group<T>> groups;
    std::deque<step_layer<T>> layers;
    joined_layers others;
    std::deque<step_peer<T>> peers;
    caller_pieces<T> pieces; ///< all points of the caller, if the GPU takes them

  private:
    void make_sources(points_view<T> const& of);
    void make_targets(points_view<T> const& of);
    void make_groups(points_view<T> const& of, division const& how, bool accumulate);
    /// Values that last as long as this object.
    template <class V>
    step_list make_list(std::span<V const> values) const;
    void make_halos();
    void make_layer(layer_view const& from, step_tree<T> const& tree);
    void join_layers();
    void make_peer(int r, shared_rows const& inputs, shared_rows const& outputs, bool accumulate);
    /// Those of this rank's own points, in parts, so that several workers copy the caller's columns.
    void make_own_peers(shared_rows const& inputs, shared_rows const& outputs, bool accumulate);
    void make_pieces(index_type n_points, int gpu, bool accumulate);
    /// Says which rows of the pieces chunks and groups have, each on the GPU of its group.
    void make_caller_rows(step_tree<T> const& tree);
    void assemble_inputs();
    void finish(copies& what, std::size_t n_columns, copy_kind kind);
    /// Calls f(i, begin, end) for the values [begin, end), whose points ascend, that are in interval i.
    template <class V, class F, class Point = std::identity>
    static void for_each_interval(std::span<V const> values,
                                  std::vector<nearfield::detail::point_interval> const& intervals,
                                  F const& f, Point point = {});

    [[nodiscard]] std::size_t n_x() const { return static_cast<std::size_t>(k.type->n_x); }
    [[nodiscard]] std::size_t n_q() const { return columns.q.columns.size(); }
    [[nodiscard]] std::size_t n_out() const { return columns.out.columns.size(); }
  };
}
