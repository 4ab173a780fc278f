#pragma once

#include <nearfield/starpu/check.hpp>
#include <nearfield/starpu/p2p_inner.hpp>
#include <nearfield/starpu/p2p_outer.hpp>
#include <nearfield/starpu/p2p_outer_mutual.hpp>
#include <nearfield/starpu/task.hpp>

#include <starpu.h>

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace nearfield::starpu::inline NEARFIELD_ISA_NAMESPACE
{
  /// P2P tasks on handles of your own, in your own task graph.
  ///
  /// Handles are StarPU vectors of T whose columns stand one after the other: x of n points has dim * n
  /// values, q has n_in * n, an output n_out * n; q and outputs of k right-hand sides k times as many.
  /// Tasks add to their outputs, which they access as STARPU_RW | STARPU_COMMUTE.
  ///
  ///     nearfield::starpu::p2p<nearfield::one_over_r<>, double> p2p;
  ///     p2p.insert_outer(x, y, q, phi);
  ///     starpu_task_insert(p2p.outer(), STARPU_R, x, STARPU_R, y, STARPU_R, q,
  ///                        STARPU_RW | STARPU_COMMUTE, phi, 0);                    // the same, raw
  ///
  /// A raw task computes with K() and reports to runtime::wait(); to give it this object's interaction
  /// and wait(), add `STARPU_CL_ARGS_NFREE, p2p.argument(), p2p.argument_size()`. The object must outlive
  /// its tasks.
  template <interaction K, kernel_real T>
  class p2p
  {
  public:
    /// Throws error when the instruction set asked for is not available.
    explicit p2p(K const& k = K(), backend_choice backend = backend_choice::automatic)
        : argument_{k, &monitor_, 0}, backend_(backend)
    {
      static_cast<void>(inner()); // throws here rather than in an insert function
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
    /// For raw tasks: STARPU_CL_ARGS_NFREE, argument(), argument_size().
    [[nodiscard]] void* argument() { return &argument_; }
    /// In bytes.
    [[nodiscard]] std::size_t argument_size() const { return sizeof(argument_); }

    /// out_i += sum_{j != i} K(x_i - x_j) q_j. Like all insert functions it returns at once, and throws
    /// error when no worker can run the task.
    void insert_inner(starpu_data_handle_t x, starpu_data_handle_t q, starpu_data_handle_t out)
    {
      insert(inner(), {x, q, out});
    }
    /// out_i += sum_j K(x_i - y_j) q_j
    void insert_outer(starpu_data_handle_t x, starpu_data_handle_t y, starpu_data_handle_t q,
                      starpu_data_handle_t out)
    {
      insert(outer(), {x, y, q, out});
    }
    /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i. Let outputs share an
    /// arbiter (starpu_data_assign_arbiter), or such tasks wait for each other.
    void insert_outer_mutual(starpu_data_handle_t x, starpu_data_handle_t x_q,
                             starpu_data_handle_t x_out, starpu_data_handle_t y,
                             starpu_data_handle_t y_q,
                             starpu_data_handle_t y_out) requires nearfield::detail::has_way_back<K>
    {
      insert(outer_mutual(), {x, x_q, x_out, y, y_q, y_out});
    }

    /// Waits for all tasks of the process, and rethrows the first exception of a task of this object: of
    /// sizes that do not fit together, for one.
    void wait()
    {
      check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
      monitor_.rethrow();
    }

    /// How many tasks each worker has run with each implementation.
    [[nodiscard]] std::vector<worker_tasks> statistics() const
    {
      using any = detail::codelet<detail::p2p_inner_operation<K, T>>;
      return monitor_.tasks(any::implementation_names());
    }

  private:
    template <template <class, class> class Operation>
    starpu_codelet* codelet() const
    {
      return &detail::codelet<Operation<K, T>>::of(backend_);
    }

    void insert(starpu_codelet* codelet, std::initializer_list<starpu_data_handle_t> handles)
    {
      detail::task task(*codelet, static_cast<unsigned>(handles.size()));
      int buffer = 0;
      for (starpu_data_handle_t const handle : handles) task.add(handle, codelet->modes[buffer++]);
      task.set_argument(&argument_, sizeof(argument_));
      task.submit();
    }

    monitor monitor_;
    task_argument<K> argument_;
    backend_choice backend_;
  };
}
