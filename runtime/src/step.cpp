#include "step.hpp"

#include "check_columns.hpp"
#include "environment.hpp"
#include "fit_memory.hpp"
#include "gpu_memory.hpp"
#include "list_tasks.hpp"
#include "task.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/cuda_list.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace nearfield::starpu::detail
{
  namespace
  {
    constexpr int first_of_all = std::numeric_limits<int>::max(); // a priority

    backend_choice choose_backend(runtime const& starpu, interaction_shape const& k,
                                  backend_choice wanted)
    {
      bool const can_use_gpus = k.has_cuda && starpu.n_gpus() > 0;
      return wanted == backend_choice::automatic && can_use_gpus ? backend_choice::cuda : wanted;
    }

    form_choice choose_form(leaf_groups_view const& groups, interaction_shape const& k,
                            form_choice wanted, backend_choice backend)
    {
      bool const can_be_mutual = groups.has_one_set && k.has_way_back;
      if (wanted == form_choice::automatic)
      {
        double const leaf_size =
            static_cast<double>(groups.target_order.size()) / std::max(1u, groups.targets.size());
        bool const pays =
            backend != backend_choice::cuda || leaf_size >= cuda_mutual_least_points(k.n_out);
        return can_be_mutual && pays ? form_choice::mutual : form_choice::gather;
      }
      if (wanted == form_choice::mutual && !can_be_mutual)
        throw error("near_field: form mutual, but " +
                    (groups.has_one_set ? std::string(k.name) + " has no way back"
                                        : std::string("the tree has two sets")) +
                    "; take form gather");
      return wanted;
    }

    template <class T>
    void check_arguments(leaf_groups_view const& groups, step_columns<T> const& columns)
    {
      if (groups.has_one_set != columns.has_one_set)
        throw error(std::string("near_field: the tree has ") +
                    (groups.has_one_set ? "one set of points, the step is given two"
                                        : "two sets of points, the step is given one") +
                    "; build the tree from the same views");
      column_list<T const> const &x = columns.x, &y = columns.y, &q = columns.q;
      std::size_t const n_sources = columns.has_one_set ? x.n : groups.source_order.size();
      check_columns("x", x, groups.target_order.size());
      if (!columns.has_one_set) check_columns("y", y, n_sources);
      check_columns("q", q, n_sources);
      check_columns("out", columns.out, x.n);
      check_apart(columns.out, "x", x);
      if (!columns.has_one_set) check_apart(columns.out, "y", y);
      check_apart(columns.out, "q", q);
      check_columns_apart(columns.out);
    }

    template <class T>
    nearfield::detail::step_plan make_plan(leaf_groups_view const& groups,
                                           step_columns<T> const& columns, form_choice form,
                                           backend_choice backend)
    {
      nearfield::detail::planner const plan = form == form_choice::mutual
                                                  ? &nearfield::detail::plan_mutual
                                                  : &nearfield::detail::plan_gather;
      if (backend != backend_choice::cuda)
        return plan(groups, false, nearfield::detail::default_chunks);
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

  template <class T>
  step<T>::step(runtime const& starpu, leaf_groups_view const& groups, kernel<T> const& k,
                step_columns<T> const& columns, near_field_options const& options)
      : runtime_(starpu), delivery_(options.delivery),
        backend_(choose_backend(starpu, *k.type, options.backend)),
        form_(choose_form(groups, *k.type, options.form, backend_)),
        codelet_(list_codelet(form_ == form_choice::mutual ? list_form::mutual : list_form::gather,
                              *k.type, backend_)),
        k_(k), columns_(columns)
  {
    check_may_wait("near_field"); // as its destructor does
    check_arguments(groups, columns_);
    plan_ = make_plan(groups, columns_, form_, backend_);

    source_x_.add(plan_.source_chunks, columns_.sources().columns, groups.source_order, &monitor_);
    for (collected& q : source_q_)
      q.add(plan_.source_chunks, columns_.q.columns, groups.source_order, &monitor_);
    if (!columns_.has_one_set)
      target_x_.add(plan_.target_chunks, columns_.x.columns, groups.target_order, &monitor_);

    std::size_t const n_out = columns_.out.columns.size();
    p2p_argument argument = argument_of(k_, &monitor_);
    for (auto& group : plan_.groups)
    {
      auto const n = group.targets.size();
      list_.push_back(handle::of(group.list.data(), group.list.size()));
      out_.push_back(handle::of_size<T>(n_out * n));
      if (form_ == form_choice::mutual)
        halo_.push_back(handle::of_size<T>(n_out * std::max<index_type>(1, group.halo_size)));
      argument.work = group.interactions * columns_.n_rhs;
      argument.head = &group.head;
      arguments_.push_back(argument);
      deliver_.push_back({{&monitor_},
                          columns_.out.columns,
                          groups.target_order.subspan(group.targets.begin, n),
                          group.pieces,
                          options.accumulate});
    }
    is_written_.resize(plan_.groups.size());
  }

  template <class T>
  void step<T>::submit()
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

  template <class T>
  void step<T>::deliver()
  {
    if (delivery_ == delivery_choice::on_request) deliver_results();
  }

  template <class T>
  void step<T>::wait()
  {
    for (std::size_t g = 0; g < out_.size(); ++g)
    {
      if (!is_written_[g]) continue; // StarPU aborts when data is read that no task has written
      wait_for_writers(out_[g], "out");
    }
    monitor_.rethrow();
  }

  template <class T>
  void step<T>::wait_for_inputs()
  {
    for (int set : {0, 1})
      if (is_collected_[set])
        for (handle const& chunk : source_q_[set].chunks) wait_for_writers(chunk, "q");
  }

  template <class T>
  void step<T>::positions_changed()
  {
    positions_changed_ = true;
    if (!arguments_.empty() && arguments_[0].ranges_may_coincide) return;
    wait();
    for (auto& argument : arguments_) argument.ranges_may_coincide = true;
  }

  template <class T>
  void step<T>::collected::add(std::vector<nearfield::detail::point_interval> const& intervals,
                               std::vector<T const*> const& columns,
                               std::span<index_type const> order, monitor* watch)
  {
    for (auto const& chunk : intervals)
    {
      chunks.push_back(handle::of_size<T>(columns.size() * chunk.size()));
      arguments.push_back({{watch}, columns, order.subspan(chunk.begin, chunk.size())});
    }
  }

  template <class T>
  void step<T>::collected::submit()
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

  template <class T>
  void step<T>::submit_group(std::size_t g, int priority)
  {
    auto const& group = plan_.groups[g];
    bool const is_mutual = form_ == form_choice::mutual;
    bool const has_targets_apart = !columns_.has_one_set;
    auto const n_sources = static_cast<unsigned>(group.source_chunks.size());
    task one(codelet_, 2 + is_mutual + has_targets_apart + 2 * n_sources);
    one.add(list_[g], STARPU_R);
    one.add(out_[g], STARPU_W);
    if (is_mutual) one.add(halo_[g], STARPU_W);
    for (std::size_t const chunk : group.source_chunks) one.add(source_x_.chunks[chunk], STARPU_R);
    if (has_targets_apart) one.add(target_x_.chunks[group.target_chunk], STARPU_R);
    for (std::size_t const chunk : group.source_chunks)
      one.add(source_q_[newest_q_].chunks[chunk], STARPU_R);
    one.set_argument(&arguments_[g], sizeof(arguments_[g]));
    one.set_priority(priority);
    one.submit();
    is_written_[g] = true;
  }

  template <class T>
  void step<T>::deliver_results()
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

  template class step<float>;
  template class step<double>;
}
