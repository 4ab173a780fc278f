#pragma once

#include <nearfield/runtime/group_leaves.hpp>
#include <nearfield/starpu/runtime.hpp>

namespace nearfield
{
  /// The leaves in groups for what the runtime has: few and large ones for its GPUs, or those for its CPU
  /// workers. `gpus` of the options is set here. Steps that stay on CPU workers beside GPUs (an interaction
  /// without CUDA kernels, backend simd or scalar) take group_leaves(tree).
  template <int Dim>
  [[nodiscard]] leaf_groups<Dim> group_leaves(starpu::runtime const& starpu, tree<Dim> const& tree,
                                              group_options options = {})
  {
    options.gpus = starpu.n_gpus();
    return group_leaves(tree, options);
  }

  /// The groups would outlive the tree.
  template <int Dim>
  leaf_groups<Dim> group_leaves(starpu::runtime const&, tree<Dim>&&, group_options = {}) = delete;
}
