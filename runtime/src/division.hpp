#pragma once

#include "data_of.hpp"
#include "fit_memory.hpp"
#include "task_plan.hpp"

#include <nearfield/p2p/cuda.hpp>
#include <nearfield/starpu/kernel_of.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace nearfield::starpu::detail
{
  /// Of a step over columns.
  template <class T>
  nearfield::detail::point_bytes bytes_of(kernel_shape const& k, step_columns<T> const& columns,
                                          bool has_one_set)
  {
    constexpr double value = bytes_with_room<T>;
    return {.source_x = k.n_x * value,
            .source_q = double(columns.q.columns.size()) * value,
            .target_x = has_one_set ? 0 : k.n_x * value,
            .out = double(columns.out.columns.size()) * value};
  }

  /// What a step is given.
  struct step_shape
  {
    kernel_shape const& k;
    int n_rhs;
    int real_bytes;
    nearfield::detail::point_bytes bytes;
    /// the directed pairs of these leaves that a core (simd) or a GPU (cuda) computes in a second
    std::function<double(backend where, pair_form form)> rate;
  };

  /// The lists of a rank that its GPU has made.
  struct gpu_lists
  {
    std::shared_ptr<void const> memory; ///< what they use
    cuda_list inner, border;
    double inner_pairs, border_pairs;
  };

  /// Where a step runs, in which form, and its tasks.
  struct division
  {
    backend where =
        backend::automatic; ///< cuda: the groups that are for GPUs; others on CPU workers
    pair_form form = pair_form::automatic; ///< decided: not automatic
    double cpu_rate = 0,
           gpu_rate = 0; ///< of a CPU worker, of a GPU; 0 if the rates made no difference
    /// the first GPU, if GPUs bring the caller's columns into the order of the tree, in pieces
    std::optional<int> gpu = std::nullopt;
    bool has_positions_on_gpu = false; ///< of own points
    nearfield::detail::task_plan plan{};
    std::optional<gpu_lists> lists_on_gpu = std::nullopt; ///< instead of those of the plan
  };

  /// Divides a step among the workers of the runtime. With backend automatic, groups that were sized for GPUs by
  /// default are cut again, for GPUs and CPU workers by their rates; and all go to CPU workers if the GPUs have too
  /// little memory. Throws nearfield::error for a form that is not possible, and what check_cuda_backend() and
  /// plan_for_gpus() throw.
  division divide(runtime const& starpu, leaf_groups_view groups, step_shape const& step,
                  step_options const& options);
}
