#pragma once

#include <nearfield/starpu/check.hpp>
#include <nearfield/starpu/environment.hpp>
#include <nearfield/starpu/inline_vector.hpp>
#include <nearfield/starpu/p2p_inner.hpp>
#include <nearfield/starpu/p2p_outer.hpp>
#include <nearfield/starpu/p2p_outer_mutual.hpp>
#include <nearfield/starpu/task.hpp>

#include <starpu.h>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <vector>

namespace nearfield::starpu::inline NEARFIELD_ISA_NAMESPACE
{
  /// What a P2P task takes for x, q or out: one handle, or one for each column; all of a task alike.
  ///
  ///     p2p.insert_inner(x, q, out);                     // packed: x holds dim columns one after the other
  ///     p2p.insert_inner({hx, hy, hz}, {hq}, {hphi});    // columns, of vectors that you have already
  class column_handles
  {
  public:
    /// A packed handle.
    template <std::convertible_to<starpu_data_handle_t> Handle>
    column_handles(Handle const& packed) // NOLINT(google-explicit-constructor)
    {
      handles_.push_back(packed);
    }
    /// Those of the columns, in their order; of several right-hand sides behind one another.
    column_handles(std::initializer_list<starpu_data_handle_t> columns)
        : handles_(columns.begin(), columns.end())
    {}
    /// The same, of a vector of nearfield::starpu::handle, of an array ...
    template <std::ranges::input_range Columns>
    requires std::convertible_to<std::ranges::range_reference_t<Columns const&>,
                                 starpu_data_handle_t>
    column_handles(Columns const& columns) // NOLINT(google-explicit-constructor)
        : handles_(std::ranges::begin(columns), std::ranges::end(columns))
    {}

    /// the handles
    [[nodiscard]] std::span<starpu_data_handle_t const> get() const
    {
      return {handles_.begin(), handles_.end()};
    }

  private:
    detail::inline_vector<starpu_data_handle_t, 8> handles_;
  };

  /// P2P tasks on handles of your own, in your own task graph.
  ///
  /// Handles are StarPU vectors of T, or variables that hold as many bytes. Of n points, x has dim columns of n
  /// values, q n_in, an output n_out; q and outputs of k right-hand sides k times as many. Either each column
  /// is a handle, or x, q and outputs are one handle each, whose columns stand one after the other. Tasks add to
  /// their outputs, which they access as STARPU_RW | STARPU_COMMUTE: with one another and with your own codelets
  /// that do the same, they run in any order. Outputs must have been written before, by you or by a task: StarPU
  /// aborts where one reads data that has a handle but no value yet.
  ///
  ///     nearfield::starpu::p2p<nearfield::one_over_r<>, double> p2p;
  ///     p2p.insert_outer(x, y, q, phi);
  ///     starpu_task_insert(p2p.outer(), STARPU_R, x, STARPU_R, y, STARPU_R, q,
  ///                        STARPU_RW | STARPU_COMMUTE, phi, 0);                    // the same, raw
  ///
  /// Nothing here starts StarPU, or makes or destroys an arbiter: outputs have the one that you assign to them
  /// (starpu_data_assign_arbiter), or none. Raw tasks may access outputs as STARPU_RW or STARPU_REDUX too.
  ///
  /// A raw task computes with K() and reports to runtime::wait(); to give it this object's interaction
  /// and wait(), add `STARPU_CL_ARGS_NFREE, p2p.argument(), p2p.argument_size()`. The object must outlive such a
  /// task; for those of its insert functions the destructor waits.
  template <interaction K, kernel_real T>
  class p2p
  {
  public:
    /// Tasks with the implementations named, `{backend_choice::simd, backend_choice::cuda}` for instance.
    /// Throws error when the instruction set asked for is not available, when cuda is named and K or this
    /// build of nearfield has no CUDA kernels, and when cuda alone is named and StarPU has no GPU.
    explicit p2p(K const& k = K(), backend_set backends = backend_choice::automatic)
        : shared_(std::make_shared<shared>(k)), backends_(backends)
    {
      static_cast<void>(inner()); // throws here rather than in an insert function
    }
    /// Waits for the tasks of the insert functions and for their callbacks, for ever where a task
    /// waits for a tag that nobody submits. A worker (in a codelet or a callback), which would wait
    /// for itself, does not wait: the tasks keep what they need, and what they throw is lost.
    ~p2p()
    {
      if (detail::is_running() && starpu_worker_get_id() < 0) shared_->watch.wait();
    }
    p2p(p2p const&) = delete;
    p2p& operator=(p2p const&) = delete;

