#pragma once

#include "any_step.hpp"
#include "core/src/cuda/gpu_clock.hpp"
#include "messages.hpp"
#include "step_parts.hpp"
#include "step_tree.hpp"

#include <nearfield/starpu/kernel_of.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace nearfield::starpu::detail
{
  /// A step over the caller's columns, with the tree of one process or with that of a rank.
  template <class T>
  class NEARFIELD_API step final : public any_step<T>
  {
  public:
    /// look() returns the tree in its present state, and may be collective. In one process `others` is null, and look() is called once.
    step(runtime const& s, std::function<step_tree<T>()> look, kernel<T> const& interaction,
         step_columns<T> const& of_caller, step_options const& how,
         std::unique_ptr<messages> others = nullptr);
    ~step() override;

    void submit() override;
    void deliver() override;
    void wait() override;
    void wait_for_inputs() override;
    /// One process keeps its tree. A rank has a new tree, for which this makes tasks.
    void positions_changed() override;
    void inputs_changed() override;
    [[nodiscard]] pair_form form() const override { return form_; }
    [[nodiscard]] std::size_t n_tasks() const override;
    [[nodiscard]] std::vector<monitor::worker_tasks> statistics() const override;
    /// Ranks only: the time of P2P tasks since the tasks were made, as the mean over the workers that run them.
    [[nodiscard]] double seconds();

  private:
    struct list_codelets
    {
      starpu_codelet *on_cpu = nullptr, *on_gpu = nullptr;
    };

    void make_parts(caller_pieces<T>&& kept);
    void make_parts_on(step_tree<T> const& tree, backend wanted, caller_pieces<T>&& kept);

    void submit_positions();
    void submit_inputs();
    void submit_groups();
    void submit_borders();
    void submit_halos();
    void submit_outputs();

    template <class Argument>
    void submit_copy(starpu_codelet& codelet, starpu_data_handle_t data,
                     starpu_data_access_mode mode, Argument& argument);
    void submit_copies(copies& what, starpu_data_handle_t to, backend on, int worker = -1);
    void submit_list(step_list& what);
    void submit_pieces(std::vector<pinned_columns_argument<T>>& pinned,
                       handle caller_piece<T>::* data,
                       collect_argument<T> caller_piece<T>::* collect);
    void submit_pinned(std::vector<pinned_columns_argument<T>>& of_gpus,
                       handle caller_piece<T>::* data, starpu_data_access_mode mode);
    void submit_caller_rows(std::vector<caller_rows_argument>& of_gpus,
                            handle caller_piece<T>::* pieces);
    void submit_p2p(list_codelets const& codelets, nearfield::detail::group_plan const& of,
                    step_group<T>& to, step_list const& list, p2p_argument& argument, bool has_halo,
                    int priority, int worker);
    void submit_delivery(starpu_data_handle_t from, starpu_data_access_mode mode,
                         deliver_argument<T>& argument, std::span<std::size_t const> halos = {});
    void send(handle const& data, int to, message what);
    void receive(handle const& data, int from, message what);

    // StarPU stops after the handles are gone
    runtime starpu_;
    monitor watch_;
    kernel<T> k_;
    step_columns<T> columns_;
    step_options options_;
    std::function<step_tree<T>()> look_;
    std::unique_ptr<messages> others_;
    nearfield::detail::gpu_clock clock_;
    // of the last division, even if making its tasks failed
    backend where_ = backend::simd;
    pair_form form_ = pair_form::one_sided;
    list_codelets inner_, border_;
    bool sends_positions_ = true, sends_inputs_ = true;
    bool is_submitted_ = false, is_delivered_ = false, has_halos_to_add_ = false;
    double cpu_seconds_before_ = 0, gpu_seconds_before_ = 0; ///< the tasks were made
    std::unique_ptr<step_parts<T>> parts_;
  };

  extern template class step<float>;
  extern template class step<double>;
}
