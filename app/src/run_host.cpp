#include "run_host.hpp"

#include "task_step.hpp"
#include "tune.hpp"

#include <nearfield/cuda/device_array.hpp>

#include <iostream>

namespace nearfield::app
{
  namespace
  {
    // f(options) as gpu_alone() says, or with the options as they are: what a single GPU has too little memory for is
    // tried again as StarPU tasks, which need less at once.
    template <class F>
    auto run_where_best(execution_options const& asked, F&& f)
    {
      if (auto const alone = gpu_alone(asked)) try
        {
          return f(*alone);
        }
        catch (error const& failure)
        {
          if (asked.backend != backend::automatic || !starpu_has_cuda() ||
              failure.kind() != error_kind::out_of_memory)
            throw;
          std::cerr << "nearfield: " << failure.what() << "; trying again as StarPU tasks"
                    << std::endl;
          trim_pool(); // StarPU needs what is held unused
        }
      return f(asked);
    }

    // Keeps StarPU running between steps, if these options run steps there; otherwise does nothing.
    std::shared_ptr<void> keep_running(execution_options const& step)
    {
      if (step.workers == 0 || !starpu_is_built_in) return nullptr;
      return std::make_shared<session>(step);
    }
  }

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