    /// x R, q R, out RW | COMMUTE
    [[nodiscard]] starpu_codelet* inner() const { return codelet<detail::p2p_inner_operation>(); }
    /// x of targets R, y of sources R, q R, out RW | COMMUTE
    [[nodiscard]] starpu_codelet* outer() const { return codelet<detail::p2p_outer_operation>(); }
    /// x R, x_q R, x_out RW | COMMUTE, y R, y_q R, y_out RW | COMMUTE
    [[nodiscard]] starpu_codelet* outer_mutual() const requires nearfield::detail::has_way_back<K>
    {
      return codelet<detail::p2p_outer_mutual_operation>();
    }
    /// For STARPU_CL_ARGS_NFREE: the interaction of this object, and that tasks report to it.
    [[nodiscard]] void* argument() { return &shared_->argument; }
    /// in bytes
    [[nodiscard]] std::size_t argument_size() const { return sizeof(shared_->argument); }

    /// out_i += sum_{j != i} K(x_i - x_j) q_j. Like all insert functions it returns at once. Throws error for
    /// handles that are no vectors or variables, of another precision, or whose sizes do not fit together; for
    /// an output that is an input too; for options that StarPU does not know; when StarPU is not running;
    /// and when no worker can run the task.
    void insert_inner(column_handles x, column_handles q, column_handles out,
                      task_options const& options = {})
    {
      insert<detail::p2p_inner_operation>({{x.get()}, {q.get()}, {out.get(), true}}, options);
    }
    /// out_i += sum_j K(x_i - y_j) q_j
    void insert_outer(column_handles x, column_handles y, column_handles q, column_handles out,
                      task_options const& options = {})
    {
      insert<detail::p2p_outer_operation>({{x.get()}, {y.get()}, {q.get()}, {out.get(), true}},
                                          options);
    }
    /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i. Let outputs share an
    /// arbiter (starpu_data_assign_arbiter), or such tasks wait for each other.
    void insert_outer_mutual(
        column_handles x, column_handles x_q, column_handles x_out, column_handles y,
        column_handles y_q, column_handles y_out,
        task_options const& options = {}) requires nearfield::detail::has_way_back<K>
    {
      insert<detail::p2p_outer_mutual_operation>({{x.get()},
                                                  {x_q.get()},
                                                  {x_out.get(), true},
                                                  {y.get()},
                                                  {y_q.get()},
                                                  {y_out.get(), true}},
                                                 options);
    }

    /// Waits for all tasks of the process, and rethrows the first exception of a task of this object. Throws error
    /// where a worker calls it, in a codelet or a callback, which would wait for itself.
    void wait()
    {
      detail::wait_for_all_tasks();
      rethrow();
    }
    /// Rethrows the first exception of those tasks of this object that have ended, and forgets it: for who
    /// waits for tasks in another way.
    void rethrow() { shared_->watch.rethrow(); }

    /// How many tasks each worker has run with each implementation.
    [[nodiscard]] std::vector<worker_tasks> statistics() const
    {
      using any = detail::codelet<detail::p2p_inner_operation<K, T>>;
      return shared_->watch.tasks(any::implementation_names());
    }

  private:
    /// With the tasks: they may outlive this object.
    struct shared
    {
      explicit shared(K const& of) : k(of) {}

      K const k;
      monitor watch;
      task_argument<K> argument{&k, &watch};
    };

    template <template <class, class> class Operation>
    starpu_codelet* codelet() const
    {
      return &detail::codelet<Operation<K, T>>::of(backends_);
    }

    template <template <class, class> class Operation>
    void insert(std::initializer_list<detail::p2p_handles> roles, task_options const& options)
    {
      std::size_t n = 0;
      for (auto const& role : roles) n += role.handles.size();
      detail::task task(*codelet<Operation>(), static_cast<unsigned>(n));
      // throws here what the task would
      static_cast<void>(Operation<K, T>::interactions(std::span(roles.begin(), roles.size())));
      for (auto const& role : roles)
        for (starpu_data_handle_t const data : role.handles) task.add(data, role.mode());
      task.set_argument(argument(), argument_size());
      task.set_options(options);
      task.set_owner({shared_, &shared_->watch});
      task.submit();
    }

    std::shared_ptr<shared> shared_;
    backend_set backends_;
  };
}
