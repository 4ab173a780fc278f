#include <nearfield/starpu/near_field.hpp>

#include "any_step.hpp"
#include "division.hpp"
#include "environment.hpp"
#include "list_tasks.hpp"
#include "p2p_codelet.hpp"
#include "rates.hpp"
#include "reorder.hpp"
#include "task.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/check.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/starpu/handles.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace nearfield::starpu::detail
{
  namespace
  {
    constexpr int first_of_all = std::numeric_limits<int>::max(); // a priority

    /// Throws nearfield::error for columns that fit neither the tree nor each other.
    template <class T>
    void check_arguments(leaf_groups_view const& groups, step_columns<T> const& columns)
    {
      namespace checks = nearfield::detail;
      char const* const name = "near_field";
      bool const has_one_set = columns.has_one_set;
      auto const x = columns.x.view(), y = columns.y.view(), q = columns.q.view();
      auto const out = columns.out.view();
      checks::check_sets(name, groups.has_one_set, has_one_set);
      checks::check_view(name, "x", x, groups.target_order.size());
      if (has_one_set) return checks::check_one_set(name, x, q, out);
      checks::check_view(name, "y", y, groups.source_order.size());
      checks::check_two_sets(name, x, y, q, out);
    }

    template <class T>
    division division_of(runtime const& starpu, leaf_groups_view const& groups, kernel<T> const& k,
                         step_columns<T> const& columns, step_options const& options)
    {
      auto const bytes = [](auto const& of)
      {
        return static_cast<double>(of.columns.size() * sizeof(T));
      };
      return divide(starpu, groups,
                    {*k.type,
                     columns.n_rhs,
                     {.source_x = bytes(columns.sources()),
                      .source_q = bytes(columns.q),
                      .target_x = columns.has_one_set ? 0 : bytes(columns.x),
                      .out = bytes(columns.out)},
                     [&](backend where, pair_form form)
                     {
                       return rate_of(k, form, where, groups);
                     }},
                    options);
    }
  }

  /// A step over the caller's columns.
  template <class T>
  class step final : public any_step<T>
  {
  public:
    step(runtime const& s, leaf_groups_view const& groups, kernel<T> const& interaction,
         step_columns<T> const& of_caller, step_options const& options)
        : starpu(s), delivery(options.delivery), k(interaction), columns(of_caller)
    {
      check_may_wait("near_field"); // its destructor waits
      check_arguments(groups, columns);
      division made = division_of(s, groups, k, columns, options);
      plan = std::move(made.plan);
      form_ = made.form;
      group_codelet = &list_codelet(form_, *k.type, made.where);
      cpu_codelet = made.where == backend::cuda ? nullptr : group_codelet;
      for (auto const& group : plan.groups)
        if (!group.is_for_gpus && !cpu_codelet)
          cpu_codelet = &list_codelet(form_, *k.type, backend::simd);

      source_x.add(plan.source_chunks, columns.sources().view(), groups.source_order, &watch);
      for (collected& q : source_q)
        q.add(plan.source_chunks, columns.q.view(), groups.source_order, &watch);
      if (!columns.has_one_set)
        target_x.add(plan.target_chunks, columns.x.view(), groups.target_order, &watch);

      std::size_t const n_out = columns.out.columns.size();
      p2p_argument argument = argument_of(k, &watch);
      argument.n_rhs = columns.n_rhs;
      if (made.cpu_rate > 0) argument.cpu_rate = made.cpu_rate;
      if (made.gpu_rate > 0) argument.gpu_rate = made.gpu_rate / workers_of_a_gpu();
      for (auto& group : plan.groups)
      {
        auto const n = group.targets.size();
        list.push_back(handle::of(group.list.data(), group.list.size()));
        out.push_back(handle::of_size<T>(n_out * n));
        if (form_ == pair_form::mutual)
          halo.push_back(handle::of_size<T>(n_out * std::max<index_type>(1, group.halo_size)));
        argument.work = group.interactions * columns.n_rhs;
        argument.head = &group.head;
        arguments.push_back(argument);
        deliveries.push_back({{&watch},
                              columns.out.view(),
                              groups.target_order.subspan(group.targets.begin, n),
                              group.pieces,
                              options.accumulate});
      }
      is_written.resize(plan.groups.size());
    }

    void submit() override
    {
      check_address_space(4, 2 * n_tasks()); // one of a group computes, one delivers
      if (positions_changed_)
      {
        source_x.submit();
        target_x.submit();
        positions_changed_ = false;
      }
      if (inputs_changed_)
      {
        // tasks of the last step read the other set
        int const next = 1 - newest_q;
        source_q[next].submit();
        newest_q = next;
        is_collected[next] = true;
        inputs_changed_ = false;
      }
      // larger ones first; where a scheduler knows priorities, sums are delivered while they are in cache
      int priority = static_cast<int>(n_tasks());
      for (std::size_t const g : plan.by_priority) submit_group(g, priority--);
      if (delivery == delivery_choice::every_step) submit_deliveries();
    }

    void deliver() override
    {
      if (delivery != delivery_choice::on_request) return;
      check_address_space(4, n_tasks());
      submit_deliveries();
    }

    void wait() override
    {
      if (std::ranges::any_of(plan.groups, [](auto const& group) { return group.is_for_gpus; }))
        poll_for_last_task();
      // those of CPU workers first: they are many, and asking for each takes time, in which the GPUs still compute
      for (std::size_t g = n_tasks(); g-- > 0;)
        if (is_written[g]) // StarPU aborts when data is read that no task has written
          wait_for_writers(out[g], "out");
      watch.rethrow();
    }

    void wait_for_inputs() override
    {
      for (int const set : {0, 1})
        if (is_collected[set])
          for (handle const& chunk : source_q[set].chunks) wait_for_writers(chunk, "q");
    }

    void positions_changed() override
    {
      if (!arguments.empty() && !arguments[0].ranges_may_coincide)
      {
        wait();
        for (auto& argument : arguments) argument.ranges_may_coincide = true;
      }
      positions_changed_ = true;
    }

    void inputs_changed() override { inputs_changed_ = true; }
    [[nodiscard]] pair_form form() const override { return form_; }
    [[nodiscard]] std::size_t n_tasks() const override { return plan.groups.size(); }
    [[nodiscard]] std::vector<worker_tasks> statistics() const override
    {
      return statistics_of(watch, *k.type);
    }

  private:
    /// Chunks of some columns, and the tasks that gather them from the caller's.
    struct collected
    {
      std::vector<collect_argument<T>> arguments;
      std::vector<handle> chunks; ///< last: they wait for the tasks

      void add(std::vector<nearfield::detail::point_interval> const& intervals,
               strided<T const, run_time_columns> const& from, std::span<index_type const> order,
               monitor* errors)
      {
        for (auto const& chunk : intervals)
        {
          auto const width = static_cast<std::size_t>(from.columns().width());
          chunks.push_back(handle::of_size<T>(width * chunk.size()));
          arguments.push_back({{errors}, from, order.subspan(chunk.begin, chunk.size())});
        }
      }

      void submit()
      {
        for (std::size_t c = 0; c < chunks.size(); ++c)
        {
          task one(collect_codelet<T>(), 1);
          one.add(chunks[c], STARPU_W);
          one.set_argument(&arguments[c], sizeof(arguments[c]));
          one.set_priority(first_of_all);
          one.submit();
        }
      }
    };

    void submit_group(std::size_t g, int priority)
    {
      auto const& group = plan.groups[g];
      bool const is_mutual = form_ == pair_form::mutual;
      bool const has_targets_apart = !columns.has_one_set;
      auto const n_sources = static_cast<unsigned>(group.source_chunks.size());
      task one(*(group.is_for_gpus ? group_codelet : cpu_codelet),
               2 + is_mutual + has_targets_apart + 2 * n_sources);
      one.add(list[g], STARPU_R);
      one.add(out[g], STARPU_W);
      if (is_mutual) one.add(halo[g], STARPU_W);
      for (std::size_t const chunk : group.source_chunks) one.add(source_x.chunks[chunk], STARPU_R);
      if (has_targets_apart) one.add(target_x.chunks[group.target_chunk], STARPU_R);
      for (std::size_t const chunk : group.source_chunks)
        one.add(source_q[newest_q].chunks[chunk], STARPU_R);
      one.set_argument(&arguments[g], sizeof(arguments[g]));
      one.set_priority(priority);
      one.submit();
      is_written[g] = true;
    }

    void submit_deliveries()
    {
      for (std::size_t g = 0; g < plan.groups.size(); ++g)
      {
        auto const& group = plan.groups[g];
        task one(deliver_codelet<T>(), 1 + static_cast<unsigned>(group.reached_from.size()));
        one.add(out[g], STARPU_RW); // only read, but wait() waits for those that write it
        for (std::size_t const from : group.reached_from) one.add(halo[from], STARPU_R);
        one.set_argument(&deliveries[g], sizeof(deliveries[g]));
        one.set_priority(first_of_all);
        one.submit();
      }
    }

    // StarPU stops after the handles are gone; tasks use everything that stands before the handles
    runtime starpu;
    monitor watch;
    delivery_choice delivery;
    pair_form form_;
    starpu_codelet* group_codelet; ///< of the groups for GPUs, if there are any
    starpu_codelet* cpu_codelet;   ///< of the others
    kernel<T> k;
    step_columns<T> columns;
    nearfield::detail::step_plan plan;
    std::vector<deliver_argument<T>> deliveries;
    std::vector<p2p_argument> arguments;
    bool positions_changed_ = true, inputs_changed_ = true;
    std::vector<bool> is_written; ///< by group: out, by a task that has been submitted
    int newest_q = 1;             ///< which of the two sets of inputs is that of the last step
    std::array<bool, 2> is_collected{};
    collected source_x, target_x; ///< target_x of two sets
    std::array<collected, 2> source_q;
    std::vector<handle> list, out, halo;
  };
}

namespace nearfield::starpu
{
  template <kernel_real T>
  near_field<T>::near_field(runtime const& starpu, leaf_groups_view const& groups,
                            detail::kernel<T> const& k, detail::step_columns<T> const& columns,
                            step_options const& options)
      : step_(std::make_unique<detail::step<T>>(starpu, groups, k, columns, options))
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
  void near_field<T>::wait_for_inputs()
  {
    step_->wait_for_inputs();
  }
  template <kernel_real T>
  void near_field<T>::positions_changed()
  {
    step_->positions_changed();
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

  template class near_field<float>;
  template class near_field<double>;
}
