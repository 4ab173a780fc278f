#pragma once

#include <nearfield/p2p/check.hpp>
#include <nearfield/runtime/plan.hpp>
#include <nearfield/starpu/check.hpp>
#include <nearfield/starpu/gpu_memory.hpp>
#include <nearfield/starpu/group_leaves.hpp>
#include <nearfield/starpu/p2p_gather.hpp>
#include <nearfield/starpu/p2p_mutual_group.hpp>
#include <nearfield/starpu/reorder.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/starpu/task.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace nearfield::starpu
{
  /// How the pairs of a step become tasks. With the same groups and the same implementation, a step gives
  /// the same bits on any number of workers; but on GPUs the mutual form adds in no fixed order, and its
  /// results repeat within rounding.
  enum class form_choice
  {
    /// mutual for one set and an interaction with a way back, else gather; on GPUs mutual only where it was
    /// measured to be faster: leaves of 24 points on average with one output, of 128 with several
    automatic,
    gather, ///< one-sided: a task reads all that its group meets
    mutual  ///< each pair is evaluated once: about twice as fast on CPUs
  };

  /// When results go to the caller's columns.
  enum class delivery_choice
  {
    every_step,
    on_request ///< with deliver(); until then they stay where they were computed, as on a GPU
  };

  /// How a step through StarPU is done.
  struct near_field_options
  {
    /// add to the outputs; a step overwrites them otherwise
    bool accumulate = false;
    form_choice form = form_choice::automatic; ///< how pairs become tasks
    /// automatic: GPUs where the runtime has some, else CPUs
    backend_choice backend = backend_choice::automatic;
    /// when results go to the caller's columns
    delivery_choice delivery = delivery_choice::every_step;
  };
}

namespace nearfield::starpu::inline NEARFIELD_ISA_NAMESPACE
{
  /// The near field over the leaves of a tree, or over the cells of an open list of cells, as StarPU tasks.
  ///
  ///     out_i = sum over the sources j of the leaves that the leaf of i meets of K(x_i - y_j) q_j
  ///
  ///     nearfield::starpu::runtime    starpu;
  ///     auto const groups = nearfield::group_leaves(starpu, tree);
  ///     nearfield::starpu::near_field step{starpu, groups, nearfield::one_over_r<>{},
  ///                                        nearfield::soa{x, y, z}, nearfield::soa{q},
  ///                                        nearfield::soa{phi}};
  ///     step.submit();
  ///     step.wait();
  ///
  /// All columns are in the caller's order. With one set, i = j is left out. q may have k * n_in columns
  /// and out k * n_out, right-hand side after right-hand side. The tree of the groups and all columns
  /// must outlive the step; tasks read x, y, q and write out between submit() and wait(), q only until
  /// wait_for_inputs(). One thread at a
  /// time may call the functions of one step. Several steps may run at once, but not two that write the same
  /// columns: StarPU does not know of the caller's arrays, so wait() for one before the other is submitted.
  template <interaction K, kernel_real T, int NQ, int NOut>
  class near_field
  {
  public:
    /// One set, whose points are targets and sources. Throws error for views that differ in size from
    /// the tree, are null, or whose outputs overlap other columns, for the mutual form where it does not
    /// exist, when the instruction set asked for is not available, and when not even a small part of the
    /// step fits into the memory of a GPU. A step that as a whole does not is computed in more, smaller tasks
    /// than there are groups, and StarPU moves their data in and out.
    template <class X, class Q>
    near_field(runtime const& starpu, leaf_groups<K::dim> const& groups, K const& k,
               soa<X, K::dim> const& x, soa<Q, NQ> const& q, soa<T, NOut> const& out,
               near_field_options const& options = {})
        : near_field(one_set, starpu, groups, k, x, x, q, out, options)
    {}

    /// Two sets: targets x, sources y with inputs q.
    template <class X, class Y, class Q>
    near_field(runtime const& starpu, leaf_groups<K::dim> const& groups, K const& k,
               soa<X, K::dim> const& x, soa<Y, K::dim> const& y, soa<Q, NQ> const& q,
               soa<T, NOut> const& out, near_field_options const& options = {})
        : near_field(two_sets, starpu, groups, k, x, y, q, out, options)
    {}

    near_field(near_field const&) = delete;
    near_field& operator=(near_field const&) = delete;
    /// Waits for the tasks of the step.
    ~near_field() = default;

