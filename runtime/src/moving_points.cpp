#include "moving_points.hpp"

#include <nearfield/core/error.hpp>

#include <starpu.h>

#include <algorithm>
#include <cmath>

namespace nearfield::starpu::detail
{
  template <class T, int Dim>
  moving_points<T, Dim>::moving_points(column_handles const& targets,
                                       std::optional<column_handles> const& sources,
                                       tree_options<Dim> const& options)
      : x(targets), y(sources), options_(options), gpu_trees_(STARPU_NMAXWORKERS)
  {
    if (!options.level && options.max_leaf_size == automatic)
      throw error("near_field: max_leaf_size is automatic, but trees of points that move keep one "
                  "size; give one, such as choose_leaf_size() chooses for the first positions");
    static_cast<void>(build_tree(soa<T const, Dim>(), options)); // throws for wrong options
  }

  template <class T, int Dim>
  std::shared_ptr<tree<Dim> const>
  moving_points<T, Dim>::on_host(executor& on, std::uint64_t wanted,
                                 points_of_task<T, Dim> const& points)
  {
    // steps over one tree may run at once; their workers help the one that builds it only through `on`
    std::lock_guard const lock(mutex_);
    if (host_round_ != wanted)
    {
      host_tree_ = std::make_shared<tree<Dim> const>(
          points.has_one_set ? build_tree(simd.with(on), points.targets, options_)
                             : build_tree(simd.with(on), points.targets, points.sources, options_));
      host_round_ = wanted;
    }
    return host_tree_;
  }

  template <class T, int Dim>
  cuda_tree<Dim> const& moving_points<T, Dim>::on_gpu(cuda_stream stream, std::uint64_t wanted,
                                                      points_of_task<T, Dim> const& points)
  {
    auto& mine = gpu_trees_[static_cast<std::size_t>(starpu_worker_get_id())];
    if (mine.round == wanted) return *mine.tree;
    if (!mine.tree)
    {
      cuda_backend const where{stream};
      mine.tree = std::make_unique<cuda_tree<Dim>>(
          points.has_one_set ? build_tree(where, points.targets, options_)
                             : build_tree(where, points.targets, points.sources, options_));
    }
    else if (points.has_one_set)
      mine.tree->rebuild(points.targets);
    else
      mine.tree->rebuild(points.targets, points.sources);
    mine.round = wanted;
    return *mine.tree;
  }

  template <class T, int Dim>
  double moving_points<T, Dim>::about_pairs(double n_targets, double n_sources) const
  {
    double const boxes_met = std::pow(3, Dim);
    double const per_box = options_.level ? n_sources / std::pow(2, Dim * *options_.level)
                                          : 0.5 * options_.max_leaf_size;
    return n_targets * std::min(n_sources, boxes_met * per_box);
  }

  template class moving_points<float, 2>;
  template class moving_points<float, 3>;
  template class moving_points<double, 2>;
  template class moving_points<double, 3>;
}
