#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/kernel_of.hpp>
#include <nearfield/starpu/tasks.hpp>

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
  }

  /// The part of p2p<K, T> that does not depend on the type of the interaction: a function that takes a
  /// p2p_tasks<double>& accepts any interaction.
  template <nearfield::detail::kernel_real T>
  class NEARFIELD_API p2p_tasks
  {
  public:
    /// How the tasks of a p2p are done.
    struct options_type
    {
      /// the implementations among which StarPU's scheduler chooses: `{nf::simd, nf::cuda}`
      backend_set backend = nearfield::backend::automatic;
    };

    p2p_tasks(p2p_tasks const&) = delete;
    p2p_tasks& operator=(p2p_tasks const&) = delete;

    /// The codelet of insert_inner(). Buffers: x R, q R, out RW | COMMUTE.
    [[nodiscard]] starpu_codelet* inner() const;
    /// The codelet of insert_outer(). Buffers: x of targets R, y of sources R, q R, out RW | COMMUTE.
    [[nodiscard]] starpu_codelet* outer() const;
    /// The codelet of insert_outer_mutual(). Buffers: x R, y R, x_q R, y_q R, x_out RW | COMMUTE,
    /// y_out RW | COMMUTE. Throws nearfield::error for an interaction without a mutual form.
    [[nodiscard]] starpu_codelet* outer_mutual() const;
    /// The argument of raw tasks, for STARPU_CL_ARGS_NFREE: they use this object's interaction and report
    /// to it.
    [[nodiscard]] void* argument();
    /// The size of argument() in bytes.
    [[nodiscard]] std::size_t argument_size() const;

    /// out_i += sum_{j != i} K(x_i - x_j) q_j, in the mutual form if K has one (on a GPU its results repeat to
    /// within rounding). Like all insert functions, it returns at once. Throws nearfield::error if a handle is
    /// null, neither a vector nor a variable, or of another precision; if sizes do not match; if an output shares
    /// memory with another argument; for 2^31 - 1024 points or more; for invalid options; if StarPU is not
    /// running; and if no worker can run the task.
    void insert_inner(box_handles const& box, task_options const& options = {});
    /// out_i += sum_j K(x_i - y_j) q_j, with x and out of the targets, y and q of the sources
    void insert_outer(box_handles::targets const& targets, box_handles::sources const& sources,
                      task_options const& options = {});
    /// Both directions of insert_outer() between two boxes, with one evaluation per pair. Assign all outputs
    /// one arbiter (starpu_data_assign_arbiter); otherwise such tasks wait for each other. Also throws
    /// nearfield::error for an interaction without a mutual form.
    void insert_outer_mutual(box_handles const& one, box_handles const& other,
                             task_options const& options = {});

    /// Waits for all tasks of the process, then rethrows the first exception of this object's tasks. Throws
    /// nearfield::error if called by a worker, in a codelet or a callback, which would wait for itself, or if
    /// StarPU is not running.
    void wait();
    /// Rethrows the first exception of this object's tasks that have ended so far, and clears it. For programs
    /// that wait for tasks by other means.
    void rethrow();

    /// The number of tasks that each worker has run with each implementation.
    [[nodiscard]] std::vector<monitor::worker_tasks> statistics() const;

  protected:
    /// For p2p.
    p2p_tasks(detail::kernel<T> const& k, backend_set backends);
    /// Waits as ~p2p() does.
    ~p2p_tasks();

  private:
    struct shared;
    void insert(detail::array_form form, std::initializer_list<detail::column_handles const*> roles,
                task_options const& options);

    std::shared_ptr<shared> shared_; ///< also held by the tasks, which may outlive this object
  };

  /// P2P tasks on your handles, in your task graph.
  ///
  /// Handles are StarPU vectors of T, or variables of as many bytes. Either each column is a handle, or x, q
  /// and outputs are one handle each, with columns stored one after the other (box_handles). Tasks add to their
  /// outputs and access them as STARPU_RW | STARPU_COMMUTE, so they run in any order with each other and with your
  /// codelets that do the same. Outputs must have been written before, by you or by a task: StarPU aborts if a task
  /// reads a handle that has no value yet.
  ///
  ///     nearfield::starpu::p2p<nearfield::one_over_r<>, double> p2p;
  ///     p2p.insert_outer({.x = x, .out = phi}, {.x = y, .q = q});
  ///     starpu_task_insert(p2p.outer(), STARPU_R, x, STARPU_R, y, STARPU_R, q,
  ///                        STARPU_RW | STARPU_COMMUTE, phi, 0);                    // the same, raw
  ///
  /// This class neither starts StarPU nor makes or destroys arbiters: an output has the arbiter that you
  /// assign to it (starpu_data_assign_arbiter), or none. Raw tasks may also access outputs as STARPU_RW or
  /// STARPU_REDUX.
  ///
  /// A raw task computes with K(), or with default parameters of an any_interaction, and reports to runtime::wait().
  /// With `STARPU_CL_ARGS_NFREE, p2p.argument(), p2p.argument_size()` it uses this object's interaction and reports to
  /// this object, which must outlive it. For tasks of the insert functions, the destructor waits. Do not copy the
  /// codelets: they find their kernels by their address.
  template <detail::called_interaction K, nearfield::detail::kernel_real T>
  class p2p : public p2p_tasks<T>
  {
  public:
    /// Throws nearfield::error if NEARFIELD_ISA names an instruction set that is not available, if cuda is
    /// named and K or this build of nearfield has no CUDA kernels, and if only cuda is named and StarPU has
    /// no GPU worker.
    template <class Isa = detail::isa_of_file>
    explicit p2p(K const& k = K(), typename p2p_tasks<T>::options_type const& options = {})
        : p2p_tasks<T>(detail::kernel_of<T>(k), options.backend)
    {}
    /// Waits for the tasks of the insert functions and their callbacks; for ever if a task waits for a tag
    /// that is never submitted. Called by a worker (in a codelet or a callback), it does not wait, as the
    /// worker would wait for itself: the tasks keep what they need, and their exceptions are lost.
    ~p2p() = default;

    /// As in p2p_tasks, for interactions with a mutual form.
    [[nodiscard]] starpu_codelet* outer_mutual() const
      requires nearfield::detail::mutual_interaction<K>
    {
      return p2p_tasks<T>::outer_mutual();
    }
    /// As in p2p_tasks, for interactions with a mutual form.
    void insert_outer_mutual(box_handles const& one, box_handles const& other,
                             task_options const& options = {})
      requires nearfield::detail::mutual_interaction<K>
    {
      p2p_tasks<T>::insert_outer_mutual(one, other, options);
    }
  };

  extern template class p2p_tasks<float>;
  extern template class p2p_tasks<double>;
}