    /// Starts the step and returns at once. Steps that are submitted one after the other run in that
    /// order. Throws error when no worker can run a task. The tasks submitted before that one run all the
    /// same: until another submit() has returned and been waited for, or the step is gone, columns are in use
    /// and the outputs unspecified (for good, where they accumulate).
    void submit()
    {
      if (positions_changed_)
      {
        submit_collect(source_x_, collect_source_x_);
        submit_collect(target_x_, collect_target_x_);
        positions_changed_ = false;
      }
      if (inputs_changed_)
      {
        // tasks of the last step read the other set
        int const next = 1 - newest_q_;
        submit_collect(source_q_[next], collect_source_q_);
        newest_q_ = next;
        is_collected_[next] = true;
        inputs_changed_ = false;
      }
      // larger ones first; where a scheduler knows priorities, sums are delivered while they are in cache
      int priority = static_cast<int>(plan_.groups.size());
      for (std::size_t const g : plan_.by_priority) submit_group(g, priority--);
      if (delivery_ == delivery_choice::every_step) deliver_results();
    }

    /// Starts to bring the results of the last step to the caller's columns, with delivery on_request (with
    /// every_step they are on their way already, and nothing is done). Returns at once. With `accumulate`
    /// every call adds them.
    void deliver()
    {
      if (delivery_ == delivery_choice::on_request) deliver_results();
    }

    /// Returns when every step submitted so far has ended and what was to be delivered is. Rethrows the first
    /// exception of a task; the outputs are unspecified then.
    void wait()
    {
      for (std::size_t g = 0; g < out_.size(); ++g)
      {
        if (!is_written_[g]) continue; // StarPU aborts when data is read that no task has written
        detail::wait_for_writers(out_[g], "out");
      }
      monitor_.rethrow();
    }

    /// Returns when the inputs of every step submitted so far have been read: from then on the caller may
    /// change q, and after inputs_changed() submit the next step, while those steps are computed. Without
    /// it, that is so after wait().
    ///
    ///     for (...)
    ///     {
    ///       change(q);              // beside the tasks of the step before
    ///       step.inputs_changed();
    ///       step.submit();
    ///       step.wait_for_inputs();
    ///     }
    ///     step.wait();
    void wait_for_inputs()
    {
      for (int set : {0, 1})
        if (is_collected_[set])
          for (handle const& chunk : source_q_[set]) detail::wait_for_writers(chunk, "q");
    }

    /// The next submit() reads the caller's positions again. The tree stays as it is: pairs are those of
    /// the leaves in which the points were when it was built. The first call waits for the steps under
    /// way; from then on pairs of different leaves are tested for distance zero too.
    void positions_changed()
    {
      if (!arguments_.empty() && !arguments_[0].ranges_may_coincide)
      {
        wait();
        for (auto& argument : arguments_) argument.ranges_may_coincide = true;
      }
      positions_changed_ = true;
    }

    /// The next submit() reads the caller's inputs again. There is room for those of two steps: gathering them
    /// waits for the P2P tasks of the last step but one.
    void inputs_changed() { inputs_changed_ = true; }

    /// gather or mutual
    [[nodiscard]] form_choice form() const { return form_; }
    /// P2P tasks in one step
    [[nodiscard]] std::size_t n_tasks() const { return plan_.groups.size(); }

    /// How many P2P tasks each worker has run with each implementation, since the step was made.
    [[nodiscard]] std::vector<worker_tasks> statistics() const
    {
      return monitor_.tasks(gather_codelet::implementation_names());
    }

  private:
    static constexpr int n_rhs = nearfield::detail::right_hand_sides<K, NQ, NOut>();
    using gather_codelet = detail::codelet<detail::p2p_gather_operation<K, T>>;
    using collect_task = detail::collect_operation<T>;
    using deliver_task = detail::deliver_operation<T>;
    using intervals = std::vector<nearfield::detail::point_interval>;

    enum point_sets
    {
      one_set,
      two_sets
    };

