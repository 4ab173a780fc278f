#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace nearfield::starpu::detail
{
  /// The points of a moving_tree where a task runs.
  template <class T, int Dim>
  struct points_of_task
  {
    bool has_one_set;
    soa<T const, Dim> targets, sources; ///< the same columns for one set
  };

  /// What a moving_tree shares with its steps and their tasks: the handles of the positions, and the trees of those
  /// that tasks have seen last.
  template <class T, int Dim>
  class moving_points
  {
  public:
    /// Throws nearfield::error for options that build_tree() refuses.
    moving_points(column_handles const& targets, std::optional<column_handles> const& sources,
                  tree_options<Dim> const& options);

    column_handles const x;
    std::optional<column_handles> const y; ///< of two sets
    std::uint64_t round = 1;               ///< of positions; counted by the thread that submits

    /// The tree of the positions of a round in host memory, built by the first call for it.
    std::shared_ptr<tree<Dim> const> on_host(executor& on, std::uint64_t round,
                                             points_of_task<T, Dim> const& points);

    /// The same in the memory of the GPU whose worker calls it. Each worker has a tree, as it has a stream.
    cuda_tree<Dim> const& on_gpu(cuda_stream stream, std::uint64_t round,
                                 points_of_task<T, Dim> const& points);

    /// The directed pairs of a step, as if points were uniform.
    [[nodiscard]] double about_pairs(double n_targets, double n_sources) const;

  private:
    tree_options<Dim> options_;
    std::mutex mutex_;
    std::shared_ptr<tree<Dim> const> host_tree_;
    std::uint64_t host_round_ = 0;
    struct gpu_tree
    {
      std::unique_ptr<cuda_tree<Dim>> tree;
      std::uint64_t round = 0;
    };
    std::vector<gpu_tree> gpu_trees_; ///< by worker
  };
}
