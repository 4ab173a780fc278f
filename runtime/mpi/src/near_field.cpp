#include <nearfield/starpu_mpi/near_field.hpp>

#include "step_parts.hpp"

#include "any_step.hpp"
#include "division.hpp"
#include "environment.hpp"
#include "gpu_clock.hpp"
#include "list_tasks.hpp"
#include "p2p_codelet.hpp"
#include "reorder.hpp"
#include "task.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/handles.hpp>

#include <starpu_mpi.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace nearfield::starpu_mpi::detail
{
  using namespace starpu::detail;

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
  }

  template <class T>
  class step
  {
  public:
    /// look() gives the tree as it is then.
    step(starpu::runtime const& s, std::function<tree_view<T>()> const& look,
         kernel<T> const& interaction, step_columns<T> const& with, step_options const& how)
        : starpu(s), k(interaction), columns(with), options(how), tree(look), comm(tree().comm)
    {
      make_parts({});
    }

    void submit()
    {
      check_address_space(4, 8 * (parts->groups.size() + parts->layers.size() +
                                  parts->peers.size() + parts->pieces.all.size()));
      if (sends_positions) submit_positions();
      sends_positions = false;
      if (sends_inputs) submit_inputs();
      sends_inputs = false;
      submit_groups(); // inside the rank
      submit_borders();
      is_submitted = true;
      if (options.delivery == starpu::delivery_choice::every_step) submit_outputs();
    }

    void deliver()
    {
      if (options.delivery != starpu::delivery_choice::on_request || !is_submitted) return;
      check_address_space(
          4, 4 * (parts->groups.size() + parts->peers.size() + parts->pieces.all.size()));
      submit_outputs();
    }

    void wait()
    {
      check_may_wait("wait");
      if (is_submitted)
      {
        // With every_step, a result that came back proves that groups were computed and, of one set, that inputs and
        // positions were read.
        bool const is_proved = options.delivery == starpu::delivery_choice::every_step;
        if (!is_proved)
          for (group const& one : parts->groups) wait_for(one.out, "out");
        if (!is_proved || !parts->has_one_set)
        {
          for (peer const& one : parts->peers) wait_for(one.q_sent, "q");
          for (piece const& one : parts->pieces.all) wait_for(one.q, "q");
        }
        if (is_delivered)
        {
          for (piece const& one : parts->pieces.all) wait_for(one.out, "out");
          for (peer const& one : parts->peers)
          {
            wait_for(one.out_received, "out");
            wait_for(one.out_sent, "out");
          }
        }
        if (!parts->has_one_set)
          for (group const& one : parts->groups) wait_for(one.x, "x");
        for (layer const& one : parts->layers) wait_for(one.x_sent, "x");
      }
      watch.rethrow();
    }

    void inputs_changed()
    {
      sends_inputs = true;
      if (parts) parts->pieces.have_inputs = false;
    }

    void positions_changed()
    {
      check_may_wait("positions_changed");
      is_submitted = is_delivered = false;
      caller_pieces<T> kept;
      if (parts) kept = std::move(parts->pieces);
      parts.reset(); // waits for messages, and its memory is there for the next
      make_parts(std::move(kept));
      sends_positions = sends_inputs = true;
      cpu_seconds_before = watch.seconds();
      gpu_seconds_before = clock.seconds();
    }

    [[nodiscard]] double seconds()
    {
      if (where == backend::cuda)
        return (clock.seconds() - gpu_seconds_before) /
               std::max(1u, starpu_cuda_worker_get_count());
      return (watch.seconds() - cpu_seconds_before) / std::max(1u, starpu_cpu_worker_get_count());
    }
    [[nodiscard]] pair_form form() const { return form_; }
    [[nodiscard]] std::size_t n_tasks() const
    {
      std::size_t n = 0;
      for (std::size_t g = 0; g < parts->groups.size(); ++g)
        n += parts->plan.inner[g].has_value() + parts->plan.border[g].has_value();
      return n;
    }
    [[nodiscard]] std::vector<worker_tasks> statistics() const
    {
      return statistics_of(watch, *k.type);
    }

  private:
    using group = step_group<T>;
    using layer = step_layer<T>;
    using peer = step_peer<T>;
    using piece = caller_piece<T>;

    // Of two sets, what has no targets or no sources has no data of them: these do nothing then.

    static void wait_for(handle const& data, char const* name)
    {
      if (data) wait_for_writers(data, name);
    }

    template <class Argument>
    void submit_copy(starpu_codelet& codelet, starpu_data_handle_t data,
                     starpu_data_access_mode mode, Argument& argument)
    {
      if (!data) return;
      task one(codelet, 1);
      one.add(data, mode);
      one.set_argument(&argument, sizeof(argument));
      one.set_priority(first_of_all);
      one.submit();
    }

    void submit_copies(copies& what, starpu_data_handle_t to) { submit_copies(what, to, where); }
    void submit_copies(copies& what, starpu_data_handle_t to, backend on)
    {
      if (what.rows.empty()) return;
      task one(copy_codelet<T>(on), 1 + static_cast<unsigned>(what.sources.size()));
      bool const reads = what.argument.kind == copy_kind::add || what.is_partial;
      one.add(to, reads ? STARPU_RW : STARPU_W);
      for (starpu_data_handle_t const source : what.sources) one.add(source, STARPU_R);
      one.set_argument(&what.argument, sizeof(what.argument));
      one.set_priority(first_of_all);
      one.submit();
    }

    void submit_list(step_list& what)
    {
      if (!what.upload.from.empty())
        submit_copy(upload_codelet(), what.data, STARPU_W, what.upload);
    }

    void submit_inputs_of_pieces()
    {
      auto& pieces = parts->pieces;
      if (pieces.read_pinned) return submit_pinned(*pieces.read_pinned, &piece::q, STARPU_W);
      for (piece& one : pieces.all)
        submit_copy(collect_codelet<T>(), one.q, STARPU_W, one.collect_q);
    }
    void submit_outputs_of_pieces()
    {
      auto& pieces = parts->pieces;
      if (pieces.write_pinned) return submit_pinned(*pieces.write_pinned, &piece::out, STARPU_RW);
      for (piece& one : pieces.all)
        submit_delivery(deliver_codelet<T>(), one.out, STARPU_R, one.deliver);
    }
    /// All pieces at once: the GPU starts each copy after the other without a task between them.
    void submit_pinned(pinned_columns_argument<T>& what, handle piece::*data,
                       starpu_data_access_mode mode)
    {
      task one(pinned_columns_codelet<T>(),
               static_cast<unsigned>(what.n_pieces) + what.to.has_value());
      for (piece const& part : parts->pieces.all) one.add(part.*data, mode);
      if (what.to) one.add(parts->pieces.delivery_order, STARPU_R);
      one.set_argument(&what, sizeof(what));
      one.set_priority(first_of_all);
      one.submit();
    }

    /// From pieces of the caller's columns to the data of a group, or back.
    void submit_caller_rows(caller_rows_argument& what, handle const& data)
    {
      if (what.n == 0) return;
      task one(caller_rows_codelet<T>(), 1 + static_cast<unsigned>(parts->pieces.all.size()));
      // rows from other ranks follow, by submit_copies()
      one.add(data, what.to_caller ? STARPU_R : STARPU_W);
      for (piece const& part : parts->pieces.all)
        if (what.to_caller)
          one.add(part.out, what.clears ? STARPU_W : STARPU_RW);
        else
          one.add(part.q, STARPU_R);
      one.set_argument(&what, sizeof(what));
      one.set_priority(first_of_all);
      one.submit();
    }

    void send(handle const& data, int to, message what) const
    {
      if (!data) return;
      starpu::check(
          starpu_mpi_isend_detached(data, to, options.first_tag + what, comm, nullptr, nullptr),
          "starpu_mpi_isend_detached to rank " + std::to_string(to));
    }
    void receive(handle const& data, int from, message what) const
    {
      if (!data) return;
      starpu::check(
          starpu_mpi_irecv_detached(data, from, options.first_tag + what, comm, nullptr, nullptr),
          "starpu_mpi_irecv_detached from rank " + std::to_string(from));
    }

    void submit_positions()
    {
      starpu_codelet& collect =
          parts->collects_on_gpu ? collect_on_gpu_codelet<T>() : collect_codelet<T>();
      for (group& one : parts->groups)
      {
        submit_copy(collect, one.x, STARPU_W, one.collect_x);
        submit_copy(collect, one.target_x, STARPU_W, one.collect_target_x);
      }
      for (layer& one : parts->layers)
      {
        submit_copies(one.positions, one.x_sent,
                      parts->collects_on_gpu ? where : backend::simd); // where they are
        send(one.x_sent, one.rank, positions_of_layer);
        receive(one.x, one.rank, positions_of_layer);
      }
      submit_copies(parts->others.positions, parts->others.x);
      for (group& one : parts->groups)
      {
        submit_list(one.inner_list);
        submit_list(one.border_list);
      }
    }

    void submit_inputs()
    {
      for (peer& one : parts->peers)
      {
        submit_copy(collect_codelet<T>(), one.q_sent, STARPU_W, one.collect_q);
        if (one.rank != parts->rank) send(one.q_sent, one.rank, inputs_of_caller);
        receive(one.q_received, one.rank, inputs_of_caller);
      }
      if (!parts->pieces.have_inputs) submit_inputs_of_pieces();
      parts->pieces.have_inputs = true;
      for (group& one : parts->groups)
      {
        submit_caller_rows(one.take, one.q);
        submit_copies(one.inputs, one.q);
      }
      for (layer& one : parts->layers)
      {
        submit_copies(one.inputs, one.q_sent);
        send(one.q_sent, one.rank, inputs_of_layer);
        receive(one.q, one.rank, inputs_of_layer);
      }
      submit_copies(parts->others.inputs, parts->others.q);
    }

    void submit_p2p(starpu_codelet& codelet, nearfield::detail::group_plan const& of, group& to,
                    handle const& list, p2p_argument& argument, bool has_halo)
    {
      bool const has_targets_apart = bool(to.target_x);
      bool const has_list = bool(list);
      task one(codelet, 1 + has_list + has_halo + has_targets_apart +
                            2 * static_cast<unsigned>(of.source_chunks.size()));
      if (has_list) one.add(list, STARPU_R);
      one.add(to.out, argument.accumulates ? STARPU_RW : STARPU_W);
      if (has_halo) one.add(to.halo, STARPU_W);
      for (std::size_t const chunk : of.source_chunks)
        one.add(parts->source(chunk).first, STARPU_R);
      if (has_targets_apart) one.add(to.target_x, STARPU_R);
      for (std::size_t const chunk : of.source_chunks)
        one.add(parts->source(chunk).second, STARPU_R);
      one.set_argument(&argument, sizeof(argument));
      one.submit();
    }

    void submit_groups()
    {
      for (std::size_t g = 0; g < parts->groups.size(); ++g)
        if (parts->plan.inner[g])
          submit_p2p(*inner_codelet, *parts->plan.inner[g], parts->groups[g],
                     parts->groups[g].inner_list.data, parts->groups[g].inner,
                     form_ == pair_form::mutual);
    }

    /// After those inside the rank, which need no messages; sums are added in this order in any case.
    void submit_borders()
    {
      for (std::size_t g = 0; g < parts->groups.size(); ++g)
        if (parts->plan.border[g])
          submit_p2p(*border_codelet, *parts->plan.border[g], parts->groups[g],
                     parts->groups[g].border_list.data, parts->groups[g].border, false);
      for (group& one : parts->groups) submit_copies(one.halos, one.out);
    }

    void submit_outputs()
    {
      is_delivered = true;
      for (group& one : parts->groups) submit_caller_rows(one.give, one.out);
      submit_outputs_of_pieces();
      auto const after_pieces = static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);
      for (peer& one : parts->peers)
      {
        submit_copies(one.to_caller, one.out_sent);
        if (one.rank != parts->rank) send(one.out_sent, one.rank, outputs_of_caller);
        receive(one.out_received, one.rank, outputs_of_caller);
        if (!one.outputs.sent.empty())
          submit_delivery(deliver_codelet<T>(), one.delivered(parts->rank), after_pieces,
                          one.deliver);
      }
    }

    /// Pieces have zeros for points of other ranks, so they are delivered first; results from peers follow, as they arrive.
    void submit_delivery(starpu_codelet& codelet, starpu_data_handle_t from,
                         starpu_data_access_mode order, deliver_argument<T>& argument)
    {
      handle const& pieces_first = parts->pieces.delivery_order;
      task one(codelet, 1 + bool(pieces_first));
      one.add(from, STARPU_RW); // only read, but wait() waits for those that write it
      if (pieces_first) one.add(pieces_first, order);
      one.set_argument(&argument, sizeof(argument));
      one.set_priority(first_of_all);
      one.submit();
    }

    void make_parts(caller_pieces<T>&& kept)
    {
      where = choose_backend(starpu, *k.type, options.backend);
      if (where == backend::automatic) where = backend::simd;
      try
      {
        make_parts_there(std::move(kept));
      }
      catch (error const& e)
      {
        bool const can_move = where == backend::cuda && options.backend == backend::automatic &&
                              starpu_cpu_worker_get_count() > 0;
        if (e.kind() != error_kind::out_of_memory || !can_move) throw;
        where = backend::simd;
        make_parts_there({});
      }
    }

    void make_parts_there(caller_pieces<T>&& kept)
    {
      tree_view<T> const of = tree();
      auto const& offsets = of.leaves.targets.offsets;
      index_type const first = of.leaves.first, last = of.leaves.last;
      form_ = choose_form(of.leaves.has_one_set, *k.type,
                          {offsets[last] - offsets[first], last - first, columns.n_rhs}, where,
                          options.form);
      inner_codelet = &list_codelet(form_, *k.type, where);
      border_codelet = &list_codelet(pair_form::one_sided, *k.type, where);
      step_options with = options;
      if (where == backend::cuda) with.groups.gpus = starpu.n_gpus();
      parts = std::make_unique<step_parts<T>>(
          of, k, columns, watch,
          rank_choice{where, form_, where == backend::cuda ? &clock : nullptr,
                      starpu.n_gpus() == 1 ? starpu.first_gpu() : std::nullopt},
          with, std::move(kept));
    }

    // StarPU stops after the handles are gone
    starpu::runtime starpu;
    starpu::monitor watch;
    kernel<T> k;
    step_columns<T> columns;
    step_options options;
    std::function<tree_view<T>()> tree;
    nearfield::detail::gpu_clock clock;
    backend where = backend::simd;
    pair_form form_ = pair_form::one_sided;
    starpu_codelet *inner_codelet = nullptr, *border_codelet = nullptr;
    MPI_Comm comm;
    bool sends_positions = true, sends_inputs = true, is_submitted = false, is_delivered = false;
    double cpu_seconds_before = 0, gpu_seconds_before = 0; ///< the tree was rebuilt
    std::unique_ptr<step_parts<T>> parts;
  };
}

namespace nearfield::starpu_mpi
{
  template <kernel_real T>
  template <int Dim>
  near_field<T>::near_field(starpu::runtime const& starpu, distributed_tree<T, Dim> const& tree,
                            starpu::detail::kernel<T> const& k,
                            starpu::detail::step_columns<T> const& columns,
                            step_options const& options)
      : step_(std::make_unique<detail::step<T>>(
            starpu, [&tree] { return detail::view_of(tree); }, k, columns, options))
  {}

  template <kernel_real T>
  near_field<T>::~near_field() = default;

  template <kernel_real T>
  void near_field<T>::submit()
  {
    step_->submit();
  }
  template <kernel_real T>
  void near_field<T>::deliver()
  {
    step_->deliver();
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
  void near_field<T>::positions_changed()
  {
    step_->positions_changed();
  }
  template <kernel_real T>
  double near_field<T>::seconds() const
  {
    return step_->seconds();
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