    near_field(point_sets sets, runtime const& starpu, leaf_groups<K::dim> const& groups,
               K const& k, soa<T const, K::dim> const& x, soa<T const, K::dim> const& y,
               soa<T const, NQ> const& q, soa<T, NOut> const& out,
               near_field_options const& options)
        : runtime_(starpu), delivery_(options.delivery),
          backend_(choose_backend(starpu, options.backend)),
          form_(choose_form(groups, options.form, backend_)),
          codelet_(form_ == form_choice::mutual ? mutual_codelet(backend_)
                                                : gather_codelet::of(backend_)),
          k_(k)
    {
      detail::check_may_wait("near_field"); // its destructor waits
      leaf_groups_view const views = groups.view();
      check_arguments(sets, views, x, y, q, out);
      nearfield::detail::planner const plan = form_ == form_choice::mutual
                                                  ? &nearfield::detail::plan_mutual
                                                  : &nearfield::detail::plan_gather;
      if (backend_ == backend_choice::cuda)
        plan_ = nearfield::detail::plan_for_gpus(plan, views, bytes_of_a_point(sets),
                                                 detail::smallest_gpu_memory());
      else
        plan_ = plan(views, false, nearfield::detail::default_chunks);

      for (int d = 0; d < K::dim; ++d) source_x_columns_[d] = y[d];
      for (int d = 0; d < K::dim; ++d) target_x_columns_[d] = x[d];
      for (int c = 0; c < NQ; ++c) q_columns_[c] = q[c];
      for (int c = 0; c < NOut; ++c) out_columns_[c] = out[c];
      prepare_collect(plan_.source_chunks, source_x_columns_, views.source_order, source_x_,
                      collect_source_x_);
      for (auto& handles : source_q_)
      {
        collect_source_q_.clear();
        prepare_collect(plan_.source_chunks, q_columns_, views.source_order, handles,
                        collect_source_q_);
      }
      if (sets == two_sets)
        prepare_collect(plan_.target_chunks, target_x_columns_, views.target_order, target_x_,
                        collect_target_x_);

      for (auto& group : plan_.groups)
      {
        auto const n = group.targets.size();
        list_.push_back(handle::of(group.list.data(), group.list.size()));
        out_.push_back(handle::of_size<T>(std::size_t(NOut) * n));
        if (form_ == form_choice::mutual)
          halo_.push_back(
              handle::of_size<T>(std::size_t(NOut) * std::max<index_type>(1, group.halo_size)));
        arguments_.push_back({&k_, &monitor_, group.interactions * n_rhs, false, &group.head});
        deliver_.push_back({out_columns_, views.target_order.subspan(group.targets.begin, n),
                            group.pieces, options.accumulate, &monitor_});
      }
      is_written_.resize(plan_.groups.size());
    }

    static nearfield::detail::point_bytes bytes_of_a_point(point_sets sets)
    {
      double const value = sizeof(T);
      return {K::dim * value, NQ * value, sets == two_sets ? K::dim * value : 0, NOut * value};
    }

    static backend_choice choose_backend(runtime const& starpu, backend_choice wanted)
    {
      bool const can_use_gpus = has_cuda_codelets<K> && starpu.n_gpus() > 0;
      return wanted == backend_choice::automatic && can_use_gpus ? backend_choice::cuda : wanted;
    }

    static form_choice choose_form(leaf_groups<K::dim> const& groups, form_choice wanted,
                                   backend_choice backend)
    {
      bool const has_one_set = groups.view().has_one_set;
      bool const can_be_mutual = has_one_set && nearfield::detail::has_way_back<K>;
      if (wanted == form_choice::automatic)
      {
        bool const pays = backend != backend_choice::cuda ||
                          cuda_mutual_pays(groups.view().target_order.size(),
                                           groups.view().targets.size(), K::n_out);
        return can_be_mutual && pays ? form_choice::mutual : form_choice::gather;
      }
      if (wanted == form_choice::mutual && !can_be_mutual)
        throw error("near_field: form mutual, but " +
                    (has_one_set ? std::string(K::name) + " has no way back"
                                 : std::string("the tree has two sets")) +
                    "; take form gather");
      return wanted;
    }

    static starpu_codelet& mutual_codelet([[maybe_unused]] backend_choice backend)
    {
      if constexpr (nearfield::detail::has_way_back<K>)
        return detail::codelet<detail::p2p_mutual_group_operation<K, T>>::of(backend);
      else
        throw error("near_field: " + std::string(K::name) + " has no way back");
    }

    static void check_arguments(point_sets sets, leaf_groups_view const& groups,
                                soa<T const, K::dim> const& x, soa<T const, K::dim> const& y,
                                soa<T const, NQ> const& q, soa<T, NOut> const& out)
    {
      namespace checks = nearfield::detail;
      char const* const name = "near_field";
      if (groups.has_one_set != (sets == one_set))
        throw error(std::string(name) + ": the tree has " +
                    (groups.has_one_set ? "one set of points, the step is given two"
                                        : "two sets of points, the step is given one") +
                    "; build the tree from the same views");
      checks::check_view(name, "x", x, groups.target_order.size());
      if (sets == one_set) return checks::check_one_set(name, x, q, out);
      checks::check_view(name, "y", y, groups.source_order.size());
      checks::check_two_sets(name, x, y, q, out);
    }

