#pragma once

#include <nearfield/runtime/group_leaves.hpp>
#include <nearfield/starpu/runtime.hpp>

namespace nearfield
{
  /// The leaves in groups for what the runtime has: few and large ones for its GPUs, or those for its CPU
  /// workers. `gpus` of the options is set here. Steps that stay on CPU workers beside GPUs (an interaction
  /// without CUDA kernels, backend simd or scalar) take group_leaves(tree). Leaves are those of a tree, or the cells
  /// of a cell_list in an open box: a step refuses lists with shifts.
  template <has_leaves Leaves>
  [[nodiscard]] leaf_groups<Leaves::dim>
  group_leaves(starpu::runtime const& starpu, Leaves const& leaves, group_options options = {})
  {
    options.gpus = starpu.n_gpus();
    return group_leaves(leaves, options);
  }

  /// The groups would outlive the leaves.
  template <has_leaves Leaves>
  leaf_groups<Leaves::dim> group_leaves(starpu::runtime const&, Leaves const&&,
                                        group_options = {}) = delete;
}
