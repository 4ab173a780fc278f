#include "run_host.hpp"

#include "task_step.hpp"
#include "tune.hpp"

namespace nearfield::app
{
  void run_host::prepare(run_options& options, named_points const& targets,
                         named_points const* sources, cut_options& cut)
  {
    if (!cut.level && cut.max_leaf_size == automatic)
      cut.max_leaf_size =
          tune_leaves(options, targets, sources, cut.box, false).choice.max_leaf_size;
    if (!options.motion) return;
    options.step = place_of_loop(options, targets, cut);
    if (!gpu_alone(options.step)) runtime_ = keep_running(options.step);
  }

  run_result run_host::compute(run_options const& options, named_points const& targets,
                               named_points const* sources, cut_options const& cut) const
  {
    return run_where_best(options.step, [&](execution_options const& step)
                          { return app::compute(options, step, targets, sources, cut); });
  }

  std::unique_ptr<motion> run_host::start(run_options const& options, named_points& of,
                                          cut_options const& cut, std::vector<double> factors) const
  {
    return run_where_best(
        options.step,
        [&](execution_options const& step)
        {
          if (is_on_gpu_alone(step)) return make_gpu_motion(options, step, of, cut, factors);
          auto const near_field = [&options, &of, &cut, step, running = keep_running(step)]
          {
            return app::compute(options, step, of, nullptr, cut);
          };
          return make_host_motion(all_, of, options.motion->dt, factors, near_field);
        });
  }
}