    template <std::size_t N>
    void prepare_collect(intervals const& chunks, std::array<T const*, N> const& columns,
                         std::span<index_type const> order, std::vector<handle>& handles,
                         std::vector<typename collect_task::argument>& arguments)
    {
      for (auto const& chunk : chunks)
      {
        handles.push_back(handle::of_size<T>(N * chunk.size()));
        arguments.push_back({columns, order.subspan(chunk.begin, chunk.size()), &monitor_});
      }
    }

    static void submit_collect(std::vector<handle> const& handles,
                               std::vector<typename collect_task::argument>& arguments)
    {
      for (std::size_t c = 0; c < handles.size(); ++c)
      {
        detail::task task(detail::host_codelet<collect_task>::get(), 1);
        task.add(handles[c], STARPU_W);
        task.set_argument(&arguments[c], sizeof(arguments[c]));
        task.set_priority(std::numeric_limits<int>::max());
        task.submit();
      }
    }

    void submit_group(std::size_t g, int priority)
    {
      auto const& group = plan_.groups[g];
      bool const has_targets_apart = !target_x_.empty();
      auto const n_sources = static_cast<unsigned>(group.source_chunks.size());
      detail::task task(codelet_,
                        2 + (form_ == form_choice::mutual) + has_targets_apart + 2 * n_sources);
      task.add(list_[g], STARPU_R);
      task.add(out_[g], STARPU_W);
      if (form_ == form_choice::mutual) task.add(halo_[g], STARPU_W);
      for (std::size_t const chunk : group.source_chunks) task.add(source_x_[chunk], STARPU_R);
      if (has_targets_apart) task.add(target_x_[group.target_chunk], STARPU_R);
      for (std::size_t const chunk : group.source_chunks)
        task.add(source_q_[newest_q_][chunk], STARPU_R);
      task.set_argument(&arguments_[g], sizeof(arguments_[g]));
      task.set_priority(priority);
      task.submit();
      is_written_[g] = true;
    }

    void deliver_results()
    {
      for (std::size_t g = 0; g < plan_.groups.size(); ++g) submit_deliver(g);
    }

    void submit_deliver(std::size_t g)
    {
      auto const& group = plan_.groups[g];
      detail::task task(detail::host_codelet<deliver_task>::get(),
                        1 + static_cast<unsigned>(group.reached_from.size()));
      task.add(out_[g], STARPU_RW);
      for (std::size_t const from : group.reached_from) task.add(halo_[from], STARPU_R);
      task.set_argument(&deliver_[g], sizeof(deliver_[g]));
      task.set_priority(std::numeric_limits<int>::max());
      task.submit();
    }

    // StarPU stops after the handles are gone; tasks use everything that stands before the handles
    runtime runtime_;
    monitor monitor_;
    delivery_choice delivery_;
    backend_choice backend_;
    form_choice form_;
    starpu_codelet& codelet_;
    K k_;
    nearfield::detail::step_plan plan_;
    std::array<T const*, K::dim> source_x_columns_{}, target_x_columns_{};
    std::array<T const*, NQ> q_columns_{};
    std::array<T*, NOut> out_columns_{};
    std::vector<typename collect_task::argument> collect_source_x_, collect_target_x_,
        collect_source_q_;
    std::vector<typename deliver_task::argument> deliver_;
    std::vector<task_argument<K>> arguments_;
    bool positions_changed_ = true, inputs_changed_ = true;
    std::vector<bool> is_written_; ///< by group: out, by a task that has been submitted
    int newest_q_ = 1;             ///< which of the two sets of inputs is that of the last step
    std::array<bool, 2> is_collected_{};
    std::vector<handle> list_, source_x_, target_x_, out_, halo_;
    std::array<std::vector<handle>, 2> source_q_;
  };

  /// One set of points; as many right-hand sides as NQ has room for.
  template <interaction K, int Dim, class X, class Q, int NQ, class T, int NOut>
  near_field(runtime const&, leaf_groups<Dim> const&, K const&, soa<X, Dim> const&,
             soa<Q, NQ> const&, soa<T, NOut> const&, near_field_options const& = {})
      -> near_field<K, T, NQ, NOut>;

  /// Targets and sources.
  template <interaction K, int Dim, class X, class Y, class Q, int NQ, class T, int NOut>
  near_field(runtime const&, leaf_groups<Dim> const&, K const&, soa<X, Dim> const&,
             soa<Y, Dim> const&, soa<Q, NQ> const&, soa<T, NOut> const&,
             near_field_options const& = {}) -> near_field<K, T, NQ, NOut>;
}
