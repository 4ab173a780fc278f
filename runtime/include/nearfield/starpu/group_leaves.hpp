#pragma once

#include <nearfield/runtime/group_leaves.hpp>
#include <nearfield/starpu/runtime.hpp>

namespace nearfield
{
  /// Groups sized for the workers of the runtime: few and large ones if it has GPUs, else those for CPUs. Sets
  /// `gpus` in the options. For steps that run on CPU workers although there are GPUs (an interaction without
  /// CUDA kernels, backend simd or scalar), use group_leaves(tree). Leaves are those of a tree, or the cells of
  /// a cell_list in an open box: a step refuses periodic lists.
  template <has_leaves Leaves>
  [[nodiscard]] leaf_groups<Leaves::dim>
  group_leaves(starpu::runtime const& starpu, Leaves const& leaves, group_options options = {})
  {
    options.gpus = starpu.n_gpus();
    return group_leaves(leaves, options);
  }

  /// Deleted: the groups would outlive the leaves.
  template <has_leaves Leaves>
  leaf_groups<Leaves::dim> group_leaves(starpu::runtime const&, Leaves const&&,
                                        group_options = {}) = delete;
}
