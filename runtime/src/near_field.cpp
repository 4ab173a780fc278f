#include <nearfield/starpu/near_field.hpp>

#include "environment.hpp"
#include "fit_memory.hpp"
#include "gpu_memory.hpp"
#include "list_tasks.hpp"
#include "p2p_codelet.hpp"
#include "reorder.hpp"
#include "task.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/check.hpp>
#include <nearfield/p2p/tuning.hpp>
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

    backend choose_backend(runtime const& starpu, interaction_shape const& k, backend wanted)
    {
      bool const can_use_gpus = k.has_cuda && starpu.n_gpus() > 0;
      return wanted == backend::automatic && can_use_gpus ? backend::cuda : wanted;
    }

    pair_form choose_form(leaf_groups_view const& groups, interaction_shape const& k, int n_rhs,
                          pair_form wanted, backend where)
    {
      bool const can_be_mutual = groups.has_one_set && k.has_way_back;
      if (wanted == pair_form::automatic)
      {
        bool const pays =
            where != backend::cuda ||
            cuda_mutual_pays(groups.target_order.size(), groups.targets.size(), k.n_out, n_rhs);
        return can_be_mutual && pays ? pair_form::mutual : pair_form::one_sided;
      }
      if (wanted == pair_form::mutual && !can_be_mutual)
        throw error("near_field: form mutual, but " +
                    (groups.has_one_set ? std::string(k.name) + " has no way back"
                                        : std::string("the tree has two sets")) +
                    "; take form one_sided");
      return wanted;
    }

    /// Throws error for columns that fit neither the tree nor each other.
    template <class T>
    void check_arguments(leaf_groups_view const& groups, step_columns<T> const& columns)
    {
      namespace checks = nearfield::detail;
      char const* const name = "near_field";
      bool const has_one_set = columns.has_one_set;
      auto const x = columns.x.view(), y = columns.y.view(), q = columns.q.view();
      auto const out = columns.out.view();
      if (groups.has_one_set != has_one_set)
        throw error(std::string(name) + ": the tree has " +
                    (groups.has_one_set ? "one set of points, the step is given two"
                                        : "two sets of points, the step is given one") +
                    "; build the tree from the same views");
      checks::check_view(name, "x", x, groups.target_order.size());
      if (has_one_set) return checks::check_one_set(name, x, q, out);
      checks::check_view(name, "y", y, groups.source_order.size());
      checks::check_two_sets(name, x, y, q, out);
    }

    template <class T>
    nearfield::detail::step_plan make_plan(leaf_groups_view const& groups,
                                           step_columns<T> const& columns, pair_form form,
                                           backend where)
    {
      nearfield::detail::planner const plan = form == pair_form::mutual
                                                  ? &nearfield::detail::plan_mutual
                                                  : &nearfield::detail::plan_gather;
      if (where != backend::cuda) return plan(groups, false, nearfield::detail::default_chunks);
      auto const bytes = [](auto const& of)
      {
        return static_cast<double>(of.columns.size() * sizeof(T));
      };
      return nearfield::detail::plan_for_gpus(
          plan, groups,
          {.source_x = bytes(columns.sources()),
           .source_q = bytes(columns.q),
           .target_x = columns.has_one_set ? 0 : bytes(columns.x),
           .out = bytes(columns.out)},
          smallest_gpu_memory());
    }
  }

  /// What a near_field is made of.
  template <class T>
  class step
  {
  public:
    step(runtime const& starpu, leaf_groups_view const& groups, kernel<T> const& k,
         step_columns<T> const& columns, step_options const& options)
        : runtime_(starpu), delivery_(options.delivery),
          backend_(choose_backend(starpu, *k.type, options.backend)),
          form_(choose_form(groups, *k.type, columns.n_rhs, options.form, backend_)),
          codelet_(list_codelet(form_ == pair_form::mutual ? list_form::mutual : list_form::gather,
                                *k.type, backend_)),
          k_(k), columns_(columns)
    {
      check_may_wait("near_field"); // its destructor waits
      check_arguments(groups, columns_);
      plan_ = make_plan(groups, columns_, form_, backend_);

      source_x_.add(plan_.source_chunks, columns_.sources().view(), groups.source_order, &monitor_);
      for (collected& q : source_q_)
        q.add(plan_.source_chunks, columns_.q.view(), groups.source_order, &monitor_);
      if (!columns_.has_one_set)
        target_x_.add(plan_.target_chunks, columns_.x.view(), groups.target_order, &monitor_);

      std::size_t const n_out = columns_.out.columns.size();
      p2p_argument argument = argument_of(k_, &monitor_);
      argument.n_rhs = columns_.n_rhs;
      for (auto& group : plan_.groups)
      {
        auto const n = group.targets.size();
        list_.push_back(handle::of(group.list.data(), group.list.size()));
        out_.push_back(handle::of_size<T>(n_out * n));
        if (form_ == pair_form::mutual)
          halo_.push_back(handle::of_size<T>(n_out * std::max<index_type>(1, group.halo_size)));
        argument.work = group.interactions * columns_.n_rhs;
        argument.head = &group.head;
        arguments_.push_back(argument);
        deliver_.push_back({{&monitor_},
                            columns_.out.view(),
                            groups.target_order.subspan(group.targets.begin, n),
                            group.pieces,
                            options.accumulate});
      }
      is_written_.resize(plan_.groups.size());
    }

    void submit()
    {
      if (positions_changed_)
      {
        source_x_.submit();
        target_x_.submit();
        positions_changed_ = false;
      }
      if (inputs_changed_)
      {
        // tasks of the last step read the other set
        int const next = 1 - newest_q_;
        source_q_[next].submit();
        newest_q_ = next;
        is_collected_[next] = true;
        inputs_changed_ = false;
      }
      // larger ones first; where a scheduler knows priorities, sums are delivered while they are in cache
      int priority = static_cast<int>(plan_.groups.size());
      for (std::size_t const g : plan_.by_priority) submit_group(g, priority--);
      if (delivery_ == delivery_choice::every_step) deliver_results();
    }

    void deliver()
    {
      if (delivery_ == delivery_choice::on_request) deliver_results();
    }

    void wait()
    {
      for (std::size_t g = 0; g < out_.size(); ++g)
      {
        if (!is_written_[g]) continue; // StarPU aborts when data is read that no task has written
        wait_for_writers(out_[g], "out");
      }
      monitor_.rethrow();
    }

    void wait_for_inputs()
    {
      for (int set : {0, 1})
        if (is_collected_[set])
          for (handle const& chunk : source_q_[set].chunks) wait_for_writers(chunk, "q");
    }

    void positions_changed()
    {
      if (!arguments_.empty() && !arguments_[0].ranges_may_coincide)
      {
        wait();
        for (auto& argument : arguments_) argument.ranges_may_coincide = true;
      }
      positions_changed_ = true;
    }

    void inputs_changed() { inputs_changed_ = true; }

    [[nodiscard]] pair_form form() const { return form_; }
    [[nodiscard]] std::size_t n_tasks() const { return plan_.groups.size(); }
    [[nodiscard]] std::vector<worker_tasks> statistics() const
    {
      return statistics_of(monitor_, *k_.type);
    }

  private:
    /// Chunks of some columns, and the tasks that gather them from the caller's.
    struct collected
    {
      std::vector<collect_argument<T>> arguments;
      std::vector<handle> chunks; ///< last: they wait for the tasks

      void add(std::vector<nearfield::detail::point_interval> const& intervals,
               strided<T const, run_time_columns> const& from, std::span<index_type const> order,
               monitor* watch)
      {
        for (auto const& chunk : intervals)
        {
          auto const width = static_cast<std::size_t>(from.columns().width());
          chunks.push_back(handle::of_size<T>(width * chunk.size()));
          arguments.push_back({{watch}, from, order.subspan(chunk.begin, chunk.size())});
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
      auto const& group = plan_.groups[g];
      bool const is_mutual = form_ == pair_form::mutual;
      bool const has_targets_apart = !columns_.has_one_set;
      auto const n_sources = static_cast<unsigned>(group.source_chunks.size());
      task one(codelet_, 2 + is_mutual + has_targets_apart + 2 * n_sources);
      one.add(list_[g], STARPU_R);
      one.add(out_[g], STARPU_W);
      if (is_mutual) one.add(halo_[g], STARPU_W);
      for (std::size_t const chunk : group.source_chunks)
        one.add(source_x_.chunks[chunk], STARPU_R);
      if (has_targets_apart) one.add(target_x_.chunks[group.target_chunk], STARPU_R);
      for (std::size_t const chunk : group.source_chunks)
        one.add(source_q_[newest_q_].chunks[chunk], STARPU_R);
      one.set_argument(&arguments_[g], sizeof(arguments_[g]));
      one.set_priority(priority);
      one.submit();
      is_written_[g] = true;
    }

    void deliver_results()
    {
      for (std::size_t g = 0; g < plan_.groups.size(); ++g)
      {
        auto const& group = plan_.groups[g];
        task one(deliver_codelet<T>(), 1 + static_cast<unsigned>(group.reached_from.size()));
        one.add(out_[g], STARPU_RW);
        for (std::size_t const from : group.reached_from) one.add(halo_[from], STARPU_R);
        one.set_argument(&deliver_[g], sizeof(deliver_[g]));
        one.set_priority(first_of_all);
        one.submit();
      }
    }

    // StarPU stops after the handles are gone; tasks use everything that stands before the handles
    runtime runtime_;
    monitor monitor_;
    delivery_choice delivery_;
    backend backend_;
    pair_form form_;
    starpu_codelet& codelet_;
    kernel<T> k_;
    step_columns<T> columns_;
    nearfield::detail::step_plan plan_;
    std::vector<deliver_argument<T>> deliver_;
    std::vector<p2p_argument> arguments_;
    bool positions_changed_ = true, inputs_changed_ = true;
    std::vector<bool> is_written_; ///< by group: out, by a task that has been submitted
    int newest_q_ = 1;             ///< which of the two sets of inputs is that of the last step
    std::array<bool, 2> is_collected_{};
    collected source_x_, target_x_; ///< target_x_ of two sets
    std::array<collected, 2> source_q_;
    std::vector<handle> list_, out_, halo_;
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
