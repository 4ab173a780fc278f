#pragma once

#include "p2p_codelet.hpp"
#include "plan.hpp"
#include "reorder.hpp"

#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/near_field.hpp>

#include <array>
#include <span>
#include <vector>

namespace nearfield::starpu::detail
{
  /// What a near_field is made of.
  template <class T>
  class step
  {
  public:
    step(runtime const& starpu, leaf_groups_view const& groups, kernel<T> const& k,
         step_columns<T> const& columns, near_field_options const& options);

    void submit();
    void deliver();
    void wait();
    void wait_for_inputs();
    void positions_changed();
    void inputs_changed() { inputs_changed_ = true; }

    [[nodiscard]] form_choice form() const { return form_; }
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
               std::vector<T const*> const& columns, std::span<index_type const> order,
               monitor* watch);
      void submit();
    };

    void submit_group(std::size_t g, int priority);
    void deliver_results();

    // StarPU stops after the handles are gone; tasks use everything that stands before the handles
    runtime runtime_;
    monitor monitor_;
    delivery_choice delivery_;
    backend_choice backend_;
    form_choice form_;
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
