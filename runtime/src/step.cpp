#include "step.hpp"

#include "environment.hpp"
#include "list_tasks.hpp"
#include "p2p_codelet.hpp"
#include "reorder.hpp"
#include "task.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/handles.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace nearfield::starpu::detail
{
  namespace
  {
    constexpr int first_of_all = std::numeric_limits<int>::max(); // a priority

    // Of two sets, what has no targets or no sources has no data of them: functions do nothing then.
    void wait_for(handle const& data, char const* name)
    {
      if (data) wait_for_writers(data, name);
    }
  }

  template <class T>
  step<T>::step(runtime const& s, std::function<step_tree<T>()> look, kernel<T> const& interaction,
                step_columns<T> const& of_caller, step_options const& how,
                std::unique_ptr<messages> others)
      : starpu_(s), k_(interaction), columns_(of_caller), options_(how), look_(std::move(look)),
        others_(std::move(others))
  {
    check_may_wait("near_field"); // its destructor waits
    make_parts({});
  }

  template <class T>
  step<T>::~step() = default;

  template <class T>
  void step<T>::make_parts(caller_pieces<T>&& kept)
  {
    step_tree<T> const tree = look_();
    try
    {
      make_parts_on(tree, options_.backend, std::move(kept));
    }
    catch (error const& e)
    {
      bool const can_move = others_ && options_.backend == backend::automatic &&
                            starpu_.n_gpus() > 0 && starpu_cpu_worker_get_count() > 0;
      if (e.kind() != error_kind::out_of_memory || !can_move) throw;
      make_parts_on(tree, backend::simd, {});
    }
  }

  template <class T>
  void step<T>::make_parts_on(step_tree<T> const& tree, backend wanted, caller_pieces<T>&& kept)
  {
    division made = tree.divide(wanted);
    form_ = made.form;
    where_ = made.where;
    bool const is_timed = others_ && where_ == backend::cuda;
    auto parts = std::make_unique<step_parts<T>>(tree, std::move(made), k_, columns_, watch_,
                                                 is_timed ? &clock_ : nullptr, options_.accumulate,
                                                 std::move(kept));
    auto const codelets = [&](pair_form form, auto const& groups)
    {
      backend const of_cpus = where_ == backend::cuda ? backend::simd : where_;
      list_codelets of_form;
      for (auto const& group : groups)
      {
        if (!group) continue;
        starpu_codelet*& of_kind = group->is_for_gpus ? of_form.on_gpu : of_form.on_cpu;
        backend const on = group->is_for_gpus ? backend::cuda : of_cpus;
        if (!of_kind) of_kind = &list_codelet(form, *k_.type, on);
      }
      return of_form;
    };
    inner_ = codelets(form_, parts->plan.inner);
    border_ = codelets(pair_form::one_sided, parts->plan.border);
    parts_ = std::move(parts); // last: without them, submit() throws
  }

  template <class T>
  void step<T>::submit()
  {
    if (!parts_)
      throw error("near_field: positions_changed() has failed; call it again before submit()");
    check_address_space(4, parts_->collects_inputs
                               ? 2 * parts_->groups.size() // one computes, one delivers
                               : 8 * (parts_->groups.size() + parts_->layers.size() +
                                      parts_->peers.size() + parts_->pieces.all.size()));
    if (sends_positions_) submit_positions();
    sends_positions_ = false;
    if (sends_inputs_) submit_inputs();
    sends_inputs_ = false;
    submit_groups(); // inside the rank
    submit_borders();
    is_submitted_ = has_halos_to_add_ = true;
    if (options_.delivery == step_options::every_step) submit_outputs();
  }

  template <class T>
  void step<T>::deliver()
  {
    if (options_.delivery != step_options::on_request || !is_submitted_) return;
    check_address_space(
        4, 4 * (parts_->groups.size() + parts_->peers.size() + parts_->pieces.all.size()));
    submit_outputs();
  }

  template <class T>
  void step<T>::wait()
  {
    check_may_wait("wait");
    if (is_submitted_)
    {
      auto const is_for_gpus = [](auto const& part)
      {
        return part && part->is_for_gpus;
      };
      if (!others_ && std::ranges::any_of(parts_->plan.inner, is_for_gpus)) poll_for_last_task();
      // With every_step, a result that came back through pieces or peers proves that its group was computed and, of one
      // set, that inputs and positions were read.
      bool const is_proved =
          options_.delivery == step_options::every_step && !parts_->collects_inputs;
      // those of CPU workers first: they are many, and asking for each takes time, in which the GPUs still compute
      for (auto one = parts_->groups.rbegin(); one != parts_->groups.rend(); ++one)
        if (!is_proved || one->deliver) wait_for(one->out, "out");
      if (!is_proved || !parts_->has_one_set) wait_for_inputs();
      if (is_delivered_)
      {
        for (caller_piece<T> const& one : parts_->pieces.all) wait_for(one.out, "out");
        for (step_peer<T> const& one : parts_->peers)
        {
          wait_for(one.out_received, "out");
          wait_for(one.out_sent, "out");
        }
      }
      if (!parts_->has_one_set)
      {
        for (step_sources<T> const& one : parts_->sources) wait_for(one.x, "x");
        for (step_targets<T> const& one : parts_->targets) wait_for(one.x, "x");
      }
      for (step_layer<T> const& one : parts_->layers) wait_for(one.x_sent, "x");
    }
    watch_.rethrow();
  }

  template <class T>
  void step<T>::wait_for_inputs()
  {
    if (!is_submitted_) return;
    for (step_sources<T> const& one : parts_->sources)
      for (std::size_t set = 0; set < one.q.size(); ++set)
        if (parts_->is_collected[set]) wait_for(one.q[set], "q");
    for (caller_piece<T> const& one : parts_->pieces.all) wait_for(one.q, "q");
    for (step_peer<T> const& one : parts_->peers) wait_for(one.q_sent, "q");
  }

  template <class T>
  void step<T>::inputs_changed()
  {
    sends_inputs_ = true;
    if (parts_) parts_->pieces.have_inputs = false;
  }

  template <class T>
  void step<T>::positions_changed()
  {
    if (!others_)
    {
      if (!parts_->ranges_may_coincide())
      {
        wait();
        parts_->let_ranges_coincide();
      }
      parts_->read_shifts();
      sends_positions_ = true;
      return;
    }
    check_may_wait("positions_changed");
    is_submitted_ = is_delivered_ = false;
    caller_pieces<T> kept;
    if (parts_) kept = std::move(parts_->pieces);
    parts_.reset(); // waits for messages, and its memory is there for the next
    make_parts(std::move(kept));
    sends_positions_ = sends_inputs_ = true;
    cpu_seconds_before_ = watch_.seconds();
    gpu_seconds_before_ = clock_.seconds();
  }

  template <class T>
  double step<T>::seconds()
  {
    if (where_ == backend::cuda)
      return (clock_.seconds() - gpu_seconds_before_) /
             std::max(1u, starpu_cuda_worker_get_count());
    return (watch_.seconds() - cpu_seconds_before_) / std::max(1u, starpu_cpu_worker_get_count());
  }

  template <class T>
  std::size_t step<T>::n_tasks() const
  {
    std::size_t n = 0;
    for (std::size_t g = 0; g < parts_->groups.size(); ++g)
      n += parts_->plan.inner[g].has_value() + parts_->plan.border[g].has_value();
    return n;
  }

  template <class T>
  std::vector<monitor::worker_tasks> step<T>::statistics() const
  {
    return statistics_of(watch_, *k_.type);
  }

  template <class T>
  template <class Argument>
  void step<T>::submit_copy(starpu_codelet& codelet, starpu_data_handle_t data,
                            starpu_data_access_mode mode, Argument& argument)
  {
    if (!data) return;
    task one(codelet, argument, first_of_all);
    one.add(data, mode);
    one.submit();
  }

  template <class T>
  void step<T>::submit_copies(copies& what, starpu_data_handle_t to, backend on, int worker)
  {
    if (what.rows.empty()) return;
    task one(copy_codelet<T>(on), what.argument, first_of_all, worker);
    bool const reads = what.argument.kind == copy_kind::add || what.is_partial;
    one.add(to, reads ? STARPU_RW : STARPU_W);
    for (starpu_data_handle_t const source : what.sources) one.add(source, STARPU_R);
    one.submit();
  }

  template <class T>
  void step<T>::submit_list(step_list& what)
  {
    if (!what.upload.from.empty()) submit_copy(upload_codelet(), what.data, STARPU_W, what.upload);
  }

  /// Columns of the caller to pieces.
  template <class T>
  void step<T>::submit_pieces(std::vector<pinned_columns_argument<T>>& pinned,
                              handle caller_piece<T>::* data,
                              collect_argument<T> caller_piece<T>::* collect)
  {
    if (!pinned.empty()) return submit_pinned(pinned, data, STARPU_W);
    for (caller_piece<T>& one : parts_->pieces.all)
      submit_copy(collect_codelet<T>(), one.*data, STARPU_W, one.*collect);
  }

  /// All pieces of a GPU at once: it starts each copy after the other without a task between them.
  template <class T>
  void step<T>::submit_pinned(std::vector<pinned_columns_argument<T>>& of_gpus,
                              handle caller_piece<T>::* data, starpu_data_access_mode mode)
  {
    for (pinned_columns_argument<T>& what : of_gpus)
    {
      if (what.n_pieces == 0) continue;
      task one(pinned_columns_codelet<T>(), what, first_of_all, what.worker);
      for (std::size_t k = 0; k < what.n_pieces; ++k)
        one.add(parts_->pieces.all[what.first_piece + k].*data, mode);
      if (what.to) one.add(parts_->pieces.delivery_order, STARPU_R);
      one.submit();
    }
  }

  /// From pieces of the caller's columns to the data of chunks, or back from those of groups.
  template <class T>
  void step<T>::submit_caller_rows(std::vector<caller_rows_argument>& of_gpus,
                                   handle caller_piece<T>::* pieces)
  {
    auto const& all = parts_->pieces.all;
    for (caller_rows_argument& what : of_gpus)
    {
      if (what.data.empty()) continue;
      task one(caller_rows_codelet<T>(), what, first_of_all, what.worker);
      // rows from other ranks follow, by submit_copies()
      for (starpu_data_handle_t const data : what.data)
        one.add(data, what.to_caller ? STARPU_R : STARPU_W);
      auto const of_pieces = !what.to_caller ? STARPU_R : what.clears ? STARPU_W : STARPU_RW;
      for (caller_piece<T> const& part : all) one.add(part.*pieces, of_pieces);
      if (!what.list) one.add(parts_->pieces.order, STARPU_R);
      one.submit();
    }
  }

  template <class T>
  void step<T>::send(handle const& data, int to, message what)
  {
    if (data) others_->send(data, to, what);
  }
  template <class T>
  void step<T>::receive(handle const& data, int from, message what)
  {
    if (data) others_->receive(data, from, what);
  }

  template <class T>
  void step<T>::submit_positions()
  {
    auto& pieces = parts_->pieces;
    if (!parts_->collects_positions)
    {
      submit_pieces(pieces.pinned_x, &caller_piece<T>::x, &caller_piece<T>::collect_x);
      submit_caller_rows(parts_->take_x, &caller_piece<T>::x);
      for (caller_piece<T> const& one : pieces.all)
        starpu_data_invalidate_submit(one.x); // their memory may serve others
    }
    starpu_codelet& collect =
        collect_codelet<T>(parts_->has_positions_on_gpu ? backend::cuda : backend::scalar);
    if (parts_->collects_positions)
      for (step_sources<T>& one : parts_->sources)
        submit_copy(collect, one.x, STARPU_W, one.collect_x);
    for (step_targets<T>& one : parts_->targets)
      submit_copy(collect, one.x, STARPU_W, one.collect_x);
    for (step_layer<T>& one : parts_->layers)
    {
      submit_copies(one.positions, one.x_sent,
                    parts_->has_positions_on_gpu ? where_ : backend::simd); // where they are
      send(one.x_sent, one.rank, message::positions_of_layer);
      receive(one.x, one.rank, message::positions_of_layer);
    }
    submit_copies(parts_->others.positions, parts_->others.x, where_);
    for (step_group<T>& one : parts_->groups)
    {
      submit_list(one.inner_list);
      submit_list(one.border_list);
    }
  }

  template <class T>
  void step<T>::submit_inputs()
  {
    if (parts_->collects_inputs)
    {
      int const next = 1 - parts_->newest_q; // tasks of the last step read the other set
      for (step_sources<T>& one : parts_->sources)
        submit_copy(collect_codelet<T>(), one.q[next], STARPU_W, one.collect_q);
      parts_->newest_q = next;
      parts_->is_collected[next] = true;
      return;
    }
    for (step_peer<T>& one : parts_->peers)
    {
      submit_copy(collect_codelet<T>(), one.q_sent, STARPU_W, one.collect_q);
      if (one.rank != parts_->rank) send(one.q_sent, one.rank, message::inputs_of_caller);
      receive(one.q_received, one.rank, message::inputs_of_caller);
    }
    auto& pieces = parts_->pieces;
    if (!pieces.have_inputs)
      submit_pieces(pieces.pinned_q, &caller_piece<T>::q, &caller_piece<T>::collect_q);
    pieces.have_inputs = true;
    submit_caller_rows(parts_->take_q, &caller_piece<T>::q);
    for (step_sources<T>& one : parts_->sources) submit_copies(one.inputs, one.q.front(), where_);
    for (step_layer<T>& one : parts_->layers)
    {
      submit_copies(one.inputs, one.q_sent, where_);
      send(one.q_sent, one.rank, message::inputs_of_layer);
      receive(one.q, one.rank, message::inputs_of_layer);
    }
    submit_copies(parts_->others.inputs, parts_->others.q, where_);
  }

  template <class T>
  void step<T>::submit_p2p(list_codelets const& codelets, nearfield::detail::group_plan const& of,
                           step_group<T>& to, step_list const& list, p2p_argument& argument,
                           bool has_halo, int priority, int worker)
  {
    task one(*(of.is_for_gpus ? codelets.on_gpu : codelets.on_cpu), argument, priority, worker);
    if (list.data) one.add(list.data, STARPU_R);
    one.add(to.out, argument.accumulates ? STARPU_RW : STARPU_W);
    if (has_halo) one.add(to.halo, STARPU_W);
    for (std::size_t const chunk : of.source_chunks) one.add(parts_->source(chunk).first, STARPU_R);
    if (!parts_->has_one_set) one.add(parts_->targets[of.target_chunk].x, STARPU_R);
    for (std::size_t const chunk : of.source_chunks)
      one.add(parts_->source(chunk).second, STARPU_R);
    one.submit();
  }

  template <class T>
  void step<T>::submit_groups()
  {
    bool const has_priorities = !parts_->plan.by_priority.empty();
    auto const& order = parts_->placed.order;
    for (std::size_t i = 0; i < order.size(); ++i)
    {
      std::size_t const g = order[i];
      step_group<T>& group = parts_->groups[g];
      if (parts_->plan.inner[g])
        submit_p2p(inner_, *parts_->plan.inner[g], group, group.inner_list, group.inner,
                   form_ == pair_form::mutual,
                   has_priorities ? static_cast<int>(order.size() - i) : 0,
                   parts_->placed.worker[g]);
    }
  }

  /// After those inside the rank, which need no messages; sums are added in this order in any case.
  template <class T>
  void step<T>::submit_borders()
  {
    for (std::size_t g = 0; g < parts_->groups.size(); ++g)
      if (parts_->plan.border[g])
        submit_p2p(border_, *parts_->plan.border[g], parts_->groups[g],
                   parts_->groups[g].border_list, parts_->groups[g].border, false, 0,
                   parts_->placed.worker[g]);
  }

  /// Once after each submit().
  template <class T>
  void step<T>::submit_halos()
  {
    if (std::exchange(has_halos_to_add_, false))
      for (std::size_t g = 0; g < parts_->groups.size(); ++g)
        submit_copies(parts_->groups[g].halos, parts_->groups[g].out, where_,
                      parts_->placed.worker[g]);
  }

  template <class T>
  void step<T>::submit_outputs()
  {
    submit_halos();
    auto& pieces = parts_->pieces;
    submit_caller_rows(parts_->give, &caller_piece<T>::out);
    if (!pieces.pinned_out.empty())
      submit_pinned(pieces.pinned_out, &caller_piece<T>::out, STARPU_RW);
    else
      for (caller_piece<T>& one : pieces.all) submit_delivery(one.out, STARPU_R, one.deliver);
    auto const after_pieces = static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);
    for (std::size_t g = 0; g < parts_->groups.size(); ++g)
      if (step_group<T>& one = parts_->groups[g]; one.deliver)
        submit_delivery(one.out, after_pieces, *one.deliver, parts_->plan.inner[g]->reached_from);
    for (step_peer<T>& one : parts_->peers)
    {
      submit_copies(one.to_caller, one.out_sent, where_);
      if (one.rank != parts_->rank) send(one.out_sent, one.rank, message::outputs_of_caller);
      receive(one.out_received, one.rank, message::outputs_of_caller);
      if (!one.outputs.sent.empty())
        submit_delivery(one.delivered(parts_->rank), after_pieces, one.deliver);
    }
    is_delivered_ = true;
  }

  /// Pieces have zeros for points that others compute, so they are delivered first; results of groups on CPU workers and of
  /// peers follow, as they arrive.
  template <class T>
  void step<T>::submit_delivery(starpu_data_handle_t from, starpu_data_access_mode mode,
                                deliver_argument<T>& argument, std::span<std::size_t const> halos)
  {
    handle const& pieces_first = parts_->pieces.delivery_order;
    task one(deliver_codelet<T>(), argument, first_of_all);
    one.add(from, STARPU_RW); // only read, but wait() waits for those that write it
    for (std::size_t const group : halos) one.add(parts_->groups[group].halo, STARPU_R);
    if (pieces_first) one.add(pieces_first, mode);
    one.submit();
  }

  template class step<float>;
  template class step<double>;
}
