#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/starpu/backends.hpp>
#include <nearfield/starpu/column_handles.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/kernel_of.hpp>
#include <nearfield/starpu/monitor.hpp>
#include <nearfield/starpu/task_options.hpp>

#include <starpu.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

namespace nearfield::starpu
{
  namespace detail
  {
    enum class array_form;
    struct p2p_handles;
  }

  /// P2P tasks of an interaction that only the constructor of p2p<K, T> knows: what every p2p can do. A function
  /// that takes a p2p_tasks<double>& takes those of all interactions.
  template <kernel_real T>
  class NEARFIELD_API p2p_tasks
  {
  public:
    p2p_tasks(p2p_tasks const&) = delete;
    p2p_tasks& operator=(p2p_tasks const&) = delete;

    /// x R, q R, out RW | COMMUTE
    [[nodiscard]] starpu_codelet* inner() const;
    /// x of targets R, y of sources R, q R, out RW | COMMUTE
    [[nodiscard]] starpu_codelet* outer() const;
    /// x R, x_q R, x_out RW | COMMUTE, y R, y_q R, y_out RW | COMMUTE. Throws error for an interaction without
    /// a way back.
    [[nodiscard]] starpu_codelet* outer_mutual() const;
    /// For STARPU_CL_ARGS_NFREE: the interaction of this object, and that tasks report to it.
    [[nodiscard]] void* argument();
    /// in bytes
    [[nodiscard]] std::size_t argument_size() const;

    /// out_i += sum_{j != i} K(x_i - x_j) q_j. Like all insert functions it returns at once. Throws error for
    /// handles that are no vectors or variables, of another precision, or whose sizes do not fit together; for
    /// an output that is an input too; for options that StarPU does not know; when StarPU is not running;
    /// and when no worker can run the task.
    void insert_inner(column_handles const& x, column_handles const& q, column_handles const& out,
                      task_options const& options = {});
    /// out_i += sum_j K(x_i - y_j) q_j
    void insert_outer(column_handles const& x, column_handles const& y, column_handles const& q,
                      column_handles const& out, task_options const& options = {});
    /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i. Let outputs share an
    /// arbiter (starpu_data_assign_arbiter), or such tasks wait for each other. Throws error for an
    /// interaction without a way back too.
    void insert_outer_mutual(column_handles const& x, column_handles const& x_q,
                             column_handles const& x_out, column_handles const& y,
                             column_handles const& y_q, column_handles const& y_out,
                             task_options const& options = {});

    /// Waits for all tasks of the process, and rethrows the first exception of a task of this object. Throws error
    /// where a worker calls it, in a codelet or a callback, which would wait for itself.
    void wait();
    /// Rethrows the first exception of those tasks of this object that have ended, and forgets it: for who
    /// waits for tasks in another way.
    void rethrow();

    /// How many tasks each worker has run with each implementation.
    [[nodiscard]] std::vector<worker_tasks> statistics() const;

  protected:
    /// Of p2p.
    p2p_tasks(detail::kernel<T> const& k, backend_set backends);
    /// Waits, as that of p2p does.
    ~p2p_tasks();

  private:
    struct shared;
    void insert(detail::array_form form, std::initializer_list<detail::p2p_handles> roles,
                task_options const& options);

    std::shared_ptr<shared> shared_; ///< with the tasks: they may outlive this object
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
  /// task; for those of its insert functions the destructor waits. Use codelets where they are: a task of a copy
  /// is lost.
  template <interaction K, kernel_real T>
  class p2p : public p2p_tasks<T>
  {
  public:
    /// Tasks with the implementations named, `{backend_choice::simd, backend_choice::cuda}` for instance.
    /// Throws error when the instruction set asked for is not available, when cuda is named and K or this
    /// build of nearfield has no CUDA kernels, and when cuda alone is named and StarPU has no GPU.
    template <class Isa = detail::isa_of_file>
    explicit p2p(K const& k = K(), backend_set backends = backend_choice::automatic)
        : p2p_tasks<T>(detail::kernel_of<T>(k), backends)
    {}
    /// Waits for the tasks of the insert functions and for their callbacks, for ever where a task
    /// waits for a tag that nobody submits. A worker (in a codelet or a callback), which would wait
    /// for itself, does not wait: the tasks keep what they need, and what they throw is lost.
    ~p2p() = default;

    /// The one of p2p_tasks, for interactions that have a way back.
    [[nodiscard]] starpu_codelet* outer_mutual() const requires nearfield::detail::has_way_back<K>
    {
      return p2p_tasks<T>::outer_mutual();
    }
    /// The one of p2p_tasks, for interactions that have a way back.
    void insert_outer_mutual(
        column_handles const& x, column_handles const& x_q, column_handles const& x_out,
        column_handles const& y, column_handles const& y_q, column_handles const& y_out,
        task_options const& options = {}) requires nearfield::detail::has_way_back<K>
    {
      p2p_tasks<T>::insert_outer_mutual(x, x_q, x_out, y, y_q, y_out, options);
    }
  };

  extern template class p2p_tasks<float>;
  extern template class p2p_tasks<double>;
}
